#include "inference/ops/reductions/reduce.h"
#include "inference/passes/fusions/int8/int8_passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "inference/passes/fusions/stored_value.h"

namespace het {
namespace {

/// Tensor, scale and zero point: the form in which QLinear operators take their operands.
class OperandList {
 public:
  OperandList(Model& model, const Node& node) : model_(model), node_(node) {}

  void add(const StoredValue& value) {
    inputs_.push_back(value.stored);
    add_steps(value);
  }
  void add_steps(const StoredValue& value) {
    inputs_.push_back(model_.add_constant(node_.name() + "/scale", Tensor::scalar(value.scale)));
    Tensor zero = value.type() == ElementType::Int8
                      ? Tensor::scalar(static_cast<int8_t>(value.zero))
                      : Tensor::scalar(static_cast<uint8_t>(value.zero));
    inputs_.push_back(model_.add_constant(node_.name() + "/zero", std::move(zero)));
  }
  std::vector<Value*> take() { return std::move(inputs_); }

 private:
  Model& model_;
  const Node& node_;
  std::vector<Value*> inputs_;
};

/// Storing does what Relu does when the zero point is the lowest number.
bool is_limit(const Node& node, const StoredValue& dst) {
  return node.op_type() == "Relu" && node.domain().empty() &&
         dst.zero == (dst.type() == ElementType::Int8 ? -128 : 0);
}

bool is_quantised_operator(const Node& node) {
  if (!node.domain().empty() || is_detached(node)) return false;
  return ((node.op_type() == "Add" || node.op_type() == "Mul") && node.inputs().size() == 2) ||
         node.op_type() == "GlobalAveragePool";
}

/// One factor for each channel of a picture, or of each picture.
bool is_gate(const Value& value, const Shape& picture) {
  const TensorDesc& desc = value.desc();
  return desc.is_static() && desc.type == ElementType::Float32 && picture.size() == 4 &&
         desc.shape.size() == 4 && (desc.shape[0] == 1 || desc.shape[0] == picture[0]) &&
         desc.shape[1] == picture[1] && desc.shape[2] == 1 && desc.shape[3] == 1;
}

/// Bytes times a gate, stored as bytes: het.GateBytes. True when the product is one.
bool fuse_gate(Model& model, Node& product, Node& quantise, const StoredValue& dst) {
  for (const size_t index : {size_t{0}, size_t{1}}) {
    const Value& picture = *product.input(index);
    Value* gate = product.input(1 - index);
    const std::optional<StoredValue> src = stored_behind(picture);
    if (!src || picture.desc().shape != dst.stored->desc().shape ||
        !is_gate(*gate, picture.desc().shape)) {
      continue;
    }
    Attributes attributes;
    attributes.set("src_scale", src->scale);
    attributes.set("src_zero", int64_t{src->zero});
    attributes.set("dst_scale", dst.scale);
    attributes.set("dst_zero", int64_t{dst.zero});
    replace(model,
            {&product, &quantise, "GateBytes", "het", {src->stored, gate}, std::move(attributes)});
    return true;
  }
  return false;
}

/// ReduceMean over the pixels of a dequantised picture: het.MeanOfBytes.
void fuse_mean(Model& model, Node& mean, const ByteRules& rules) {
  if (mean.op_type() != "ReduceMean" || !mean.domain().empty() || is_detached(mean) ||
      !mean.output()->desc().is_static() || mean.output()->desc().shape.size() != 4 ||
      (mean.input(1) != nullptr && !mean.input(1)->is_constant())) {
    return;
  }
  const std::optional<StoredValue> src = stored_behind(*mean.input(0));
  if (!src) return;
  const Shape& shape = src->stored->desc().shape;
  const auto reduced =
      reduce_attributes(mean, shape, mean.input(1) ? &mean.input(1)->constant() : nullptr);
  if (!reduced || reduced->axes != std::vector<int64_t>{2, 3} || element_count(shape) == 0 ||
      shape[2] * shape[3] > rules.most_mean_pixels) {
    return;
  }
  Attributes attributes;
  attributes.set("src_scale", src->scale);
  attributes.set("src_zero", int64_t{src->zero});
  replace(model, {&mean, &mean, "MeanOfBytes", "het", {src->stored}, std::move(attributes)});
}

/// A Relu that storing does as well.
void drop_relu(Model& model, Node& relu) {
  if (relu.op_type() != "Relu" || is_detached(relu)) return;
  Node* quantise = only_reader(model, *relu.output());
  const std::optional<StoredValue> dst = stored_by(quantise);
  if (!dst || !is_limit(relu, *dst)) return;
  std::vector<Value*> inputs = quantise->inputs();
  inputs[0] = relu.input(0);
  replace(model,
          {&relu, quantise, "QuantizeLinear", "", std::move(inputs), quantise->attributes()});
}

}  // namespace

Status quantise_operators(Model& model, const ByteRules& rules) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (rules.most_mean_pixels > 0) fuse_mean(model, node, rules);
    if (!is_quantised_operator(node)) continue;
    Node* relu = nullptr;
    Node* quantise = only_reader(model, *node.output());
    if (quantise != nullptr && quantise->op_type() == "Relu") {
      relu = quantise;
      quantise = only_reader(model, *relu->output());
    }
    const std::optional<StoredValue> dst = stored_by(quantise);
    if (!dst || (relu != nullptr && !is_limit(*relu, *dst))) continue;
    if (node.op_type() == "Mul") {
      if (rules.gates && fuse_gate(model, node, *quantise, *dst) && relu != nullptr) {
        detach(model, *relu);
      }
      continue;
    }
    OperandList operands(model, node);
    bool is_stored = true;
    for (const Value* input : node.inputs()) {
      const std::optional<StoredValue> src = stored_behind(*input);
      is_stored = is_stored && src && src->type() == dst->type() &&
                  (node.inputs().size() == 1 || src->stored->desc() == dst->stored->desc());
      if (is_stored) operands.add(*src);
    }
    if (!is_stored) continue;
    operands.add_steps(*dst);
    replace(model,
            {&node, quantise, "QLinear" + node.op_type(), "com.microsoft", operands.take(), {}});
    if (relu != nullptr) detach(model, *relu);
  }
  for (size_t k = 0; k < count; ++k) drop_relu(model, *model.nodes()[k]);
  return {};
}

}  // namespace het
