#include "inference/passes/fusions/attention_parts.h"

namespace het {
namespace {

void set_operand(Attributes& attributes, const std::string& name, const StridedView& view,
                 const AttentionSteps& steps) {
  attributes.set(name + "_offset", view.offset);
  attributes.set(name + "_strides", view.strides);
  if (steps.scale != 0.0f) attributes.set(name + "_zero", int64_t{steps.zero});
}

float scale_of(const AttentionSteps& steps) {
  return steps.scale != 0.0f ? steps.scale : 1.0f;
}

}  // namespace

std::vector<Value*> attention_inputs(const AttentionParts& parts) {
  std::vector<Value*> inputs = {parts.query.base, parts.key.base, parts.value.base};
  if (parts.mask != nullptr) inputs.push_back(parts.mask);
  return inputs;
}

Attributes attention_attributes(const AttentionParts& parts) {
  Attributes attributes;
  set_operand(attributes, "query", parts.query, parts.query_steps);
  set_operand(attributes, "key", parts.key, parts.key_steps);
  set_operand(attributes, "value", parts.value, parts.value_steps);
  if (parts.mask != nullptr) attributes.set("mask_strides", parts.mask_strides);
  attributes.set("output_strides", parts.output_strides);
  attributes.set("shape", parts.scores);
  attributes.set("depth", parts.query.shape.back());
  attributes.set("columns", parts.value.shape.back());
  attributes.set("factor", parts.factor * parts.query.factor * parts.key.factor *
                               scale_of(parts.query_steps) * scale_of(parts.key_steps));
  attributes.set("value_factor", parts.value.factor * scale_of(parts.value_steps));
  if (parts.weights_steps.scale != 0.0f) {
    attributes.set("weights_scale", parts.weights_steps.scale);
    attributes.set("weights_zero", int64_t{parts.weights_steps.zero});
  }
  attributes.set("zero_without_keys", int64_t{parts.zero_without_keys});
  if (parts.zero_for_nan) attributes.set("zero_for_nan", int64_t{1});
  return attributes;
}

std::optional<Shape> attention_mask_strides(const Value& mask, const Shape& scores) {
  const TensorDesc& desc = mask.desc();
  if (desc.type != ElementType::Float32 || !desc.is_static() || desc.shape.size() > scores.size()) {
    return std::nullopt;
  }
  const Shape dense = row_major_strides(desc.shape);
  Shape strides(scores.size(), 0);
  const size_t lead = scores.size() - desc.shape.size();
  for (size_t d = 0; d < desc.shape.size(); ++d) {
    if (desc.shape[d] == 1) continue;
    if (desc.shape[d] != scores[lead + d]) return std::nullopt;
    strides[lead + d] = dense[d];
  }
  return strides;
}

}  // namespace het
