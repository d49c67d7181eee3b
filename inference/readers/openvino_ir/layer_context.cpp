#include "inference/readers/openvino_ir/layer_context.h"

#include <charconv>
#include <cmath>

#include "inference/ops/numeric_cast.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/op_checks.h"
#include "inference/ops/type_dispatch.h"
#include "inference/readers/openvino_ir/limits.h"
#include "inference/readers/openvino_ir/numbers.h"

namespace het::ir {
namespace {

/// The content of a constant, also behind one conversion: that of half-precision weights, or of
/// lists that were stored in another integer type. Null for what is computed or too long a list.
const Tensor* list_content(const Value* value) {
  if (value != nullptr && value->producer() != nullptr && value->producer()->op_type() == "Cast") {
    value = value->producer()->input(0);
  }
  if (value == nullptr || !value->is_constant()) return nullptr;
  const bool fits = value->constant().element_count() <= static_cast<int64_t>(kMaxListContent);
  return fits ? &value->constant() : nullptr;
}

}  // namespace

std::string GraphContext::unique(std::unordered_map<std::string, size_t>& names, std::string name) {
  while (true) {
    const size_t count = ++names[name];
    if (count == 1) return name;
    name += fmt::format("_{}", count);
  }
}

LayerContext::LayerContext(GraphContext& graph, const ParsedLayer& layer,
                           std::vector<Value*> inputs, std::vector<const ParsedPort*> sources,
                           std::vector<std::string> output_names)
    : graph_(graph),
      layer_(layer),
      inputs_(std::move(inputs)),
      sources_(std::move(sources)),
      converted_(inputs_.size(), ElementType::Undefined),
      output_names_(std::move(output_names)),
      outputs_(layer.outputs.size(), nullptr) {}

int64_t LayerContext::opset() const {
  constexpr std::string_view kPrefix = "opset";
  if (layer_.opset.substr(0, kPrefix.size()) != kPrefix) return 0;
  return parse_integer(layer_.opset.substr(kPrefix.size())).value_or(0);
}

const Shape& LayerContext::input_shape(size_t index) const {
  if (index >= inputs_.size()) return no_shape_;
  const Value* value = inputs_[index];
  if (value != nullptr && value->is_constant()) return value->desc().shape;
  const Shape& own = layer_.inputs[index].dims;
  return own.empty() && sources_[index] != nullptr ? sources_[index]->dims : own;
}

const Shape& LayerContext::output_shape(size_t index) const {
  return index < layer_.outputs.size() ? layer_.outputs[index].dims : no_shape_;
}

ElementType LayerContext::declared_type(std::string_view precision) const {
  const ElementType type = parse_element_type(precision).value_or(ElementType::Undefined);
  return type == ElementType::Float16 && graph_.file.version == 10 ? ElementType::Float32 : type;
}

ElementType LayerContext::input_type(size_t index) const {
  if (index >= inputs_.size()) return ElementType::Undefined;
  if (converted_[index] != ElementType::Undefined) return converted_[index];
  const Value* value = inputs_[index];
  if (value != nullptr && value->is_constant()) return value->desc().type;
  const ElementType own = declared_type(layer_.inputs[index].precision);
  if (own != ElementType::Undefined || sources_[index] == nullptr) return own;
  return declared_type(sources_[index]->precision);
}

ElementType LayerContext::output_type(size_t index) const {
  return index < layer_.outputs.size() ? declared_type(layer_.outputs[index].precision)
                                       : ElementType::Undefined;
}

std::optional<std::string_view> LayerContext::attribute(std::string_view name) const {
  for (const pugi::xml_attribute& found : layer_.data.attributes()) {
    if (name == found.name()) return found.as_string();
  }
  return std::nullopt;
}

template <class T, class Parse>
T LayerContext::read(std::string_view name, T fallback, Parse parse) {
  const auto found = attribute(name);
  if (!found || trimmed(*found).empty()) return fallback;
  auto value = parse(*found);
  if (value) return std::move(*value);
  fail(value.error().with_context(fmt::format("attribute '{}'", name)));
  return fallback;
}

bool LayerContext::has(std::string_view name) const {
  return attribute(name).has_value();
}

int64_t LayerContext::integer(std::string_view name, int64_t fallback) {
  return read(name, fallback, parse_integer);
}

float LayerContext::real(std::string_view name, float fallback) {
  return read(name, fallback, parse_real);
}

bool LayerContext::flag(std::string_view name, bool fallback) {
  return read(name, fallback, parse_flag);
}

std::string LayerContext::text(std::string_view name, std::string_view fallback) const {
  return std::string(attribute(name).value_or(fallback));
}

std::vector<int64_t> LayerContext::integers(std::string_view name) {
  return read(name, std::vector<int64_t>(), parse_integers);
}

std::vector<float> LayerContext::reals(std::string_view name) {
  return read(name, std::vector<float>(), parse_reals);
}

Shape LayerContext::dims(std::string_view name) {
  return read(name, Shape(), parse_dims);
}

ElementType LayerContext::type(std::string_view name, std::string_view fallback) {
  const std::string spelled = text(name, fallback);
  const auto found = parse_element_type(spelled);
  if (found) return declared_type(spelled);
  refuse(fmt::format("attribute '{}': {}", name, found.error().message()));
  return ElementType::Float32;
}

std::optional<std::vector<int64_t>> LayerContext::constant_integers(size_t index) const {
  const Tensor* content = list_content(input(index));
  if (content == nullptr) return std::nullopt;
  auto integers = to_int64_vector(*content);
  if (integers) return std::move(*integers);
  const auto reals = to_float_vector(*content);
  if (!reals) return std::nullopt;
  std::vector<int64_t> rounded;
  for (const float real : *reals) {
    if (!(std::abs(real) < 0x1p53f)) return std::nullopt;
    rounded.push_back(static_cast<int64_t>(real));
  }
  return rounded;
}

std::optional<std::vector<float>> LayerContext::constant_reals(size_t index) const {
  const Tensor* content = list_content(input(index));
  if (content == nullptr) return std::nullopt;
  auto reals = to_float_vector(*content);
  if (!reals) return std::nullopt;
  return std::move(*reals);
}

std::vector<int64_t> LayerContext::required_integers(size_t index, std::string_view what) {
  auto found = constant_integers(index);
  if (found) return std::move(*found);
  refuse(fmt::format("{} with {} that is computed is not supported, only a constant", layer_.type,
                     what));
  return {};
}

int64_t LayerContext::normalized(int64_t axis, int64_t rank) {
  const auto found = normalize_axis(axis, rank);
  if (found) return *found;
  fail(found.error());
  return 0;
}

void LayerContext::charge(size_t bytes) {
  graph_.file.made_bytes += bytes;
  if (graph_.file.made_bytes <= kMaxMadeBytes) return;
  fail(Status(StatusCode::OutOfMemory,
              fmt::format("the constants and names of translated layers take more than {} bytes",
                          kMaxMadeBytes)));
}

Value* LayerContext::constant(std::string_view suffix, Tensor content) {
  charge(content.size_bytes() + layer_.name.size() + suffix.size());
  return graph_.model.add_constant(
      graph_.unique_value_name(fmt::format("{}/{}", layer_.name, suffix)), std::move(content));
}

Value* LayerContext::integers_constant(std::string_view suffix,
                                       const std::vector<int64_t>& values) {
  return constant(suffix, Tensor::from<int64_t>({static_cast<int64_t>(values.size())}, values));
}

Value* LayerContext::scalar(std::string_view suffix, ElementType type, double value) {
  Value* made = nullptr;
  const Status status = dispatch_numeric(type, [&]<class T>() -> Status {
    made = constant(suffix, Tensor::scalar<T>(numeric_cast<T>(value)));
    return {};
  });
  if (made != nullptr) return made;
  refuse(fmt::format("the type of its input is not known or not supported: {}", status.message()));
  return constant(suffix, Tensor::scalar<float>(static_cast<float>(value)));
}

Value* LayerContext::integer_list(Value* value) {
  if (value == nullptr) return nullptr;
  if (value->is_constant() && list_content(value) != nullptr) {
    const auto values = to_int64_vector(value->constant());
    if (values && value->desc().type == ElementType::Int64 && value->desc().shape.size() == 1) {
      return value;
    }
    if (values) return integers_constant("list", *values);
  }
  return reshaped(cast(value, ElementType::Int64), {-1});
}

Value* LayerContext::cast(Value* value, ElementType type) {
  Attributes attributes;
  attributes.set("to", onnx_type_code(type));
  return add("Cast", {value}, std::move(attributes));
}

Value* LayerContext::indices(size_t index) {
  const ElementType type = input_type(index);
  const bool fits = kIndexTypes.contains(type) || type == ElementType::Undefined;
  return fits || !has_input(index) ? input(index) : cast(input(index), ElementType::Int64);
}

void LayerContext::compute_in(ElementType type) {
  const ElementType own = input_type(0);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i] == nullptr || input_type(i) != own) continue;
    inputs_[i] = cast(inputs_[i], type);
    converted_[i] = type;
  }
  result_type_ = own;
}

