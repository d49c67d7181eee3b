#include "inference/ops/products/attention_loops.h"

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "inference/base/registration.h"
#include "inference/ops/broadcast.h"
#include "inference/ops/double_values.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

enum : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kValidLengths };

/// Sizes of a node, whatever form its inputs have.
struct AttentionDims {
  bool packed = false;  ///< inputs and Y are [batch, length, heads * size]
  int64_t batch = 0;
  int64_t q_heads = 0;
  int64_t kv_heads = 0;
  int64_t q_length = 0;
  int64_t new_length = 0;   ///< of K and V
  int64_t past_length = 0;  ///< of past_key
  int64_t head_size = 0;
  int64_t v_head_size = 0;

  int64_t total_length() const { return past_length + new_length; }
};

/// One of Q, K, V as [batch, heads, length, size]; fails when a packed one does not divide.
Result<Shape> unpacked(const Shape& shape, int64_t heads, std::string_view name) {
  if (shape.size() == 4) {
    if (heads != 0 && heads != shape[1]) {
      return error(StatusCode::InvalidArgument, "{} of shape {} does not have {} heads", name,
                   to_string(shape), heads);
    }
    return shape;
  }
  if (shape.size() != 3 || heads <= 0 || shape[2] % heads != 0) {
    return error(StatusCode::ShapeMismatch,
                 "{} has shape {}, but must have rank 4, or rank 3 with q_num_heads and "
                 "kv_num_heads that divide its last dimension (here {})",
                 name, to_string(shape), heads);
  }
  return Shape{shape[0], heads, shape[1], shape[2] / heads};
}

/// `shapes` of Q, K, V and past_key (null: none).
Result<AttentionDims> attention_dims(const Attributes& attributes, const Shape& q_shape,
                                     const Shape& k_shape, const Shape& v_shape,
                                     const Shape* past_key) {
  const int64_t kv_heads = attributes.get_int("kv_num_heads", 0);
  HET_ASSIGN(const Shape q, unpacked(q_shape, attributes.get_int("q_num_heads", 0), "Q"));
  HET_ASSIGN(const Shape k, unpacked(k_shape, kv_heads, "K"));
  HET_ASSIGN(const Shape v, unpacked(v_shape, kv_heads, "V"));
  const bool agree = q_shape.size() == k_shape.size() && q_shape.size() == v_shape.size() &&
                     q[0] == k[0] && q[0] == v[0] && q[3] == k[3] && k[1] == v[1] && k[2] == v[2] &&
                     (k[1] == 0 ? q[1] == 0 : q[1] % k[1] == 0);
  if (!agree) {
    return error(StatusCode::ShapeMismatch,
                 "Q {}, K {} and V {} do not fit: batch, head size and key length must agree, and "
                 "the query's heads must be a multiple of the others'",
                 to_string(q_shape), to_string(k_shape), to_string(v_shape));
  }
  AttentionDims dims{q_shape.size() == 3, q[0], q[1], k[1], q[2], k[2], 0, q[3], v[3]};
  if (past_key == nullptr) return dims;
  if (past_key->size() != 4 || (*past_key)[0] != k[0] || (*past_key)[1] != k[1] ||
      (*past_key)[3] != k[3] || (*past_key)[2] > INT32_MAX || k[2] > INT32_MAX) {
    return error(StatusCode::ShapeMismatch, "past_key of shape {} does not fit K of shape {}",
                 to_string(*past_key), to_string(k_shape));
  }
  dims.past_length = (*past_key)[2];
  return dims;
}

/// The mask must broadcast to the scores; its last dimension may be shorter.
Status check_mask(const Shape& mask, const AttentionDims& dims) {
  Shape widened = mask;
  const int64_t total = dims.total_length();
  if (!widened.empty() && widened.back() <= total) widened.back() = total;
  const Shape scores{dims.batch, dims.q_heads, dims.q_length, total};
  const auto joined = broadcast(widened, scores);
  if (!mask.empty() && joined && *joined == scores) return {};
  return error(StatusCode::ShapeMismatch, "attn_mask of shape {} does not broadcast to scores {}",
               to_string(mask), to_string(scores));
}

