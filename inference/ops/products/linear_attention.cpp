#include <cmath>
#include <string>

#include "inference/base/registration.h"
#include "inference/ops/double_values.h"
#include "inference/ops/op_checks.h"

namespace het {
namespace {

enum : size_t { kQuery, kKey, kValue, kPastState, kDecay, kBeta };

struct LinearAttentionDims {
  int64_t batch = 0;
  int64_t length = 0;
  int64_t q_heads = 0;
  int64_t kv_heads = 0;
  int64_t head_size = 0;
  int64_t v_head_size = 0;
};

Result<LinearAttentionDims> linear_attention_dims(const Attributes& attributes, const Shape& q,
                                                  const Shape& k, const Shape& v) {
  const int64_t q_heads = attributes.get_int("q_num_heads", 0);
  const int64_t kv_heads = attributes.get_int("kv_num_heads", 0);
  if (q_heads <= 0 || kv_heads <= 0 || q_heads % kv_heads != 0) {
    return error(StatusCode::InvalidArgument,
                 "q_num_heads {} must be a positive multiple of kv_num_heads {}", q_heads,
                 kv_heads);
  }
  const bool fits = q.size() == 3 && k.size() == 3 && v.size() == 3 && q[0] == k[0] &&
                    q[0] == v[0] && q[1] == k[1] && q[1] == v[1] && q[2] % q_heads == 0 &&
                    k[2] % kv_heads == 0 && v[2] % kv_heads == 0 &&
                    q[2] / q_heads == k[2] / kv_heads;
  if (!fits) {
    return error(StatusCode::ShapeMismatch,
                 "query {}, key {} and value {} must be [batch, length, heads * size] with {} "
                 "heads in the query, {} in the others",
                 to_string(q), to_string(k), to_string(v), q_heads, kv_heads);
  }
  return LinearAttentionDims{q[0], q[1], q_heads, kv_heads, q[2] / q_heads, v[2] / kv_heads};
}

/// The parts of the update rule: S is multiplied by exp(decay); what S holds for the key already is
/// taken off the value, which is then multiplied by beta.
struct UpdateRule {
  bool decays = false;
  bool corrects = false;
};

Result<UpdateRule> update_rule(const Attributes& attributes) {
  const std::string name = attributes.get_string("update_rule", "gated_delta");
  if (name == "linear") return UpdateRule{};
  if (name == "gated") return UpdateRule{true, false};
  if (name == "delta") return UpdateRule{false, true};
  if (name == "gated_delta") return UpdateRule{true, true};
  return error(StatusCode::InvalidArgument,
               "update_rule is '{}', but must be linear, gated, delta or gated_delta", name);
}

/// An input that the update rule needs or forbids: [batch, length, one of two widths].
Status check_gate(const InferContext& context, size_t index, std::string_view name, bool needed,
                  int64_t width, int64_t other_width) {
  if (context.has_input(index) != needed) {
    return error(StatusCode::ParseError, "input {} '{}' is {} by the update rule", index, name,
                 needed ? "needed" : "forbidden");
  }
  if (!needed) return {};
  HET_TRY(check_input(context, index, name, kFloatTypes));
  const Shape& shape = context.shape(index);
  const Shape& query = context.shape(kQuery);
  if (shape.size() == 3 && shape[0] == query[0] && shape[1] == query[1] &&
      (shape[2] == width || shape[2] == other_width)) {
    return {};
  }
  return error(StatusCode::ShapeMismatch, "{} has shape {}, but must be [{},{},{} or {}]", name,
               to_string(shape), query[0], query[1], width, other_width);
}

Status infer_linear_attention(InferContext& context) {
  HET_TRY(check_attributes(context.attributes(), {{"chunk_size", AttributeType::Int},
                                                  {"kv_num_heads", AttributeType::Int, true},
                                                  {"q_num_heads", AttributeType::Int, true},
                                                  {"scale", AttributeType::Float},
                                                  {"update_rule", AttributeType::String}}));
  for (const size_t index : {kQuery, kKey, kValue}) {
    HET_TRY(check_input(context, index, "query, key or value", kFloatTypes));
  }
  HET_ASSIGN(const LinearAttentionDims dims,
             linear_attention_dims(context.attributes(), context.shape(kQuery), context.shape(kKey),
                                   context.shape(kValue)));
  HET_ASSIGN(const UpdateRule rule, update_rule(context.attributes()));
  HET_TRY(check_gate(context, kDecay, "decay", rule.decays, dims.kv_heads,
                     dims.kv_heads * dims.head_size));
  HET_TRY(check_gate(context, kBeta, "beta", rule.corrects, dims.kv_heads, 1));
  // Holds for an empty batch too.
  HET_TRY(checked_element_count({dims.q_heads, dims.head_size, dims.v_head_size}));
  Shape state{dims.batch, dims.kv_heads, dims.head_size, dims.v_head_size};
  HET_TRY(checked_element_count(state));
  HET_TRY(check_optional_input(context, kPastState, "past_state", kFloatTypes));
  const bool has_state = context.has_input(kPastState);
  if (has_state && context.shape(kPastState) != state) {
    return error(StatusCode::ShapeMismatch, "past_state has shape {}, but must have {}",
                 to_string(context.shape(kPastState)), to_string(state));
  }
  const Shape output{dims.batch, dims.length, dims.q_heads * dims.v_head_size};
  HET_TRY(checked_element_count(output));
  context.set_output(0, context.type(kQuery), output);
  context.set_output(1, context.type(has_state ? kPastState : kQuery), std::move(state));
  return {};
}

/// One step of one head's state S [head_size, v_head_size], in double.
struct StateStep {
  const double* key;
  const double* value;
  const double* decay;  ///< null: none
  int64_t decay_step;   ///< 0: one decay for the head
  const double* beta;   ///< null: no correction
};

void advance_state(const LinearAttentionDims& dims, const StateStep& step, double* state) {
  const int64_t size = dims.v_head_size;
  if (step.decay != nullptr) {
    for (int64_t d = 0; d < dims.head_size; ++d) {
      const double factor = std::exp(step.decay[d * step.decay_step]);
      for (int64_t m = 0; m < size; ++m) state[d * size + m] *= factor;
    }
  }
  for (int64_t m = 0; m < size; ++m) {
    double value = step.value[m];
    if (step.beta != nullptr) {
      for (int64_t d = 0; d < dims.head_size; ++d) value -= state[d * size + m] * step.key[d];
      value *= *step.beta;
    }
    for (int64_t d = 0; d < dims.head_size; ++d) state[d * size + m] += step.key[d] * value;
  }
}

/// The recurrence token by token, as ONNX' text defines it.
Status evaluate_linear_attention(EvaluateContext& context) {
  const Attributes& attributes = context.attributes();
  HET_ASSIGN(const LinearAttentionDims dims,
             linear_attention_dims(attributes, context.input(kQuery).shape(),
                                   context.input(kKey).shape(), context.input(kValue).shape()));
  HET_ASSIGN(const std::vector<double> query, to_double_vector(context.input(kQuery)));
  HET_ASSIGN(const std::vector<double> key, to_double_vector(context.input(kKey)));
  HET_ASSIGN(const std::vector<double> value, to_double_vector(context.input(kValue)));
  std::vector<double> decay;
  std::vector<double> beta;
  if (context.has_input(kDecay)) {
    HET_ASSIGN(decay, to_double_vector(context.input(kDecay)));
  }
  if (context.has_input(kBeta)) {
    HET_ASSIGN(beta, to_double_vector(context.input(kBeta)));
  }
  const int64_t state_size = dims.head_size * dims.v_head_size;
  std::vector<double> states(static_cast<size_t>(dims.batch * dims.kv_heads * state_size));
  if (context.has_input(kPastState)) {
    HET_ASSIGN(states, to_double_vector(context.input(kPastState)));
  }
  double scale = static_cast<double>(attributes.get_float("scale", 0));
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(dims.head_size));
  const int64_t decay_width = decay.empty() ? 0 : context.input(kDecay).shape()[2];
  const int64_t beta_width = beta.empty() ? 0 : context.input(kBeta).shape()[2];
  const int64_t per_head = decay_width / dims.kv_heads;
  const int64_t group = dims.q_heads / dims.kv_heads;
  std::vector<double> output(static_cast<size_t>(context.output(0).element_count()));
  for (int64_t b = 0; b < dims.batch; ++b) {
    for (int64_t t = 0; t < dims.length; ++t) {
      const int64_t token = b * dims.length + t;
      for (int64_t h = 0; h < dims.kv_heads; ++h) {
        const int64_t row = token * dims.kv_heads + h;
        const StateStep step{
            key.data() + row * dims.head_size, value.data() + row * dims.v_head_size,
            decay.empty() ? nullptr : decay.data() + token * decay_width + h * per_head,
            decay_width == dims.kv_heads ? 0 : 1,
            beta.empty() ? nullptr : beta.data() + token * beta_width + (beta_width == 1 ? 0 : h)};
        double* state = states.data() + (b * dims.kv_heads + h) * state_size;
        advance_state(dims, step, state);
        for (int64_t g = h * group; g < (h + 1) * group; ++g) {
          const double* q = query.data() + (token * dims.q_heads + g) * dims.head_size;
          double* dst = output.data() + (token * dims.q_heads + g) * dims.v_head_size;
          for (int64_t i = 0; i < state_size; ++i) {
            dst[i % dims.v_head_size] += scale * q[i / dims.v_head_size] * state[i];
          }
        }
      }
    }
  }
  HET_TRY(store_doubles(output, context.output(0)));
  return context.has_output(1) ? store_doubles(states, context.output(1)) : Status();
}

}  // namespace

HET_REGISTRATION void register_linear_attention(OpRegistry& registry) {
  registry.add(
      {"LinearAttention", "", 27, 3, 6, infer_linear_attention, evaluate_linear_attention});
}

}  // namespace het