Value* LayerContext::reshaped(Value* value, const std::vector<int64_t>& shape) {
  return add("Reshape", {value, integers_constant("shape", shape)});
}

Value* LayerContext::transposed(Value* value, const std::vector<int64_t>& order) {
  Attributes attributes;
  attributes.set("perm", order);
  return add("Transpose", {value}, std::move(attributes));
}

Value* LayerContext::unsqueezed(Value* value, const std::vector<int64_t>& axes) {
  return add("Unsqueeze", {value, integers_constant("axes", axes)});
}

Node* LayerContext::add_node(std::string name, std::string op_type, std::vector<Value*> inputs,
                             std::vector<std::string> outputs, Attributes attributes,
                             std::string_view domain) {
  while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
  charge(name.size() + layer_.name.size());
  for (std::string& output : outputs) {
    charge(output.size());
    output = graph_.unique_value_name(std::move(output));
  }
  Node* node = graph_.model.add_node(graph_.unique_node_name(std::move(name)), std::move(op_type),
                                     std::string(domain), std::move(inputs), std::move(outputs),
                                     std::move(attributes));
  node->add_original_names({std::string(layer_.name)});
  node->set_rt_info(layer_.rt_info);
  return node;
}

Value* LayerContext::add(std::string op_type, std::vector<Value*> inputs, Attributes attributes,
                         std::string_view domain) {
  const std::string name = fmt::format("{}/{}", layer_.name, op_type);
  return add_node(name, std::move(op_type), std::move(inputs), {name}, std::move(attributes),
                  domain)
      ->output();
}

