#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

/// What the node's shapes and attributes say; X seen as [batch, length, heads, head_size].
struct RotaryDims {
  int64_t batch = 0;
  int64_t length = 0;
  int64_t heads = 0;
  int64_t head_size = 0;
  int64_t half = 0;          ///< pairs that are rotated; the rest of the head passes through
  bool heads_first = false;  ///< X is [batch, heads, length, head_size]
};

Result<RotaryDims> rotary_dims(const Attributes& attributes, const Shape& x) {
  RotaryDims dims;
  if (x.size() == 4) {
    dims = {x[0], x[2], x[1], x[3], 0, true};
  } else {
    const int64_t heads = attributes.get_int("num_heads", 0);
    if (x.size() != 3 || heads <= 0 || x[2] % heads != 0) {
      return error(StatusCode::ShapeMismatch,
                   "X has shape {}, but must have rank 4, or rank 3 with num_heads that divide its "
                   "last dimension (here {})",
                   to_string(x), heads);
    }
    dims = {x[0], x[1], heads, x[2] / heads, 0, false};
  }
  int64_t rotated = attributes.get_int("rotary_embedding_dim", 0);
  if (rotated == 0) rotated = dims.head_size;
  if (rotated < 0 || rotated > dims.head_size || rotated % 2 != 0) {
    return error(StatusCode::InvalidArgument,
                 "{} values of a head of {} are to be rotated, but they must be an even number of "
                 "them",
                 rotated, dims.head_size);
  }
  dims.half = rotated / 2;
  return dims;
}

Status infer_rotary_embedding(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"interleaved", AttributeType::Int},
                                                  {"num_heads", AttributeType::Int},
                                                  {"rotary_embedding_dim", AttributeType::Int}}));
  HET_TRY(check_input(context, 0, "X", kFloatTypes));
  HET_TRY(check_input(context, 1, "cos_cache", kFloatTypes));
  HET_TRY(check_input(context, 2, "sin_cache", kFloatTypes));
  HET_TRY(check_optional_input(context, 3, "position_ids", kIndexTypes));
  HET_ASSIGN(const RotaryDims dims, rotary_dims(context.attributes(), context.shape(0)));
  const bool by_position = context.has_input(3);
  const Shape& cache = context.shape(1);
  const Shape expected = by_position && !cache.empty() ? Shape{cache.front(), dims.half}
                                                       : Shape{dims.batch, dims.length, dims.half};
  if (cache != expected || context.shape(2) != expected ||
      (by_position && context.shape(3) != Shape{dims.batch, dims.length})) {
    return error(StatusCode::ShapeMismatch,
                 "cos_cache {} and sin_cache {} {} position_ids do not fit X of shape {} with {} "
                 "pairs to rotate",
                 to_string(cache), to_string(context.shape(2)), by_position ? "with" : "without",
                 to_string(context.shape(0)), dims.half);
  }
  context.set_output(0, context.type(0), context.shape(0));
  return {};
}

/// The pair (a, b) becomes (cos a - sin b, sin a + cos b), in double. Pairs are neighbours, or lie
/// half of the rotated part apart.
Status evaluate_rotary_embedding(EvaluateContext& context) {
  const Tensor& x = context.input(0);
  if (x.element_count() == 0) return {};
  HET_ASSIGN(const RotaryDims dims, rotary_dims(context.attributes(), x.shape()));
  const bool interleaved = context.attributes().get_int("interleaved", 0) != 0;
  HET_ASSIGN(std::vector<double> values, to_double_vector(x));
  HET_ASSIGN(const std::vector<double> cosines, to_double_vector(context.input(1)));
  HET_ASSIGN(const std::vector<double> sines, to_double_vector(context.input(2)));
  std::vector<int64_t> rows(static_cast<size_t>(dims.batch * dims.length));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  if (context.has_input(3)) {
    HET_ASSIGN(rows, to_int64_vector(context.input(3)));
    const int64_t count = context.input(1).shape().front();
    for (const int64_t row : rows) {
      if (row < 0 || row >= count) {
        return error(StatusCode::InvalidArgument, "position {} is not among the cache's {}", row,
                     count);
      }
    }
  }
  for (int64_t b = 0; b < dims.batch; ++b) {
    for (int64_t s = 0; s < dims.length; ++s) {
      const int64_t row = rows[static_cast<size_t>(b * dims.length + s)];
      for (int64_t h = 0; h < dims.heads; ++h) {
        const int64_t vector = dims.heads_first ? (b * dims.heads + h) * dims.length + s
                                                : (b * dims.length + s) * dims.heads + h;
        double* head = values.data() + vector * dims.head_size;
        for (int64_t p = 0; p < dims.half; ++p) {
          double& first = head[interleaved ? 2 * p : p];
          double& second = head[interleaved ? 2 * p + 1 : p + dims.half];
          const double cosine = cosines[static_cast<size_t>(row * dims.half + p)];
          const double sine = sines[static_cast<size_t>(row * dims.half + p)];
          const double a = first;
          first = cosine * a - sine * second;
          second = sine * a + cosine * second;
        }
      }
    }
  }
  return store_doubles(values, context.output(0));
}

}  // namespace

HET_REGISTRATION void register_rotary_embedding(OpRegistry& registry) {
  registry.add(
      {"RotaryEmbedding", "", 23, 3, 4, infer_rotary_embedding, evaluate_rotary_embedding});
}

}  // namespace het
