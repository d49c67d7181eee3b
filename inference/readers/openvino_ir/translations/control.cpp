#include <algorithm>
#include <limits>
#include <set>

#include "inference/ops/sequences/body.h"
#include "inference/readers/openvino_ir/numbers.h"
#include "inference/readers/openvino_ir/translate.h"

/// If, and TensorIterator and Loop, which both become ONNX' Loop: sliced inputs are captured whole
/// and indexed by the iteration, concatenated outputs are collected.
namespace het::ir {
namespace {

/// An <input> or <output> of a port map.
struct Mapping {
  int64_t port = -1;   ///< of the layer; -1: none
  int64_t layer = -1;  ///< of the body
  std::optional<int64_t> axis;
  int64_t start = 0;
  int64_t end = -1;
  int64_t stride = 1;
  int64_t part_size = 1;
  std::string_view purpose;
};

Result<int64_t> number(const pugi::xml_node& element, const char* name, int64_t fallback) {
  const pugi::xml_attribute found = element.attribute(name);
  if (!found || *found.as_string() == 0) return fallback;
  return parse_integer(found.as_string());
}

Result<Mapping> read_mapping(const pugi::xml_node& element) {
  Mapping mapping;
  HET_ASSIGN(mapping.port, number(element, "external_port_id", -1));
  HET_ASSIGN(mapping.layer, number(element, "internal_layer_id", -1));
  if (element.attribute("axis")) {
    HET_ASSIGN(const int64_t axis, number(element, "axis", 0));
    if (axis >= 0) mapping.axis = axis;
  }
  HET_ASSIGN(mapping.start, number(element, "start", 0));
  HET_ASSIGN(mapping.end, number(element, "end", -1));
  HET_ASSIGN(mapping.stride, number(element, "stride", 1));
  HET_ASSIGN(mapping.part_size, number(element, "part_size", 1));
  mapping.purpose = element.attribute("purpose").as_string();
  return mapping;
}

Result<std::vector<Mapping>> read_mappings(const pugi::xml_node& map, const char* kind) {
  std::vector<Mapping> mappings;
  for (const pugi::xml_node& element : map.children(kind)) {
    HET_ASSIGN(mappings.emplace_back(), read_mapping(element));
  }
  return mappings;
}

size_t place_of(const std::vector<ParsedPort>& ports, int64_t id) {
  return static_cast<size_t>(
      std::find_if(ports.begin(), ports.end(), [&](const ParsedPort& p) { return p.id == id; }) -
      ports.begin());
}

/// The outer values that bodies read, each once, in the order of their first use.
class Captures {
 public:
  explicit Captures(LayerContext& context) : context_(context) {}

  /// The name of the value at an input of the layer; fails where nothing is connected.
  Result<std::string> name(int64_t port) {
    const size_t place = place_of(context_.layer().inputs, port);
    if (!context_.has_input(place)) {
      return error(StatusCode::ParseError, "its port map names input {}, which nothing feeds",
                   port);
    }
    std::string name = fmt::format("het.captured_{}", place);
    if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
      names_.push_back(name);
      values_.push_back(context_.input(place));
    }
    return name;
  }
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<Value*>& values() const { return values_; }

