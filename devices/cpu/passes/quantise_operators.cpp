#include "devices/cpu/passes/int8_passes.h"
#include "devices/cpu/passes/rewrite.h"
#include "devices/cpu/passes/stored_value.h"

namespace het::cpu {
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
  return (node.op_type() == "Add" && node.inputs().size() == 2) ||
         node.op_type() == "GlobalAveragePool";
}

}  // namespace

Status quantise_operators(Model& model) {
  const size_t count = model.nodes().size();
  for (size_t k = 0; k < count; ++k) {
    Node& node = *model.nodes()[k];
    if (!is_quantised_operator(node)) continue;
    Node* relu = nullptr;
    Node* quantise = only_reader(model, *node.output());
    if (quantise != nullptr && quantise->op_type() == "Relu") {
      relu = quantise;
      quantise = only_reader(model, *relu->output());
    }
    const std::optional<StoredValue> dst = stored_by(quantise);
    if (!dst || (relu != nullptr && !is_limit(*relu, *dst))) continue;
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
  return {};
}

}  // namespace het::cpu
