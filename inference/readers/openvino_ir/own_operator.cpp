#include "inference/readers/openvino_ir/own_operator.h"

namespace het::ir {
namespace {

Attribute read_attribute(LayerContext& context, const OwnAttribute& attribute) {
  switch (attribute.kind) {
    case OwnAttributeKind::Int:
      return context.integer(attribute.name, 0);
    case OwnAttributeKind::Real:
      return context.real(attribute.name, 0.0f);
    case OwnAttributeKind::Flag:
      return static_cast<int64_t>(context.flag(attribute.name, false));
    case OwnAttributeKind::Type:
      return std::string(to_string(context.type(attribute.name, "f32")));
    case OwnAttributeKind::Ints:
      return context.integers(attribute.name);
    case OwnAttributeKind::Reals:
      return context.reals(attribute.name);
    case OwnAttributeKind::Dims:
      return context.dims(attribute.name);
    case OwnAttributeKind::Text:
      break;
  }
  return context.text(attribute.name, "");
}

}  // namespace

void finish_own_operator(LayerContext& context, std::span<const OwnAttribute> attributes) {
  Attributes read;
  for (const OwnAttribute& attribute : attributes) {
    if (!context.has(attribute.name)) continue;
    read.set(std::string(attribute.name), read_attribute(context, attribute));
  }
  std::vector<Value*> inputs;
  for (size_t i = 0; i < context.input_count(); ++i) {
    // Lists of axes, lengths and the like, beside the numbers of input 0.
    const ElementType type = context.input_type(i);
    const bool is_list = is_integer(type) && type != context.input_type(0);
    inputs.push_back(is_list ? context.indices(i) : context.input(i));
  }
  context.finish(std::string(context.layer().type), std::move(inputs), std::move(read), "het");
}

}  // namespace het::ir