 private:
  LayerContext& context_;
  std::vector<std::string> names_;
  std::vector<Value*> values_;
};

/// One pass over a dimension, slice by slice, forwards or backwards.
bool is_plain_slicing(const Mapping& mapping) {
  const bool forwards = mapping.stride == 1 && mapping.start == 0 && mapping.end == -1;
  const bool backwards = mapping.stride == -1 && mapping.start == -1 && mapping.end == 0;
  return (forwards || backwards) && mapping.part_size == 1;
}

/// What a TensorIterator or Loop says, sorted for ONNX' Loop.
struct LoopForm {
  BodyPlan plan;
  std::vector<Value*> initial;     ///< per carried Parameter
  std::vector<int64_t> collected;  ///< Results, behind the carried ones
  std::vector<Mapping> outputs;
  std::map<int64_t, size_t> carried_results;
  const Mapping* sliced = nullptr;  ///< decides the number of iterations of a TensorIterator
  std::vector<Mapping> inputs;
};

Status read_inputs(LayerContext& context, const std::map<int64_t, int64_t>& back_edges,
                   Captures& captures, LoopForm& form) {
  for (const Mapping& mapping : form.inputs) {
    if (mapping.purpose == "current_iteration") {
      form.plan.iteration = mapping.layer;
    } else if (mapping.axis) {
      if (!is_plain_slicing(mapping)) {
        context.refuse(
            fmt::format("slices of {} from {} to {} with stride {} are not supported, only single "
                        "ones over the whole dimension",
                        mapping.part_size, mapping.start, mapping.end, mapping.stride));
        return {};
      }
      HET_ASSIGN(form.plan.captured[mapping.layer], captures.name(mapping.port));
      form.plan.parts[mapping.layer] = {*mapping.axis, mapping.stride < 0};
      if (form.sliced == nullptr) form.sliced = &mapping;
    } else if (const auto edge = back_edges.find(mapping.layer); edge != back_edges.end()) {
      const size_t place = place_of(context.layer().inputs, mapping.port);
      if (!context.has_input(place)) {
        return error(StatusCode::ParseError, "its port map names input {}, which nothing feeds",
                     mapping.port);
      }
      form.carried_results.emplace(edge->second, form.plan.carried.size());
      form.plan.carried.push_back(mapping.layer);
      form.plan.results.push_back(edge->second);
      form.initial.push_back(context.input(place));
    } else {
      HET_ASSIGN(form.plan.captured[mapping.layer], captures.name(mapping.port));
    }
  }
  return {};
}

Status read_loop(LayerContext& context, Captures& captures, LoopForm& form) {
  const pugi::xml_node& element = context.layer().element;
  const pugi::xml_node map = element.child("port_map");
  form.plan.is_loop = true;
  std::map<int64_t, int64_t> back_edges;  // Parameter -> Result
  for (const pugi::xml_node& edge : element.child("back_edges").children("edge")) {
    HET_ASSIGN(const int64_t from, number(edge, "from-layer", -1));
    HET_ASSIGN(const int64_t to, number(edge, "to-layer", -1));
    back_edges[to] = from;
  }
  HET_ASSIGN(form.inputs, read_mappings(map, "input"));
  HET_TRY(read_inputs(context, back_edges, captures, form));
  HET_ASSIGN(const std::vector<Mapping> outputs, read_mappings(map, "output"));
  for (const Mapping& mapping : outputs) {
    if (mapping.purpose == "execution_condition") form.plan.condition = mapping.layer;
    if (mapping.port < 0) continue;
    form.outputs.push_back(mapping);
    const bool carried = !mapping.axis && form.carried_results.contains(mapping.layer);
    const bool known = std::find(form.collected.begin(), form.collected.end(), mapping.layer) !=
                       form.collected.end();
    if (!carried && !known) form.collected.push_back(mapping.layer);
  }
  form.plan.results.insert(form.plan.results.end(), form.collected.begin(), form.collected.end());
  return {};
}

/// The length of the dimension that is taken apart.
Value* iterations(LayerContext& context, const Mapping& sliced) {
  Attributes attributes = with("start", *sliced.axis);
  attributes.set("end", *sliced.axis + 1);
  Value* const whole = context.input(place_of(context.layer().inputs, sliced.port));
  Value* const length = context.add("Shape", {whole}, std::move(attributes));
  return context.add("Reshape", {length, context.integers_constant("scalar", {})});
}

/// A negative number means no limit, which ONNX says by no number.
Value* trip_count(LayerContext& context) {
  if (const auto count = context.constant_integers(0); count && count->size() == 1) {
    return (*count)[0] < 0 ? nullptr : context.constant("trips", Tensor::scalar((*count)[0]));
  }
  Value* const count = context.add("Reshape", {context.cast(context.input(0), ElementType::Int64),
                                               context.integers_constant("scalar", {})});
  const auto limit = [&](const char* name, int64_t value) {
    return context.constant(name, Tensor::scalar<int64_t>(value));
  };
  return context.add("Where", {context.add("Less", {count, limit("none", 0)}),
                               limit("unlimited", std::numeric_limits<int64_t>::max()), count});
}

/// Collected slices [iterations, ...]: concatenated along an axis, or the last one only.
void finish_collected(LayerContext& context, size_t output, Value* slices, const Mapping& mapping) {
  if (!mapping.axis) {
    return context.finish_output(output, "Gather",
                                 {slices, context.constant("last", Tensor::scalar<int64_t>(-1))});
  }
  if (mapping.stride < 0) {
    constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
    slices = context.add(
        "Slice",
        {slices, context.integers_constant("from", {-1}), context.integers_constant("to", {kFirst}),
         context.integers_constant("axis", {0}), context.integers_constant("step", {-1})});
  }
  const auto rank = static_cast<int64_t>(context.output_shape(output).size());
  const int64_t axis = context.normalized(*mapping.axis, rank);
  if (!context.status().ok()) return;
  // [iterations, ..., 1, ...]: the dimension of one goes, the iterations take its place.
  Value* const parts =
      context.add("Squeeze", {slices, context.integers_constant("part", {axis + 1})});
  std::vector<int64_t> order;
  for (int64_t i = 1; i < rank; ++i) order.push_back(i);
  order.insert(order.begin() + axis, 0);
  context.finish_output(output, "Transpose", {parts}, with("perm", order));
}

void loop(LayerContext& context) {
  const bool counted = context.layer().type == "Loop";
  Captures captures(context);
  LoopForm form;
  if (Status status = read_loop(context, captures, form); !status.ok()) {
    return context.fail(std::move(status));
  }
  if (!context.refusal().empty()) return;
  if (!counted && form.sliced == nullptr) {
    return context.refuse("TensorIterator without an input that it takes apart is not supported");
  }
  auto body = context.graph().build_body(context.layer().element.child("body"), form.plan);
  if (!body) return context.fail(body.error().with_context("its body"));
  Value* const condition = counted ? context.input(1) : nullptr;
  std::vector<Value*> inputs{counted ? trip_count(context) : iterations(context, *form.sliced),
                             condition};
  inputs.insert(inputs.end(), form.initial.begin(), form.initial.end());
  inputs.insert(inputs.end(), captures.values().begin(), captures.values().end());
  Attributes attributes = with("body", std::move(*body));
  if (!captures.names().empty()) attributes.set(std::string(kCapturesAttribute), captures.names());
  const size_t carried = form.plan.carried.size();
  const std::vector<Value*> found = context.add_many(
      "Loop", std::move(inputs), carried + form.collected.size(), std::move(attributes));
  for (const Mapping& mapping : form.outputs) {
    const size_t output = place_of(context.layer().outputs, mapping.port);
    const auto result = form.carried_results.find(mapping.layer);
    if (!mapping.axis && result != form.carried_results.end()) {
      context.finish_output(output, "Identity", {found[result->second]});
      continue;
    }
    if (mapping.axis && mapping.part_size != 1) {
      return context.refuse(
          fmt::format("outputs that grow by parts of {} are not supported", mapping.part_size));
    }
    const auto place = std::find(form.collected.begin(), form.collected.end(), mapping.layer);
    finish_collected(context, output,
                     found[carried + static_cast<size_t>(place - form.collected.begin())], mapping);
  }
}

/// The plan of one branch, with its results in the order of the layer's outputs.
Result<BodyPlan> branch_plan(LayerContext& context, const char* map, Captures& captures) {
  const pugi::xml_node element = context.layer().element.child(map);
  BodyPlan plan;
  HET_ASSIGN(const std::vector<Mapping> inputs, read_mappings(element, "input"));
  for (const Mapping& mapping : inputs) {
    HET_ASSIGN(plan.captured[mapping.layer], captures.name(mapping.port));
  }
  HET_ASSIGN(const std::vector<Mapping> outputs, read_mappings(element, "output"));
  plan.results.resize(context.output_count(), -1);
  for (const Mapping& mapping : outputs) {
    const size_t output = place_of(context.layer().outputs, mapping.port);
    if (output < plan.results.size()) plan.results[output] = mapping.layer;
  }
  return plan;
}

/// True for the scalar 0.
bool is_zero(const Value& value) {
  if (!value.is_constant() || !value.desc().shape.empty()) return false;
  const Tensor& content = value.constant();
  return std::all_of(content.bytes(), content.bytes() + content.size_bytes(),
                     [](std::byte b) { return b == std::byte{0}; });
}

/// OpenVINO's ONNX front end makes the scalar 0 of a constant without elements (torchvision's "no
/// boxes" in a branch around NonMaxSuppression), whose layer then declares a vector: the empty
/// vector is put back, where a box would be found that is none.
Status restore_empty_vectors(const ParsedLayer& layer, Model& branch, const Model& other) {
  for (size_t i = 0; i < layer.outputs.size(); ++i) {
    const Value* const scalar = branch.outputs()[i].value;
    const bool vector_declared = layer.outputs[i].dims == Shape{kUnknownDim};
    if (!vector_declared || !is_zero(*scalar) || is_zero(*other.outputs()[i].value)) continue;
    HET_ASSIGN(Tensor empty, Tensor::allocate({scalar->desc().type, {0}}));
    branch.set_output(i, branch.add_constant(scalar->name() + "_empty", std::move(empty)));
  }
  return {};
}

void branch(LayerContext& context) {
  Captures captures(context);
  std::vector<std::shared_ptr<Model>> branches;
  for (const auto& [body, map] :
       {std::pair("then_body", "then_port_map"), std::pair("else_body", "else_port_map")}) {
    const auto plan = branch_plan(context, map, captures);
    if (!plan) return context.fail(plan.error());
    auto model = context.graph().build_body(context.layer().element.child(body), *plan);
    if (!model) return context.fail(model.error().with_context(body));
    branches.push_back(std::move(*model));
  }
  for (size_t i = 0; i < 2; ++i) {
    const Status restored = restore_empty_vectors(context.layer(), *branches[i], *branches[1 - i]);
    if (!restored.ok()) return context.fail(restored);
  }
  Attributes attributes;
  attributes.set("then_branch", std::move(branches[0]));
  attributes.set("else_branch", std::move(branches[1]));
  std::vector<Value*> inputs{context.input(0)};
  inputs.insert(inputs.end(), captures.values().begin(), captures.values().end());
  if (!captures.names().empty()) attributes.set(std::string(kCapturesAttribute), captures.names());
  context.finish("If", std::move(inputs), std::move(attributes));
}

constexpr Translation kControlTable[] = {
    {"TensorIterator", loop},
    {"Loop", loop},
    {"If", branch},
};

}  // namespace

std::span<const Translation> control_translations() {
  return kControlTable;
}

}  // namespace het::ir