Status check_attention_attributes(const Attributes& attributes) {
  HET_TRY(check_attributes(attributes, {{"is_causal", AttributeType::Int},
                                        {"kv_num_heads", AttributeType::Int},
                                        {"left_window_size", AttributeType::Int},
                                        {"q_num_heads", AttributeType::Int},
                                        {"qk_matmul_output_mode", AttributeType::Int},
                                        {"right_window_size", AttributeType::Int},
                                        {"scale", AttributeType::Float},
                                        {"softcap", AttributeType::Float},
                                        {"softmax_precision", AttributeType::Int}}));
  const int64_t mode = attributes.get_int("qk_matmul_output_mode", 0);
  if (mode < 0 || mode > 3) {
    return error(StatusCode::InvalidArgument, "qk_matmul_output_mode is {}, but must be 0 to 3",
                 mode);
  }
  for (const char* name : {"left_window_size", "right_window_size"}) {
    if (const int64_t size = attributes.get_int(name, -1); size < -1 || size > INT32_MAX) {
      return error(StatusCode::InvalidArgument, "{} is {}, but must be -1 or a count", name, size);
    }
  }
  if (attributes.has("softmax_precision")) {
    HET_ASSIGN(const ElementType type,
               element_type_from_onnx(attributes.get_int("softmax_precision", 0)));
    if (!is_float(type)) {
      return error(StatusCode::InvalidArgument, "softmax_precision is {}, but must be a float type",
                   to_string(type));
    }
  }
  return {};
}

Status check_optional_inputs(const InferContext& context, const AttentionDims& dims) {
  HET_TRY(check_optional_input(context, kMask, "attn_mask", kNumbersAndBool));
  HET_TRY(check_optional_input(context, kPastValue, "past_value", kFloatTypes));
  if (context.has_input(kMask)) HET_TRY(check_mask(context.shape(kMask), dims));
  if (context.has_input(kPastKey) != context.has_input(kPastValue)) {
    return error(StatusCode::ParseError, "past_key and past_value must be given together");
  }
  if (context.has_input(kPastKey)) {
    HET_TRY(check_same_type(context, kK, kPastKey));
    HET_TRY(check_same_type(context, kV, kPastValue));
    const Shape expected{dims.batch, dims.kv_heads, dims.past_length, dims.v_head_size};
    if (context.shape(kPastValue) != expected) {
      return error(StatusCode::ShapeMismatch, "past_value has shape {}, but must have {}",
                   to_string(context.shape(kPastValue)), to_string(expected));
    }
  }
  if (!context.has_input(kValidLengths)) return {};
  HET_TRY(check_input(context, kValidLengths, "nonpad_kv_seqlen", kIndexTypes));
  if (context.has_input(kPastKey) || context.shape(kValidLengths) != Shape{dims.batch}) {
    return error(StatusCode::ShapeMismatch,
                 "nonpad_kv_seqlen has shape {}; it must have one value for each of {} batches and "
                 "excludes past_key",
                 to_string(context.shape(kValidLengths)), dims.batch);
  }
  return {};
}

Status infer_attention(InferContext& context) {
  HET_TRY(check_attention_attributes(context.attributes()));
  HET_TRY(check_input(context, kQ, "Q", kFloatTypes));
  HET_TRY(check_input(context, kV, "V", kFloatTypes));
  HET_TRY(check_same_type(context, kQ, kK));
  const Shape* past = context.has_input(kPastKey) ? &context.shape(kPastKey) : nullptr;
  HET_ASSIGN(const AttentionDims dims, attention_dims(context.attributes(), context.shape(kQ),
                                                      context.shape(kK), context.shape(kV), past));
  HET_TRY(check_optional_inputs(context, dims));
  const Shape split{dims.batch, dims.q_heads, dims.q_length, dims.v_head_size};
  HET_TRY(checked_element_count(split));
  // Holds for an empty batch too, whose split form has no elements.
  HET_TRY(checked_element_count({dims.q_heads, dims.v_head_size}));
  const Shape packed{dims.batch, dims.q_length, dims.q_heads * dims.v_head_size};
  const int64_t total = dims.total_length();
  context.set_output(0, context.type(kQ), dims.packed ? packed : split);
  context.set_output(1, context.type(kK), {dims.batch, dims.kv_heads, total, dims.head_size});
  context.set_output(2, context.type(kV), {dims.batch, dims.kv_heads, total, dims.v_head_size});
  context.set_output(3, context.type(kQ), {dims.batch, dims.q_heads, dims.q_length, total});
  return {};
}