std::vector<Value*> LayerContext::add_many(std::string op_type, std::vector<Value*> inputs,
                                           size_t outputs, Attributes attributes,
                                           std::string_view domain) {
  const std::string name = fmt::format("{}/{}", layer_.name, op_type);
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs; ++i) names.push_back(fmt::format("{}.{}", name, i));
  return add_node(name, std::move(op_type), std::move(inputs), std::move(names),
                  std::move(attributes), domain)
      ->outputs();
}

void LayerContext::finish(std::string op_type, std::vector<Value*> inputs, Attributes attributes,
                          std::string_view domain) {
  if (result_type_ != ElementType::Undefined) {
    Value* result = add(std::move(op_type), std::move(inputs), std::move(attributes), domain);
    if (is_float(converted_[0])) result = add("Round", {result});
    op_type = "Cast";
    inputs = {result};
    attributes = {};
    attributes.set("to", onnx_type_code(result_type_));
    domain = "";
  }
  const Node* node = add_node(std::string(layer_.name), std::move(op_type), std::move(inputs),
                              output_names_, std::move(attributes), domain);
  outputs_ = node->outputs();
  named_ = true;
}

void LayerContext::finish_output(size_t index, std::string op_type, std::vector<Value*> inputs,
                                 Attributes attributes) {
  if (index >= outputs_.size()) return;
  const std::string name =
      named_ ? fmt::format("{}/{}", layer_.name, op_type) : std::string(layer_.name);
  outputs_[index] = add_node(name, std::move(op_type), std::move(inputs), {output_names_[index]},
                             std::move(attributes), "")
                        ->output();
  named_ = true;
}

void LayerContext::set_output(size_t index, Value* value) {
  if (index < outputs_.size()) outputs_[index] = value;
}

void LayerContext::refuse(std::string reason) {
  if (refusal_.empty()) refusal_ = std::move(reason);
}

void LayerContext::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void LayerContext::finish_refused(std::string reason) {
  Attributes attributes;
  for (const pugi::xml_attribute& found : layer_.data.attributes()) {
    attributes.set(found.name(), std::string(found.as_string()));
  }
  Node* node = add_node(std::string(layer_.name), std::string(layer_.type), inputs_, output_names_,
                        std::move(attributes), "openvino");
  graph_.model.mark_unsupported(node, std::move(reason));
  outputs_ = node->outputs();
}

}  // namespace het::ir
