#include "inference/passes/fusions/int8/lowered_qlinear.h"

#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/rewrite.h"

namespace het {
namespace {

Value* one(Model& model, const Node& node) {
  return model.add_constant(node.name() + "/one", Tensor::scalar(1.0f));
}

void store(Model& model, Node& node, Value* value, Value* scale, Value* zero) {
  Value* old = node.output();
  if (zero == nullptr) {
    // Without one the result would be UInt8.
    Tensor none = *Tensor::allocate({old->desc().type, {}});
    std::fill_n(none.bytes(), none.size_bytes(), std::byte{0});
    zero = model.add_constant(node.name() + "/zero", std::move(none));
  }
  Value* quantised =
      add_value(model, node, "/quantised", "QuantizeLinear", {value, scale, zero}, old->desc());
  model.replace_uses(old, quantised);
  detach(model, node);
}

}  // namespace

Value* add_value(Model& model, const Node& like, const std::string& suffix, const std::string& type,
                 std::vector<Value*> inputs, TensorDesc desc, Attributes attributes) {
  Node* made = model.add_node(like.name() + suffix, type, "", std::move(inputs),
                              {like.output()->name() + suffix}, std::move(attributes));
  made->add_original_names(like.original_names());
  model.set_desc(made->output(), std::move(desc));
  return made->output();
}

TensorDesc as_float(const Value& value) {
  return {ElementType::Float32, value.desc().shape, Layout::Plain};
}

Value* dequantised(Model& model, const Node& node, size_t index, const std::string& suffix) {
  Value* value = node.input(index);
  return add_value(model, node, suffix, "DequantizeLinear",
                   {value, node.input(index + 1), node.input(index + 2)}, as_float(*value));
}

Value* centred(Model& model, const Node& node, size_t index) {
  Value* value = node.input(index);
  return add_value(model, node, "/centred", "DequantizeLinear",
                   {value, one(model, node), node.input(index + 2)}, as_float(*value));
}

Value* rescaled(Model& model, const Node& node, Value* sums, Tensor factors) {
  ElementwiseProgram program;
  std::vector<Value*> operands = {sums};
  if (factors.element_count() == 1) {
    program.instructions = {{ElementwiseKind::Linear, 0, 0, factors.data<float>()[0], 0.0f}};
  } else {
    operands.push_back(model.add_constant(node.name() + "/rescaling", std::move(factors)));
    program.instructions = {{ElementwiseKind::Mul, 0, 1}};
  }
  program.operands = operands.size();
  Node* made = model.add_node(node.name() + "/rescaled", "Elementwise", "het", operands,
                              {node.output()->name() + "/rescaled"}, to_attributes(program));
  made->add_original_names(node.original_names());
  model.set_desc(made->output(), sums->desc());
  return made->output();
}

void store_steps(Model& model, Node& node, Value* steps, size_t dst_scale) {
  store(model, node, steps, one(model, node), node.input(dst_scale + 1));
}

void store_real(Model& model, Node& node, Value* real, size_t dst_scale) {
  store(model, node, real, node.input(dst_scale), node.input(dst_scale + 1));
}

}  // namespace het