/// The past and then the new keys or values as [batch, heads, total length, size].
Result<Tensor> with_past(const AttentionDims& dims, const Tensor* past, const Tensor& added,
                         int64_t size) {
  const int64_t total = dims.total_length();
  HET_ASSIGN(Tensor joined,
             Tensor::allocate({added.type(), {dims.batch, dims.kv_heads, total, size}}));
  const size_t row = static_cast<size_t>(size) * byte_width(added.type());
  if (row == 0) return joined;
  std::byte* dst = joined.bytes();
  for (int64_t b = 0; b < dims.batch; ++b) {
    for (int64_t h = 0; h < dims.kv_heads; ++h) {
      for (int64_t s = 0; s < total; ++s, dst += row) {
        const int64_t fresh = s - dims.past_length;
        const int64_t from = fresh < 0     ? (b * dims.kv_heads + h) * dims.past_length + s
                             : dims.packed ? (b * dims.new_length + fresh) * dims.kv_heads + h
                                           : (b * dims.kv_heads + h) * dims.new_length + fresh;
        std::memcpy(dst, (fresh < 0 ? past : &added)->bytes() + static_cast<size_t>(from) * row,
                    row);
      }
    }
  }
  return joined;
}

/// Everything that decides what is added to a score.
struct ScoreBias {
  bool causal = false;
  int64_t left = -1;
  int64_t right = -1;
  std::vector<int64_t> offsets;  ///< per batch: keys before the first query
  std::vector<int64_t> valid;    ///< per batch: keys that count
  std::vector<double> mask;
  std::array<int64_t, 3> mask_steps{};
  int64_t mask_length = -1;  ///< -1: no mask

  double operator()(int64_t b, int64_t h, int64_t i, int64_t j) const {
    constexpr double kForbidden = -std::numeric_limits<double>::infinity();
    const int64_t position = i + offsets[static_cast<size_t>(b)];
    if (j >= valid[static_cast<size_t>(b)] || (causal && j > position) ||
        (left >= 0 && j < position - left) || (right >= 0 && j > position + right)) {
      return kForbidden;
    }
    if (mask_length < 0) return 0;
    // An allowed key without a mask value is one that the mask is too short for.
    if (j >= mask_length) return kForbidden;
    const int64_t row = b * mask_steps[0] + h * mask_steps[1] + i * mask_steps[2];
    return mask[static_cast<size_t>(row + j)];
  }
};

Status read_mask(const Tensor& mask, ScoreBias& bias) {
  HET_ASSIGN(bias.mask, to_double_vector(mask));
  if (mask.type() == ElementType::Bool) {
    for (double& value : bias.mask) {
      value = value != 0 ? 0 : -std::numeric_limits<double>::infinity();
    }
  }
  const Shape& shape = mask.shape();
  bias.mask_length = shape.back();
  int64_t step = shape.back();
  for (size_t d = 1; d < shape.size(); ++d) {
    const int64_t dim = shape[shape.size() - 1 - d];
    bias.mask_steps[3 - d] = dim == 1 ? 0 : step;
    step *= dim;
  }
  return {};
}

