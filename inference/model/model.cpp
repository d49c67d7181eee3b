#include "inference/model/model.h"

#include <malloc.h>

#include <algorithm>
#include <charconv>
#include <unordered_map>
#include <unordered_set>

namespace het {
namespace {

/// Models with less in their constants leave little behind.
constexpr size_t kWorthTrimming = size_t{64} << 10;

}  // namespace

std::string Node::qualified_type() const {
  return domain_.empty() ? op_type_ : domain_ + "." + op_type_;
}

const RtInfo& Node::rt_info() const {
  static const RtInfo none;
  return rt_info_ ? *rt_info_ : none;
}

void Node::set_rt_info(std::string_view key, std::string value) {
  if (value.empty() && !rt_info().contains(key)) return;
  auto changed = std::make_shared<RtInfo>(rt_info());
  if (value.empty()) {
    changed->erase(std::string(key));
  } else {
    (*changed)[std::string(key)] = std::move(value);
  }
  rt_info_ = std::move(changed);
}

const std::string& Node::affinity() const {
  static const std::string none;
  const auto found = rt_info().find("affinity");
  return found == rt_info().end() ? none : found->second;
}

void Node::add_original_names(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::find(original_names_.begin(), original_names_.end(), name) == original_names_.end()) {
      original_names_.push_back(name);
    }
  }
}

Model::Model(std::string name) : name_(std::move(name)) {}

Model::~Model() {
  size_t constant_bytes = 0;
  for (const auto& value : values_) {
    if (value->is_constant()) constant_bytes += value->constant_.size_bytes();
  }
  if (constant_bytes < kWorthTrimming) return;
  values_by_name_.clear();
  values_.clear();
  nodes_.clear();
  // The allocator would keep nearly all of it: small weights and nodes lie between what stays.
  ::malloc_trim(0);
}

Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

std::unique_ptr<Model> Model::clone() const {
  auto copy = std::make_unique<Model>(name_);
  copy->metadata_ = metadata_;
  copy->overridable_constants_ = overridable_constants_;
  std::unordered_map<const Value*, Value*> values;
  std::unordered_map<const Node*, Node*> nodes;
  const auto mapped = [&](const Value* value) { return value ? values.at(value) : nullptr; };
  for (const auto& value : values_) {
    auto clone = std::make_unique<Value>(*value);
    values[value.get()] = clone.get();
    copy->values_by_name_[clone->name_] = clone.get();
    copy->values_.push_back(std::move(clone));
  }
  for (const auto& node : nodes_) {
    auto clone = std::make_unique<Node>(*node);
    for (Value*& input : clone->inputs_) input = mapped(input);
    for (Value*& output : clone->outputs_) output = mapped(output);
    // A library may have been loaded since the model was read.
    if (clone->op_ == nullptr) clone->op_ = Node::find_library_op(clone->domain_, clone->op_type_);
    nodes[node.get()] = clone.get();
    copy->nodes_.push_back(std::move(clone));
  }
  for (const auto& value : copy->values_) {
    if (value->producer_) value->producer_ = nodes.at(value->producer_);
    for (Node*& consumer : value->consumers_) consumer = nodes.at(consumer);
  }
  for (const ModelInput& input : inputs_) {
    copy->inputs_.push_back({mapped(input.value), input.preprocess, input.dim_names});
  }
  for (const ModelOutput& output : outputs_) {
    copy->outputs_.push_back({output.name, mapped(output.value), output.declared});
  }
  return copy;
}

bool Model::is_output(const Value* value) const {
  return std::ranges::any_of(outputs_,
                             [&](const ModelOutput& output) { return output.value == value; });
}

Value* Model::find_value(std::string_view name) const {
  const auto it = values_by_name_.find(name);
  return it == values_by_name_.end() ? nullptr : it->second;
}

Node* Model::find_node(std::string_view name) const {
  for (const auto& node : nodes_) {
    if (node->name_ == name) return node.get();
  }
  return nullptr;
}

std::string Model::unique_value_name(std::string name) const {
  if (name.empty()) name = "value";
  if (values_by_name_.find(name) == values_by_name_.end()) return name;
  for (size_t i = 2;; ++i) {
    std::string candidate = name + "_" + std::to_string(i);
    if (values_by_name_.find(candidate) == values_by_name_.end()) return candidate;
  }
}

Value* Model::add_input(std::string name, TensorDesc desc) {
  auto value = std::make_unique<Value>();
  value->name_ = unique_value_name(std::move(name));
  value->desc_ = std::move(desc);
  value->is_input_ = true;
  values_by_name_[value->name_] = value.get();
  inputs_.push_back({value.get(), std::nullopt, {}});
  values_.push_back(std::move(value));
  return values_.back().get();
}

Value* Model::add_constant(std::string name, Tensor content) {
  auto value = std::make_unique<Value>();
  value->name_ = unique_value_name(std::move(name));
  value->desc_ = content.desc();
  value->constant_ = std::move(content);
  values_by_name_[value->name_] = value.get();
  values_.push_back(std::move(value));
  return values_.back().get();
}

