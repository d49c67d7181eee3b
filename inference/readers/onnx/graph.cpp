#include "inference/readers/onnx/graph.h"

#include <algorithm>
#include <set>

#include "inference/ops/onnx_type.h"
#include "inference/ops/sequences/body.h"
#include "inference/preprocess/preprocess_text.h"
#include "inference/readers/file_order.h"
#include "inference/readers/onnx/limits.h"
#include "inference/readers/onnx/metadata_keys.h"

namespace het::onnx {
namespace {

/// The number of outputs means something here, so trailing omitted ones are kept.
constexpr std::string_view kVariadicOutputs[] = {"Split", "If", "Loop", "Scan"};

/// Names up to this length stand in front of names that are made of them.
constexpr size_t kMaxPrefixBytes = 256;

bool is_default_domain(std::string_view domain) {
  return domain.empty() || domain == "ai.onnx";
}

/// Names that a graph or the graphs inside it read from outside.
void collect_reads(const ParsedGraph& graph, std::vector<std::string_view>& names) {
  std::unordered_set<std::string_view> own;
  for (const ParsedValue& input : graph.inputs) own.insert(input.name);
  for (const ParsedTensor& tensor : graph.initializers) own.insert(tensor.name);
  for (const ParsedNode& node : graph.nodes) own.insert(node.outputs.begin(), node.outputs.end());
  std::vector<std::string_view> reads;
  for (const ParsedNode& node : graph.nodes) {
    reads.insert(reads.end(), node.inputs.begin(), node.inputs.end());
    for (const ParsedAttribute& attribute : node.attributes) {
      if (attribute.graph) collect_reads(*attribute.graph, reads);
    }
  }
  for (const ParsedValue& output : graph.outputs) reads.push_back(output.name);
  for (const std::string_view name : reads) {
    if (!own.contains(name)) names.push_back(name);
  }
}

void collect_types(const ParsedGraph& graph, std::set<int64_t>& codes) {
  for (const ParsedTensor& tensor : graph.initializers) codes.insert(tensor.data_type);
  for (const ParsedValue& input : graph.inputs) codes.insert(input.data_type);
  for (const ParsedNode& node : graph.nodes) {
    for (const ParsedAttribute& attribute : node.attributes) {
      if (attribute.name == "to" || attribute.name == "dtype") codes.insert(attribute.integer);
      if (attribute.tensor) codes.insert(attribute.tensor->data_type);
      if (attribute.graph) collect_types(*attribute.graph, codes);
    }
  }
}

std::string_view find_own(const ParsedMetadata& metadata, std::string_view key) {
  for (const auto& [name, value] : metadata) {
    if (name == key) return value;
  }
  return {};
}

/// Type and shape that the file declares; [] without a shape.
Result<TensorDesc> declared_desc(const ParsedValue& value) {
  if (!value.unsupported.empty()) {
    return error(StatusCode::NotSupported, "it is {}, only dense tensors are supported",
                 value.unsupported);
  }
  TensorDesc desc;
  HET_ASSIGN(desc.type, element_type_from_onnx(value.data_type));
  if (value.shape) desc.shape.assign(value.shape->begin(), value.shape->end());
  return desc;
}

/// What the file says about the outputs of a body, for outputs of loops that never run.
void declare_outputs(const ParsedGraph& body, Attributes& attributes) {
  std::vector<int64_t> types;
  std::vector<int64_t> ranks;
  for (const ParsedValue& output : body.outputs) {
    types.push_back(output.unsupported.empty() ? output.data_type : 0);
    ranks.push_back(output.shape ? static_cast<int64_t>(output.shape->size()) : -1);
  }
  const bool is_typed = std::ranges::any_of(types, [](int64_t type) { return type != 0; });
  const bool is_ranked = std::ranges::any_of(ranks, [](int64_t rank) { return rank >= 0; });
  if (!is_typed && !is_ranked) return;
  attributes.set(std::string(kBodyTypesAttribute), std::move(types));
  attributes.set(std::string(kBodyRanksAttribute), std::move(ranks));
}

}  // namespace

ElementType only_float_type(const ParsedGraph& graph) {
  std::set<int64_t> codes;
  collect_types(graph, codes);
  ElementType found = ElementType::Undefined;
  for (const int64_t code : codes) {
    const auto type = element_type_from_onnx(code);
    if (!type || !is_float(*type)) continue;
    if (found != ElementType::Undefined) return ElementType::Undefined;
    found = *type;
  }
  return found;
}

GraphBuilder::GraphBuilder(FileContext& file, const ParsedGraph& graph, GraphBuilder* outer)
    : file_(file),
      graph_(graph),
      outer_(outer),
      model_(std::make_unique<Model>(graph.name.empty() ? "model" : std::string(graph.name))) {}

Result<std::unique_ptr<Model>> GraphBuilder::build() {
  HET_TRY(add_initializers());
  HET_TRY(add_inputs());
  HET_TRY(sort_nodes());
  HET_TRY(add_nodes());
  HET_TRY(add_outputs());
  return std::move(model_);
}

// 1. Initialisers are constants, also those that are listed as inputs of the model, as old files
// list all of them. The caller may say that one stays an input.
Status GraphBuilder::add_initializers() {
  std::unordered_set<std::string_view> listed;
  for (const ParsedValue& input : graph_.inputs) listed.insert(input.name);
  for (const ParsedTensor& tensor : graph_.initializers) {
    if (tensor.name.empty()) {
      return error(StatusCode::ParseError, "an initialiser of graph '{}' has no name", graph_.name);
    }
    if (listed.contains(tensor.name)) {
      // A body's inputs always get values, so this one is only their default.
      if (outer_ != nullptr) continue;
      model_->add_overridable_constant(std::string(tensor.name));
      if (file_.overridden.contains(tensor.name)) {
        defaults_.emplace(tensor.name, &tensor);
        continue;
      }
    }
    Known known;
    auto content = file_.tensors.read(tensor);
    if (content) {
      known.value = model_->add_constant(std::string(tensor.name), std::move(*content));
    } else if (content.error().code() == StatusCode::NotSupported) {
      known.reason = content.error().message();
    } else {
      return content.error();
    }
    HET_TRY(define(tensor.name, std::move(known)));
  }
  for (const std::string& name : file_.overridden) {
    if (outer_ != nullptr || defaults_.contains(name)) continue;
    std::string those = model_->overridable_constants().empty() ? "none" : "";
    for (const std::string& other : model_->overridable_constants()) {
      those += (those.empty() ? "" : ", ") + other;
    }
    return error(StatusCode::NotFound,
                 "'{}' cannot be given: it is no initialiser that the file lists among its inputs; "
                 "those are: {}",
                 name, those);
  }
  return {};
}

// 2. The other inputs are the model's.
Status GraphBuilder::add_inputs() {
  std::unordered_set<std::string_view> seen;
  for (const ParsedValue& input : graph_.inputs) {
    if (input.name.empty() || !seen.insert(input.name).second) {
      return error(StatusCode::ParseError, "graph '{}' has {} input '{}'", graph_.name,
                   input.name.empty() ? "an unnamed" : "twice the", input.name);
    }
    if (known_.contains(input.name)) continue;
    Result<TensorDesc> desc = declared_desc(input);
    if (!desc && outer_ != nullptr) desc = TensorDesc{};  // bodies may leave types open
    if (!desc) return desc.error().with_context(fmt::format("input '{}'", input.name));
    if (const auto found = defaults_.find(input.name); found != defaults_.end() && !input.shape) {
      desc->shape.assign(found->second->dims.begin(), found->second->dims.end());
    }
    HET_TRY(define(input.name, {model_->add_input(std::string(input.name), *desc), {}}));
    HET_TRY(apply_metadata(input, model_->inputs().size() - 1));
  }
  return {};
}

// 3. Nodes in topological order, in the order of the file where the graph leaves a choice.
Status GraphBuilder::sort_nodes() {
  const size_t count = graph_.nodes.size();
  reads_.resize(count);
  for (size_t i = 0; i < count; ++i) {
    const ParsedNode& node = graph_.nodes[i];
    if (node.op_type.empty()) {
      return error(StatusCode::ParseError, "node {} ('{}') of graph '{}' has no operator type", i,
                   node.name, graph_.name);
    }
    for (const std::string_view output : node.outputs) {
      if (output.empty()) continue;
      const auto [other, is_new] = producers_.emplace(output, i);
      if (!is_new || known_.contains(output)) {
        return error(StatusCode::ParseError, "value '{}' is defined twice, the second time by {}",
                     output, describe(node));
      }
    }
    reads_[i] = node.inputs;
    for (const ParsedAttribute& attribute : node.attributes) {
      if (attribute.graph) collect_reads(*attribute.graph, reads_[i]);
    }
    read_names_.insert(reads_[i].begin(), reads_[i].end());
    HET_TRY(check_shadowing(node));
  }
  for (const ParsedValue& output : graph_.outputs) read_names_.insert(output.name);

  std::vector<size_t> waiting(count, 0);
  std::vector<std::vector<size_t>> readers(count);
  for (size_t i = 0; i < count; ++i) {
    for (const std::string_view name : reads_[i]) {
      const auto producer = producers_.find(name);
      if (producer == producers_.end()) continue;
      readers[producer->second].push_back(i);
      ++waiting[i];
    }
  }
  order_ = file_order(readers, waiting);
  return order_.size() == count ? Status() : cycle_error(waiting);
}

Status GraphBuilder::cycle_error(const std::vector<size_t>& waiting) const {
  // Nodes behind a cycle wait too: going upstream from any of them ends in the cycle.
  size_t i = 0;
  while (waiting[i] == 0) ++i;
  std::unordered_set<size_t> seen;
  while (seen.insert(i).second) {
    for (const std::string_view name : reads_[i]) {
      const auto producer = producers_.find(name);
      if (producer == producers_.end() || waiting[producer->second] == 0) continue;
      i = producer->second;
      break;
    }
  }
  return error(StatusCode::ParseError,
               "graph '{}' has a cycle through {}: its inputs depend on its own outputs",
               graph_.name, describe(graph_.nodes[i]));
}

// 4. Nodes, lifted to the newest form of their operators.
Status GraphBuilder::add_nodes() {
  for (const size_t i : order_) {
    const ParsedNode& node = graph_.nodes[i];
    const bool is_default = is_default_domain(node.domain);
    const std::string_view alias =
        is_default && node.op_type == "Identity" ? find_own(node.metadata, kOutputKey) : "";
    const Status status = !alias.empty()                             ? add_output_alias(node, alias)
                          : is_default && node.op_type == "Constant" ? add_constant_node(node)
                                                                     : add_node(node);
    if (!status.ok()) return status.with_context(describe(node));
  }
  return {};
}

// 5. Outputs.
Status GraphBuilder::add_outputs() {
  if (graph_.outputs.empty()) {
    return error(StatusCode::ParseError, "graph '{}' has no outputs", graph_.name);
  }
  // A value may be listed twice, and is given twice then.
  for (const ParsedValue& output : graph_.outputs) {
    const Known* known = resolve(output.name);
    if (known == nullptr) {
      return error(StatusCode::ParseError,
                   "output '{}' of graph '{}' is not computed by any node of the file", output.name,
                   graph_.name);
    }
    if (known->value == nullptr) {
      return error(StatusCode::NotSupported, "output '{}': {}", output.name, known->reason);
    }
    if (!output.unsupported.empty() && outer_ == nullptr) {
      return error(StatusCode::NotSupported, "output '{}' is {}, only dense tensors are supported",
                   output.name, output.unsupported);
    }
    const auto renamed = output_names_.find(output.name);
    // Types of bodies are those of the node that has them.
    TensorDesc declared;
    if (outer_ == nullptr && output.shape && !output.shape->empty()) {
      declared = declared_desc(output).value_or(TensorDesc{});
    }
    model_->add_output(renamed == output_names_.end() ? std::string(output.name) : renamed->second,
                       known->value, std::move(declared));
  }
  return {};
}

Status GraphBuilder::check_shadowing(const ParsedNode& node) const {
  for (const GraphBuilder* graph = outer_; graph != nullptr; graph = graph->outer_) {
    for (const std::string_view output : node.outputs) {
      if (output.empty() || !graph->known_.contains(output)) continue;
      return error(StatusCode::ParseError,
                   "value '{}' of {} in graph '{}' has the name of a value of the graph around it, "
                   "which ONNX forbids",
                   output, describe(node), graph_.name);
    }
  }
  return {};
}

Status GraphBuilder::define(std::string_view name, Known known) {
  if (!known_.emplace(name, std::move(known)).second) {
    return error(StatusCode::ParseError, "value '{}' is defined twice in graph '{}'", name,
                 graph_.name);
  }
  return {};
}

const GraphBuilder::Known* GraphBuilder::resolve(std::string_view name) {
  const auto here = known_.find(name);
  if (here != known_.end()) return &here->second;
  const Known* outside = outer_ ? outer_->resolve(name) : nullptr;
  if (outside == nullptr) return nullptr;
  Known inside;
  inside.reason = outside->reason;
  if (outside->value && outside->value->is_constant()) {
    inside.value = model_->add_constant(std::string(name), outside->value->constant());
  } else if (outside->value) {
    inside.value = model_->add_input(std::string(name), outside->value->desc());
    captures_.emplace_back(outside->value, inside.value->name());
  }
  return &known_.emplace(name, std::move(inside)).first->second;
}

Status GraphBuilder::add_node(const ParsedNode& node) {
  PendingNode pending;
  pending.name = unique_node_name(node);
  pending.op_type = node.op_type;
  pending.domain = is_default_domain(node.domain) ? "" : node.domain;
  for (const std::string_view name : node.inputs) {
    if (name.empty()) {
      pending.inputs.push_back(nullptr);
      continue;
    }
    const Known* known = resolve(name);
    if (known == nullptr) {
      return error(StatusCode::ParseError,
                   "it reads '{}', which is no input, no initialiser and no output of another node",
                   name);
    }
    pending.inputs.push_back(known->value);
    if (known->value == nullptr) pending.unsupported_reason = known->reason;
  }
  while (!pending.inputs.empty() && pending.inputs.back() == nullptr) pending.inputs.pop_back();
  pending.outputs.assign(node.outputs.begin(), node.outputs.end());
  if (std::find(std::begin(kVariadicOutputs), std::end(kVariadicOutputs), node.op_type) ==
      std::end(kVariadicOutputs)) {
    while (!pending.outputs.empty() && pending.outputs.back().empty()) pending.outputs.pop_back();
  }
  // By name, so that the order of captures does not depend on the order in the file.
  std::vector<const ParsedAttribute*> attributes;
  for (const ParsedAttribute& attribute : node.attributes) attributes.push_back(&attribute);
  std::ranges::stable_sort(attributes, {}, &ParsedAttribute::name);
  for (const ParsedAttribute* attribute : attributes) HET_TRY(add_attribute(*attribute, pending));
  if (!pending.captures.empty()) {
    pending.attributes.set(std::string(kCapturesAttribute), pending.captures);
  }
  if (pending.unsupported_reason.empty()) {
    const int64_t opset = node.opset > 0 ? node.opset : file_.opset;
    LiftContext context(*model_, pending, opset, file_.float_type,
                        [this](std::string_view name) { return read_names_.contains(name); });
    lift(context);
  }
  // A long name is not repeated for every output.
  const std::string prefix = pending.name.size() <= kMaxPrefixBytes
                                 ? pending.name
                                 : fmt::format("node_{}", model_->nodes().size());
  for (size_t i = 0; i < pending.outputs.size(); ++i) {
    if (pending.outputs[i].empty()) pending.outputs[i] = fmt::format("{}/unused_{}", prefix, i);
  }
  Node* added = model_->add_node(pending.name, pending.op_type, pending.domain, pending.inputs,
                                 pending.outputs, std::move(pending.attributes));
  if (!pending.unsupported_reason.empty()) {
    model_->mark_unsupported(added, pending.unsupported_reason);
  }
  for (const auto& [index, value] : pending.bound_outputs) {
    if (!node.outputs[index].empty()) HET_TRY(define(node.outputs[index], {value, {}}));
  }
  apply_metadata(node, *added);
  // A rule may drop outputs, but only ones that nobody reads.
  for (size_t i = 0; i < node.outputs.size() && i < added->outputs().size(); ++i) {
    if (!node.outputs[i].empty()) HET_TRY(define(node.outputs[i], {added->outputs()[i], {}}));
  }
  return {};
}

Status GraphBuilder::add_constant_node(const ParsedNode& node) {
  if (node.outputs.size() != 1 || node.outputs[0].empty() || node.attributes.size() != 1) {
    return error(StatusCode::ParseError,
                 "a Constant has one output and one attribute, this one has {} and {}",
                 node.outputs.size(), node.attributes.size());
  }
  PendingNode pending;
  HET_TRY(add_attribute(node.attributes[0], pending));
  const std::string_view name = node.outputs[0];
  const Attribute* attribute = pending.attributes.find(node.attributes[0].name);
  Tensor content;
  if (attribute == nullptr) {
    return define(name, {nullptr, pending.unsupported_reason});
  } else if (const auto* tensor = std::get_if<Tensor>(attribute)) {
    content = *tensor;
  } else if (const auto* number = std::get_if<float>(attribute)) {
    content = Tensor::scalar(*number);
  } else if (const auto* integer = std::get_if<int64_t>(attribute)) {
    content = Tensor::scalar(*integer);
  } else if (const auto* numbers = std::get_if<std::vector<float>>(attribute)) {
    content = Tensor::from<float>({static_cast<int64_t>(numbers->size())}, *numbers);
  } else if (const auto* integers = std::get_if<std::vector<int64_t>>(attribute)) {
    content = Tensor::from<int64_t>({static_cast<int64_t>(integers->size())}, *integers);
  } else {
    return define(
        name, {nullptr, fmt::format("constant '{}' holds strings, which are not supported", name)});
  }
  return define(name, {model_->add_constant(std::string(name), std::move(content)), {}});
}

/// An Identity that only gives a model output its name, because the value has another one.
Status GraphBuilder::add_output_alias(const ParsedNode& node, std::string_view name) {
  const Known* known =
      node.inputs.size() == 1 && node.outputs.size() == 1 ? resolve(node.inputs[0]) : nullptr;
  if (known == nullptr) {
    return error(StatusCode::ParseError,
                 "the node that names output '{}' needs one output and one input that exists",
                 name);
  }
  output_names_[node.outputs[0]] = name;
  const Known copy = *known;
  return define(node.outputs[0], copy);
}

Status GraphBuilder::apply_metadata(const ParsedValue& input, size_t index) {
  Value* value = model_->inputs()[index].value;
  if (std::ranges::any_of(input.dim_names, [](std::string_view name) { return !name.empty(); })) {
    model_->set_dim_names(index, {input.dim_names.begin(), input.dim_names.end()});
  }
  if (const std::string_view text = find_own(input.metadata, kLayoutKey); !text.empty()) {
    TensorDesc desc = value->desc();
    HET_ASSIGN(desc.layout, parse_layout(text));
    if (desc.layout != Layout::Plain && desc.shape.size() != 4) {
      return error(StatusCode::ParseError, "input '{}' {} cannot have the layout {}", value->name(),
                   to_string(desc), text);
    }
    model_->set_desc(value, std::move(desc));
  }
  if (const std::string_view text = find_own(input.metadata, kPreprocessKey); !text.empty()) {
    auto preprocess = parse_preprocess(text);
    if (!preprocess)
      return preprocess.error().with_context(fmt::format("input '{}'", value->name()));
    model_->set_preprocess(index, *preprocess);
  }
  return {};
}

void GraphBuilder::apply_metadata(const ParsedNode& node, Node& added) {
  RtInfo info;
  for (const auto& [key, value] : node.metadata) {
    if (key == kAffinityKey) {
      info["affinity"] = value;
    } else if (key != "affinity" && !key.starts_with(kOwnPrefix) &&
               value.size() <= kMaxRtInfoBytes && file_.rt_info_bytes <= kMaxRtInfoBytesTotal) {
      file_.rt_info_bytes += key.size() + value.size();
      info.emplace(key, value);
    }
  }
  std::erase_if(info, [](const auto& pair) { return pair.second.empty(); });
  if (!info.empty()) added.set_rt_info(std::make_shared<const RtInfo>(std::move(info)));
  const std::string_view reason = find_own(node.metadata, kUnsupportedKey);
  if (!reason.empty()) model_->mark_unsupported(&added, std::string(reason));
  const std::string_view names = find_own(node.metadata, kOriginalNamesKey);
  if (!names.empty()) added.add_original_names(split_names(names));
}

Status GraphBuilder::add_attribute(const ParsedAttribute& attribute, PendingNode& pending) {
  if (attribute.name.empty() || pending.attributes.has(attribute.name) ||
      attribute.name == kCapturesAttribute) {
    return error(StatusCode::ParseError, "it has {} attribute '{}'",
                 attribute.name.empty() ? "an unnamed" : "twice (or a reserved)", attribute.name);
  }
  const std::string name(attribute.name);
  if (!attribute.function_attribute.empty()) {
    return error(StatusCode::ParseError,
                 "attribute '{}' refers to the attribute of a function, but is not in one", name);
  }
  switch (attribute.kind) {
    case AttributeKind::Float:
      pending.attributes.set(name, attribute.number);
      return {};
    case AttributeKind::Int:
      pending.attributes.set(name, attribute.integer);
      return {};
    case AttributeKind::String:
      pending.attributes.set(name, std::string(attribute.text));
      return {};
    case AttributeKind::Floats:
      pending.attributes.set(name, attribute.numbers);
      return {};
    case AttributeKind::Ints:
      pending.attributes.set(name, attribute.integers);
      return {};
    case AttributeKind::Strings:
      pending.attributes.set(
          name, std::vector<std::string>(attribute.texts.begin(), attribute.texts.end()));
      return {};
    case AttributeKind::Tensor: {
      if (!attribute.tensor) {
        return error(StatusCode::ParseError, "attribute '{}' has no tensor", name);
      }
      auto content = file_.tensors.read(*attribute.tensor);
      if (content) {
        pending.attributes.set(name, std::move(*content));
      } else if (content.error().code() == StatusCode::NotSupported) {
        pending.unsupported_reason =
            content.error().with_context(fmt::format("attribute '{}'", name)).message();
      } else {
        return content.error().with_context(fmt::format("attribute '{}'", name));
      }
      return {};
    }
    case AttributeKind::Graph:
      if (!attribute.graph) {
        return error(StatusCode::ParseError, "attribute '{}' has no graph", name);
      }
      return add_body(attribute, pending).with_context(fmt::format("body '{}'", name));
    case AttributeKind::Undefined:
      return error(StatusCode::ParseError, "attribute '{}' has neither type nor content", name);
    default:
      pending.unsupported_reason = fmt::format(
          "attribute '{}' is of kind {} (sparse tensor, type or list of tensors or "
          "graphs), which is not supported",
          name, static_cast<int64_t>(attribute.kind));
      return {};
  }
}

Status GraphBuilder::add_body(const ParsedAttribute& attribute, PendingNode& pending) {
  GraphBuilder body(file_, *attribute.graph, this);
  auto model = body.build();
  if (!model && model.error().code() == StatusCode::NotSupported) {
    pending.unsupported_reason =
        model.error().with_context(fmt::format("body '{}'", attribute.name)).message();
    return {};
  }
  if (!model) return model.error();
  if (attribute.name == "body") declare_outputs(*attribute.graph, pending.attributes);
  const size_t first = pending.inputs.size() - pending.captures.size();
  std::unordered_map<std::string, size_t> places;
  for (const std::string& name : pending.captures) places.emplace(name, first + places.size());
  for (const auto& [value, name] : body.captures()) {
    const auto [place, is_new] = places.emplace(name, pending.inputs.size());
    if (is_new) {
      pending.captures.push_back(name);
      pending.inputs.push_back(value);
    } else if (pending.inputs[place->second] != value) {
      return error(StatusCode::ParseError, "its bodies read two outer values as '{}'", name);
    }
  }
  pending.attributes.set(std::string(attribute.name), std::shared_ptr<Model>(std::move(*model)));
  return {};
}

std::string GraphBuilder::unique_node_name(const ParsedNode& node) {
  std::string name(node.name);
  for (size_t i = 0; name.empty() && i < node.outputs.size(); ++i) name = node.outputs[i];
  if (name.empty()) name = node.op_type;
  // Counting from the number of times the name was seen keeps many equal names cheap.
  size_t& uses = node_names_[name];
  if (++uses == 1) return name;
  std::string candidate;
  do {
    candidate = fmt::format("{}_{}", name, uses++);
  } while (node_names_.contains(candidate));
  node_names_[candidate] = 1;
  return candidate;
}

std::string GraphBuilder::describe(const ParsedNode& node) const {
  std::string_view name = node.name;
  for (size_t i = 0; name.empty() && i < node.outputs.size(); ++i) name = node.outputs[i];
  return fmt::format("node '{}' ({})", name, node.op_type);
}

}  // namespace het::onnx
