#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "inference/ops/elementwise/cast.h"
#include "inference/passes/fusions/passes.h"
#include "inference/passes/infer_shapes.h"

namespace het {
namespace {

/// Numbers of ONNX' TensorProto.DataType.
constexpr int64_t kOnnxFloat = 1;
constexpr int64_t kOnnxFloat16 = 10;
constexpr int64_t kOnnxBFloat16 = 16;

bool is_narrow(ElementType type) {
  return type == ElementType::Float16 || type == ElementType::BFloat16;
}

int64_t onnx_number(ElementType type) {
  return type == ElementType::Float16 ? kOnnxFloat16 : kOnnxBFloat16;
}

/// het.Stub, whose attributes name the types of its outputs.
bool is_stub(const Node& node) {
  return node.domain() == "het" && node.op_type() == "Stub";
}

/// Operators that look at a float type itself, or have bodies that do.
bool depends_on_type(const Node& node) {
  const std::string& type = node.op_type();
  for (const auto& [name, attribute] : node.attributes()) {
    if (std::holds_alternative<std::shared_ptr<Model>>(attribute)) return true;
    if ((name == "dtype" || name == "output_dtype") && node.op_type() != "Cast") return true;
  }
  if (is_stub(node)) return false;
  return !node.domain().empty() || type == "CastLike" || type == "BitCast" || node.op() == nullptr;
}

Status widen(Model& model) {
  for (const auto& value : model.values()) {
    if (!is_narrow(value->desc().type) || value->is_input()) continue;
    if (value->is_constant()) {
      HET_ASSIGN(Tensor wide, Tensor::allocate({ElementType::Float32, value->desc().shape}));
      HET_TRY(cast_elements(value->constant(), wide));
      model.make_constant(value.get(), std::move(wide));
    } else {
      model.set_desc(value.get(), {ElementType::Float32, value->desc().shape, Layout::Plain});
    }
  }
  for (const auto& node : model.nodes()) {
    const int64_t to = node->attributes().get_int("to", 0);
    if (node->op_type() == "Cast" && (to == kOnnxFloat16 || to == kOnnxBFloat16)) {
      node->attributes().set("to", kOnnxFloat);
    }
    if (!is_stub(*node)) continue;
    std::vector<std::string> types = node->attributes().get_strings("output_types");
    for (std::string& name : types) {
      const auto type = parse_element_type(name);
      if (type && is_narrow(*type)) name = to_string(ElementType::Float32);
    }
    node->attributes().set("output_types", std::move(types));
  }
  return {};
}

Node* add_cast(Model& model, Value* from, const std::string& name, ElementType type) {
  Attributes attributes;
  attributes.set("to", type == ElementType::Float32 ? kOnnxFloat : onnx_number(type));
  Node* cast = model.add_node(name, "Cast", "", {from}, {name}, std::move(attributes));
  model.set_desc(cast->output(), {type, from->desc().shape, Layout::Plain});
  return cast;
}

Status rewrite(Model& model) {
  std::vector<ElementType> output_types;
  for (const ModelOutput& output : model.outputs())
    output_types.push_back(output.value->desc().type);
  HET_TRY(widen(model));
  for (const ModelInput& input : model.inputs()) {
    if (!is_narrow(input.value->desc().type)) continue;
    const std::vector<Node*> readers = input.value->consumers();
    Node* cast = add_cast(model, input.value, input.value->name() + "/widen", ElementType::Float32);
    for (Node* reader : readers) {
      for (size_t i = 0; i < reader->inputs().size(); ++i) {
        if (reader->input(i) == input.value) model.set_input(reader, i, cast->output());
      }
    }
  }
  for (size_t i = 0; i < model.outputs().size(); ++i) {
    Value* value = model.outputs()[i].value;
    if (!is_narrow(output_types[i]) || value->desc().type == output_types[i]) continue;
    Node* cast = add_cast(model, value, model.outputs()[i].name + "/narrow", output_types[i]);
    model.set_output(i, cast->output());
  }
  HET_TRY(model.sort());
  return infer_shapes(model);
}

}  // namespace

Status compute_in_float32(Model& model) {
  const bool narrow = std::any_of(model.values().begin(), model.values().end(),
                                  [](const auto& v) { return is_narrow(v->desc().type); });
  const bool refused = std::any_of(model.nodes().begin(), model.nodes().end(),
                                   [](const auto& node) { return depends_on_type(*node); });
  if (!narrow || refused) return {};
  // An operator may insist on a narrow type: the model then stays as it is.
  std::unique_ptr<Model> wide = model.clone();
  if (rewrite(*wide).ok()) model = std::move(*wide);
  return {};
}

}  // namespace het