Node* Model::add_node(std::string name, std::string op_type, std::string domain,
                      std::vector<Value*> inputs, std::vector<std::string> output_names,
                      Attributes attributes) {
  auto node = std::make_unique<Node>();
  if (domain == "ai.onnx") domain.clear();
  node->op_ = Node::find_op(domain, op_type);
  node->op_type_ = std::move(op_type);
  node->domain_ = std::move(domain);
  node->attributes_ = std::move(attributes);
  for (Value* input : inputs) {
    if (input) input->consumers_.push_back(node.get());
  }
  node->inputs_ = std::move(inputs);
  for (std::string& output_name : output_names) {
    auto value = std::make_unique<Value>();
    value->name_ = unique_value_name(std::move(output_name));
    value->producer_ = node.get();
    value->producer_output_ = node->outputs_.size();
    values_by_name_[value->name_] = value.get();
    node->outputs_.push_back(value.get());
    values_.push_back(std::move(value));
  }
  if (name.empty()) {
    name = node->op_type_ + "_" + (node->outputs_.empty() ? "" : node->outputs_[0]->name_);
  }
  node->name_ = name;
  node->original_names_ = {std::move(name)};
  nodes_.push_back(std::move(node));
  return nodes_.back().get();
}

void Model::mark_unsupported(Node* node, std::string reason) {
  node->op_ = nullptr;
  node->unsupported_reason_ = std::move(reason);
}

void Model::add_output(std::string name, Value* value, TensorDesc declared) {
  outputs_.push_back({std::move(name), value, std::move(declared)});
}

void Model::set_output(size_t index, Value* value) {
  outputs_[index].value = value;
}

void Model::declare_output(size_t index, TensorDesc declared) {
  outputs_[index].declared = std::move(declared);
}

void Model::set_outputs(std::vector<ModelOutput> outputs) {
  outputs_ = std::move(outputs);
}

void Model::set_preprocess(size_t input_index, std::optional<PreprocessDesc> desc) {
  inputs_[input_index].preprocess = desc;
}

void Model::set_dim_names(size_t input_index, std::vector<std::string> names) {
  inputs_[input_index].dim_names = std::move(names);
}

void Model::set_desc(Value* value, TensorDesc desc) {
  value->desc_ = std::move(desc);
}

void Model::remove_use(Value* value, Node* node) {
  if (value == nullptr) return;
  const auto it = std::find(value->consumers_.begin(), value->consumers_.end(), node);
  if (it != value->consumers_.end()) value->consumers_.erase(it);
}

void Model::set_input(Node* node, size_t index, Value* value) {
  if (index >= node->inputs_.size()) node->inputs_.resize(index + 1, nullptr);
  remove_use(node->inputs_[index], node);
  node->inputs_[index] = value;
  if (value) value->consumers_.push_back(node);
}

void Model::make_constant(Value* value, Tensor content) {
  if (value->producer_ != nullptr) {
    // The producer keeps a fresh, unused output so that its arity stays what it was.
    auto unused = std::make_unique<Value>();
    unused->name_ = unique_value_name(value->name_ + "_folded");
    unused->desc_ = value->desc_;
    unused->producer_ = value->producer_;
    unused->producer_output_ = value->producer_output_;
    value->producer_->outputs_[value->producer_output_] = unused.get();
    values_by_name_[unused->name_] = unused.get();
    values_.push_back(std::move(unused));
    value->producer_ = nullptr;
    value->producer_output_ = 0;
  }
  value->desc_ = content.desc();
  value->constant_ = std::move(content);
}

void Model::replace_uses(Value* from, Value* to) {
  if (from == to) return;
  for (Node* consumer : from->consumers_) {
    for (Value*& input : consumer->inputs_) {
      if (input == from) input = to;
    }
    to->consumers_.push_back(consumer);
  }
  from->consumers_.clear();
  for (ModelOutput& output : outputs_) {
    if (output.value == from) output.value = to;
  }
}

void Model::remove_unused() {
  std::unordered_set<const Node*> live;
  std::unordered_set<const Value*> live_values;
  std::vector<const Value*> pending;
  for (const ModelOutput& output : outputs_) pending.push_back(output.value);
  for (const ModelInput& input : inputs_) live_values.insert(input.value);
  const auto keep = [&](const Node* node) {
    if (!live.insert(node).second) return;
    for (const Value* input : node->inputs_) {
      if (input) pending.push_back(input);
    }
    for (const Value* output : node->outputs_) live_values.insert(output);
  };
  for (const auto& node : nodes_) {
    if (node->domain_ == "het" && node->op_type_ == "Assign") keep(node.get());
  }
  while (!pending.empty()) {
    const Value* value = pending.back();
    pending.pop_back();
    live_values.insert(value);
    if (value->producer_ != nullptr) keep(value->producer_);
  }
  for (const auto& value : values_) {
    std::erase_if(value->consumers_, [&](const Node* n) { return live.count(n) == 0; });
  }
  std::erase_if(nodes_, [&](const auto& node) { return live.count(node.get()) == 0; });
  std::erase_if(values_, [&](const auto& value) {
    if (live_values.count(value.get()) > 0) return false;
    values_by_name_.erase(value->name_);
    return true;
  });
}

