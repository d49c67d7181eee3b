#include "inference/passes/print_model.h"

#include <type_traits>

namespace het {
namespace {

constexpr int64_t kMaxPrintedNumbers = 8;

void append(std::string& text, std::string_view separator, std::string_view part) {
  if (!text.empty()) text += separator;
  text += part;
}

template <class T>
std::string join(const std::vector<T>& values) {
  std::string text;
  for (const T& value : values) append(text, ",", fmt::format("{}", value));
  return text;
}

std::string desc_text(const TensorDesc& desc) {
  return desc.type == ElementType::Undefined ? "?" : to_string(desc);
}

/// "[1,2]", or nothing for content that is long or not a number.
std::string content_text(const Tensor& tensor) {
  if (tensor.element_count() > kMaxPrintedNumbers) return {};
  std::string text;
  if (const auto integers = to_int64_vector(tensor)) {
    text = join(*integers);
  } else if (const auto numbers = to_float_vector(tensor)) {
    text = join(*numbers);
  } else {
    return {};
  }
  return tensor.rank() == 0 ? text : fmt::format("[{}]", text);
}

std::string value_text(const Value* value) {
  if (value == nullptr) return "-";
  if (!value->is_constant()) return value->name();
  const std::string content = content_text(value->constant());
  return fmt::format("{}={}", value->name(), content.empty() ? to_string(value->desc()) : content);
}

std::string attribute_text(const Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> std::string {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, Tensor>) {
          const std::string content = content_text(value);
          return content.empty() ? to_string(value.desc()) : content;
        } else if constexpr (std::is_same_v<T, std::shared_ptr<Model>>) {
          return "graph";
        } else if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
          return fmt::format("{}", value);
        } else {
          return fmt::format("[{}]", join(value));
        }
      },
      attribute);
}

/// " {axis=1 keepdims=0}", or nothing.
std::string attributes_text(const Node& node) {
  std::string text;
  for (const auto& [name, attribute] : node.attributes()) {
    append(text, " ", fmt::format("{}={}", name, attribute_text(attribute)));
  }
  return text.empty() ? text : fmt::format(" {{{}}}", text);
}

void print(const Model& model, const std::string& indent, std::string& text) {
  for (const ModelInput& input : model.inputs()) {
    text += fmt::format("{}input {} : {}\n", indent, input.value->name(),
                        desc_text(input.value->desc()));
  }
  for (const auto& node : model.nodes()) {
    std::string outputs;
    std::string descs;
    for (const Value* output : node->outputs()) {
      append(outputs, ", ", output->name());
      append(descs, ", ", desc_text(output->desc()));
    }
    std::string inputs;
    for (const Value* input : node->inputs()) {
      append(inputs, ", ", value_text(input));
    }
    const std::string attributes = attributes_text(*node);
    text += fmt::format("{}{} = {}({}){} : {}\n", indent, outputs, node->qualified_type(), inputs,
                        attributes, descs);
    for (const auto& [name, attribute] : node->attributes()) {
      const auto* body = std::get_if<std::shared_ptr<Model>>(&attribute);
      if (body == nullptr) continue;
      text += fmt::format("{}  {}:\n", indent, name);
      print(**body, indent + "    ", text);
    }
  }
  for (const ModelOutput& output : model.outputs()) {
    text += fmt::format("{}output {} = {}\n", indent, output.name, value_text(output.value));
  }
}

}  // namespace

std::string print_model(const Model& model) {
  std::string text;
  print(model, "", text);
  return text;
}

std::string node_signature(const Node& node) {
  std::string inputs;
  for (const Value* input : node.inputs()) {
    std::string text = input == nullptr ? "-" : desc_text(input->desc());
    if (input != nullptr && input->is_constant()) {
      text += " constant " + content_text(input->constant());
    }
    append(inputs, ", ", text);
  }
  std::string outputs;
  for (const Value* output : node.outputs()) {
    append(outputs, ", ", output == nullptr ? "-" : desc_text(output->desc()));
  }
  return fmt::format("{}({}){} : {}", node.qualified_type(), inputs, attributes_text(node),
                     outputs);
}

}  // namespace het