Result<ScoreBias> score_bias(const EvaluateContext& context, const AttentionDims& dims) {
  ScoreBias bias;
  const Attributes& attributes = context.attributes();
  bias.causal = attributes.get_int("is_causal", 0) != 0;
  bias.left = attributes.get_int("left_window_size", -1);
  bias.right = attributes.get_int("right_window_size", -1);
  bias.offsets.assign(static_cast<size_t>(dims.batch), dims.past_length);
  bias.valid.assign(static_cast<size_t>(dims.batch), dims.total_length());
  if (context.has_input(kValidLengths)) {
    HET_ASSIGN(bias.valid, to_int64_vector(context.input(kValidLengths)));
    for (size_t b = 0; b < bias.valid.size(); ++b) {
      if (bias.valid[b] < 0 || bias.valid[b] > dims.total_length()) {
        return error(StatusCode::InvalidArgument, "nonpad_kv_seqlen[{}] is {}, not in 0 to {}", b,
                     bias.valid[b], dims.total_length());
      }
      bias.offsets[b] = bias.valid[b] - dims.q_length;
    }
  }
  if (context.has_input(kMask)) HET_TRY(read_mask(context.input(kMask), bias));
  return bias;
}

Status evaluate_attention(EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  const Tensor* past_key = context.has_input(kPastKey) ? &context.input(kPastKey) : nullptr;
  const Tensor* past_value = past_key != nullptr ? &context.input(kPastValue) : nullptr;
  HET_ASSIGN(const AttentionDims dims,
             attention_dims(attributes, context.input(kQ).shape(), context.input(kK).shape(),
                            context.input(kV).shape(), past_key ? &past_key->shape() : nullptr));
  HET_ASSIGN(const Tensor key, with_past(dims, past_key, context.input(kK), dims.head_size));
  HET_ASSIGN(const Tensor value, with_past(dims, past_value, context.input(kV), dims.v_head_size));
  if (context.has_output(1)) HET_TRY(copy_tensor(key, context.output(1)));
  if (context.has_output(2)) HET_TRY(copy_tensor(value, context.output(2)));
  const int64_t total = dims.total_length();
  AttentionTask task{dims.batch, dims.q_heads,   dims.kv_heads,   dims.q_length,
                     total,      dims.head_size, dims.v_head_size};
  const auto rows = [&](std::vector<double> values, int64_t size) {
    return dims.packed ? HeadRows::packed(std::move(values), dims.q_heads, dims.q_length, size)
                       : HeadRows::split(std::move(values), dims.q_heads, dims.q_length, size);
  };
  HET_ASSIGN(std::vector<double> q, to_double_vector(context.input(kQ)));
  HET_ASSIGN(std::vector<double> k, to_double_vector(key));
  HET_ASSIGN(std::vector<double> v, to_double_vector(value));
  task.q = rows(std::move(q), dims.head_size);
  task.k = HeadRows::split(std::move(k), dims.kv_heads, total, dims.head_size);
  task.v = HeadRows::split(std::move(v), dims.kv_heads, total, dims.v_head_size);
  task.scale = attributes.has("scale") ? static_cast<double>(attributes.get_float("scale", 0))
                                       : 1 / std::sqrt(static_cast<double>(dims.head_size));
  task.softcap = static_cast<double>(attributes.get_float("softcap", 0));
  HET_ASSIGN(task.bias, score_bias(context, dims));
  std::vector<double> scores;
  if (context.has_output(3)) {
    scores.resize(static_cast<size_t>(context.output(3).element_count()));
    task.stage = static_cast<ScoreStage>(attributes.get_int("qk_matmul_output_mode", 0));
    task.scores = &scores;
  }
  Tensor& dst = context.output(0);
  HeadRows y =
      rows(std::vector<double>(static_cast<size_t>(dst.element_count())), dims.v_head_size);
  attend(task, y);
  HET_TRY(store_doubles(y.values, dst));
  return context.has_output(3) ? store_doubles(scores, context.output(3)) : Status();
}

}  // namespace

HET_REGISTRATION void register_attention(OpRegistry& registry) {
  registry.add({"Attention", "", 25, 3, 7, infer_attention, evaluate_attention});
}

}  // namespace het