void Model::remove_node(Node* node) {
  for (Value* input : node->inputs_) remove_use(input, node);
  std::erase_if(values_, [&](const auto& value) {
    if (value->producer_ != node) return false;
    values_by_name_.erase(value->name_);
    return true;
  });
  std::erase_if(nodes_, [&](const auto& other) { return other.get() == node; });
}

Status Model::sort() {
  std::unordered_map<const Node*, size_t> waiting;  // inputs that are not computed yet
  std::unordered_map<const Node*, size_t> index;
  std::vector<size_t> ready;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const Node* node = nodes_[i].get();
    index[node] = i;
    size_t count = 0;
    for (const Value* input : node->inputs_) count += input && input->producer_ ? 1 : 0;
    waiting[node] = count;
    if (count == 0) ready.push_back(i);
  }
  // A heap by index keeps the order of the file where the graph leaves a choice.
  const auto later = std::greater<size_t>();
  std::make_heap(ready.begin(), ready.end(), later);
  std::vector<size_t> order;
  while (!ready.empty()) {
    std::pop_heap(ready.begin(), ready.end(), later);
    const size_t i = ready.back();
    ready.pop_back();
    order.push_back(i);
    for (const Value* output : nodes_[i]->outputs_) {
      for (const Node* consumer : output->consumers_) {
        if (--waiting[consumer] == 0) {
          ready.push_back(index.at(consumer));
          std::push_heap(ready.begin(), ready.end(), later);
        }
      }
    }
  }
  if (order.size() < nodes_.size()) {
    // Nodes behind a cycle wait too: going upstream from any of them ends in the cycle.
    const Node* node = nullptr;
    for (const auto& candidate : nodes_) {
      if (waiting.at(candidate.get()) > 0) node = candidate.get();
    }
    std::unordered_set<const Node*> seen;
    while (seen.insert(node).second) {
      for (const Value* input : node->inputs_) {
        if (input && input->producer_ && waiting.at(input->producer_) > 0) {
          node = input->producer_;
          break;
        }
      }
    }
    return error(StatusCode::ParseError,
                 "the graph of model '{}' has a cycle through node '{}' ({}); a model must be "
                 "acyclic",
                 name_, node->name(), node->qualified_type());
  }
  std::vector<std::unique_ptr<Node>> sorted;
  sorted.reserve(order.size());
  for (const size_t i : order) sorted.push_back(std::move(nodes_[i]));
  nodes_ = std::move(sorted);
  return {};
}

Status Model::reshape(const std::map<std::string, Shape>& input_shapes) {
  std::vector<std::pair<Value*, Shape>> changes;
  for (const auto& [name, shape] : input_shapes) {
    HET_ASSIGN(const size_t index, find_input(*this, name));
    Value* value = inputs_[index].value;
    Shape bound = shape;
    if (!value->desc_.shape.empty()) {
      if (shape.size() != value->desc_.shape.size()) {
        return error(StatusCode::ShapeMismatch,
                     "cannot reshape input '{}' of model '{}' from {} to {}: another number of "
                     "dimensions",
                     value->name_, name_, to_string(value->desc_.shape), to_string(shape));
      }
      for (size_t i = 0; i < bound.size(); ++i) {
        if (bound[i] == kUnknownDim) bound[i] = value->desc_.shape[i];
      }
    }
    changes.emplace_back(value, std::move(bound));
  }
  bool keeps_declared = true;
  for (auto& [value, shape] : changes) {
    const Shape& old = value->desc_.shape;
    for (size_t i = 0; i < old.size(); ++i) {
      keeps_declared = keeps_declared && (old[i] == kUnknownDim || old[i] == shape[i]);
    }
    value->desc_.shape = std::move(shape);
  }
  for (ModelOutput& output : outputs_) {
    if (!keeps_declared) output.declared = {};
  }
  for (const auto& node : nodes_) {
    for (Value* output : node->outputs_) output->desc_ = {};
  }
  return {};
}

namespace {

template <class Ports, class NameOf>
Result<size_t> find_port(const Ports& ports, std::string_view name, std::string_view kind,
                         std::string_view model, NameOf name_of) {
  std::string valid;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (name_of(ports[i]) == name) return i;
    valid += valid.empty() ? "'" : ", '";
    valid += name_of(ports[i]) + "'";
  }
  size_t index = 0;
  const auto [end, code] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (code == std::errc() && end == name.data() + name.size() && index < ports.size()) return index;
  return error(StatusCode::NotFound, "model '{}' has no {} '{}'; it has {}", model, kind, name,
               valid.empty() ? "none" : valid);
}

}  // namespace

Result<size_t> find_input(const Model& model, std::string_view name) {
  return find_port(model.inputs(), name, "input", model.name(),
                   [](const ModelInput& input) { return input.value->name(); });
}

Result<size_t> find_output(const Model& model, std::string_view name) {
  return find_port(model.outputs(), name, "output", model.name(),
                   [](const ModelOutput& output) { return output.name; });
}

}  // namespace het
