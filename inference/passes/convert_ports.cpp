#include "inference/passes/convert_ports.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "inference/ops/onnx_type.h"
#include "inference/passes/insert_node.h"

namespace het {
namespace {

Attributes cast_to(ElementType type) {
  Attributes attributes;
  attributes.set("to", onnx_type_code(type));
  return attributes;
}

/// Every letter once; anything else is no layout.
Status check_letters(std::string_view layout, const Value& value) {
  const size_t rank = value.desc().shape.size();
  bool valid = layout.size() == rank;
  for (size_t i = 0; i < layout.size(); ++i) {
    const bool is_letter = layout[i] >= 'A' && layout[i] <= 'Z';
    valid = valid && is_letter && layout.find(layout[i]) == i;
  }
  if (valid) return {};
  return error(StatusCode::InvalidArgument,
               "'{}' is no layout of input '{}' {}: write {} different capital letters, e.g. NCHW",
               layout, value.name(), to_string(value.desc()), rank);
}

Layout known_layout(std::string_view layout) {
  if (layout == "NCHW") return Layout::NCHW;
  return layout == "NHWC" ? Layout::NHWC : Layout::Plain;
}

Value* find_output_value(const Model& model, const std::string& name) {
  for (const ModelOutput& output : model.outputs()) {
    if (output.name == name) return output.value;
  }
  if (Value* value = model.find_value(name)) return value;
  if (const Node* node = model.find_node(name); node != nullptr && node->outputs().size() == 1) {
    return node->output();
  }
  const size_t colon = name.rfind(':');
  if (colon == std::string::npos) return nullptr;
  const Node* node = model.find_node(name.substr(0, colon));
  size_t port = 0;
  const char* end = name.data() + name.size();
  const auto [parsed, code] = std::from_chars(name.data() + colon + 1, end, port);
  const bool is_number = code == std::errc() && parsed == end;
  return node != nullptr && is_number ? node->output(port) : nullptr;
}

}  // namespace

Status set_input_type(Model& model, size_t input_index, ElementType type) {
  Value* value = model.inputs()[input_index].value;
  TensorDesc desc = value->desc();
  if (desc.type == type) return {};
  insert_behind(model, value, value->name() + "/Cast", "Cast", {}, cast_to(desc.type));
  desc.type = type;
  model.set_desc(value, std::move(desc));
  return {};
}

Status set_output_type(Model& model, size_t output_index, ElementType type) {
  const ModelOutput output = model.outputs()[output_index];
  if (output.value->desc().type == type) return {};
  TensorDesc declared = output.declared;
  if (declared.type != ElementType::Undefined) declared.type = type;
  const std::string name = output.name + "/Cast";
  Node* node = model.add_node(name, "Cast", "", {output.value}, {name}, cast_to(type));
  model.set_output(output_index, node->output());
  model.declare_output(output_index, std::move(declared));
  return {};
}

Status append_constant_channel(Model& model, size_t input_index, size_t axis, float value) {
  Value* input = model.inputs()[input_index].value;
  TensorDesc desc = input->desc();
  if (axis >= desc.shape.size() || !is_static(desc.shape) || desc.shape[axis] < 2 ||
      desc.type != ElementType::Float32)
    return error(StatusCode::ShapeMismatch,
                 "input '{}' {} has no last channel that could be constant: it has to be float32 "
                 "with known dimensions and two channels or more",
                 input->name(), to_string(desc));
  Shape plane = desc.shape;
  plane[axis] = 1;
  const auto count = static_cast<size_t>(element_count(plane));
  Value* constant = model.add_constant(
      input->name() + "/Channel", Tensor::from<float>(plane, std::vector<float>(count, value)));
  Attributes attributes;
  attributes.set("axis", static_cast<int64_t>(axis));
  insert_behind(model, input, input->name() + "/Concat", "Concat", {constant},
                std::move(attributes));
  --desc.shape[axis];
  model.set_desc(input, std::move(desc));
  return {};
}

Status set_input_layout(Model& model, size_t input_index, std::string_view layout) {
  Value* value = model.inputs()[input_index].value;
  const size_t arrow = layout.find("->");
  const std::string_view from = layout.substr(0, arrow);
  HET_TRY(check_letters(from, *value));
  TensorDesc desc = value->desc();
  desc.layout = known_layout(from);
  if (arrow == std::string_view::npos) {
    model.set_desc(value, std::move(desc));
    return {};
  }
  const std::string_view to = layout.substr(arrow + 2);
  HET_TRY(check_letters(to, *value));
  std::vector<int64_t> perm;  // dimension i of the model is dimension perm[i] of the input
  for (const char letter : from) {
    const size_t at = to.find(letter);
    if (at == std::string_view::npos) {
      return error(StatusCode::InvalidArgument, "layout '{}' has not the letters of '{}'", to,
                   from);
    }
    perm.push_back(static_cast<int64_t>(at));
  }
  const std::vector<std::string> old_names = model.inputs()[input_index].dim_names;
  std::vector<std::string> names(old_names.empty() ? 0 : perm.size());
  const Shape old_shape = desc.shape;
  for (size_t i = 0; i < perm.size(); ++i) {
    const auto at = static_cast<size_t>(perm[i]);
    desc.shape[at] = old_shape[i];
    if (i < old_names.size()) names[at] = old_names[i];
  }
  desc.layout = known_layout(to);
  if (std::optional<PreprocessDesc> preprocess = model.inputs()[input_index].preprocess) {
    if (desc.layout != Layout::Plain) preprocess->tensor_layout = desc.layout;
    model.set_preprocess(input_index, preprocess);
  }
  if (!std::ranges::is_sorted(perm)) {
    Attributes attributes;
    attributes.set("perm", perm);
    insert_behind(model, value, value->name() + "/Transpose", "Transpose", {}, attributes);
  }
  model.set_dim_names(input_index, std::move(names));
  model.set_desc(value, std::move(desc));
  return {};
}

Status select_outputs(Model& model, const std::vector<std::string>& names) {
  std::vector<ModelOutput> outputs;
  for (const std::string& name : names) {
    Value* value = find_output_value(model, name);
    if (value == nullptr) {
      std::string valid;
      for (const ModelOutput& output : model.outputs()) {
        valid += fmt::format("{}'{}'", valid.empty() ? "" : ", ", output.name);
      }
      return error(StatusCode::NotFound,
                   "model '{}' has no output, value or node '{}' to be an output (of a node with "
                   "several outputs write NODE:PORT); its outputs are {}",
                   model.name(), name, valid);
    }
    const auto kept = std::ranges::find(model.outputs(), value, &ModelOutput::value);
    outputs.push_back({name, value, kept == model.outputs().end() ? TensorDesc{} : kept->declared});
  }
  if (outputs.empty()) return {};
  model.set_outputs(std::move(outputs));
  model.remove_unused();
  return {};
}

}  // namespace het
