#include "inference/readers/onnx/functions.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "inference/readers/onnx/limits.h"

namespace het::onnx {
namespace {

using FunctionKey = std::tuple<std::string_view, std::string_view, std::string_view>;

std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

/// What the names of a function's value stand for at one call, or of one of its bodies.
struct Scope {
  const Scope* outer = nullptr;
  std::unordered_map<std::string_view, std::string_view> names;
  std::string prefix;

  const std::string_view* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
      const auto found = scope->names.find(name);
      if (found != scope->names.end()) return &found->second;
    }
    return nullptr;
  }
};

/// One use of a function.
struct Call {
  const ParsedNode* node;
  const ParsedFunction* function;
  int64_t opset;
};

class Expansion {
 public:
  Expansion(const std::vector<ParsedFunction>& functions, std::deque<std::string>& names)
      : made_names_(names) {
    for (const ParsedFunction& function : functions) {
      functions_.emplace(
          FunctionKey{plain_domain(function.domain), function.name, function.overload}, &function);
    }
  }

  /// Refuses what would give too many nodes before any is made.
  Status check_size(const ParsedGraph& graph);
  /// Names that must not be made again.
  void take_names(const ParsedGraph& graph);
  /// Calls in `nodes`, which belong to no function, and in their bodies.
  Status expand(std::vector<ParsedNode>& nodes, size_t depth);

 private:
  const ParsedFunction* find(const ParsedNode& node) const;
  /// How many nodes these become, at most kMaxNodes + 1.
  size_t expanded_count(const std::vector<ParsedNode>& nodes, size_t depth);
  Status expand_call(const ParsedNode& node, size_t depth, std::vector<ParsedNode>& result);
  Status bind(const Call& call, Scope& scope, std::vector<ParsedNode>& result);
  Status copy_node(const Call& call, const ParsedNode& node, const Scope& scope, size_t depth,
                   std::vector<ParsedNode>& result);
  Status copy_attribute(const Call& call, const ParsedAttribute& source, const Scope& scope,
                        size_t depth, std::vector<ParsedAttribute>& result);
  Status copy_graph(const Call& call, const ParsedGraph& source, const Scope& outer, size_t depth,
                    ParsedGraph& graph);
  Status count(size_t nodes, size_t objects, size_t numbers);
  /// A name for a value that nothing has yet.
  Result<std::string_view> make_name(const std::string& prefix, std::string_view name);
  Result<std::string_view> keep(std::string name);

  std::map<FunctionKey, const ParsedFunction*> functions_;
  std::deque<std::string>& made_names_;
  std::unordered_set<std::string_view> taken_;
  std::unordered_map<std::string, size_t> suffixes_;          ///< last one tried, by name
  std::unordered_map<std::string, size_t> prefixes_;          ///< calls, by name
  std::unordered_map<const ParsedFunction*, size_t> counts_;  ///< nodes that a call becomes
  std::vector<const ParsedFunction*> stack_;
  size_t name_bytes_ = 0;
  size_t nodes_ = 0;
  size_t objects_ = 0;
  size_t numbers_ = 0;
};

std::string describe(const ParsedFunction& function) {
  return fmt::format("function '{}{}{}{}{}'", function.domain, function.domain.empty() ? "" : ".",
                     function.name, function.overload.empty() ? "" : ":", function.overload);
}

std::string describe(const ParsedNode& node) {
  std::string_view name = node.name;
  for (size_t i = 0; name.empty() && i < node.outputs.size(); ++i) name = node.outputs[i];
  return fmt::format("node '{}' ({})", name, node.op_type);
}

void Expansion::take_names(const ParsedGraph& graph) {
  for (const ParsedValue& value : graph.inputs) taken_.insert(value.name);
  for (const ParsedTensor& tensor : graph.initializers) taken_.insert(tensor.name);
  for (const ParsedNode& node : graph.nodes) {
    taken_.insert(node.name);
    taken_.insert(node.outputs.begin(), node.outputs.end());
    for (const ParsedAttribute& attribute : node.attributes) {
      if (attribute.graph) take_names(*attribute.graph);
    }
  }
}

const ParsedFunction* Expansion::find(const ParsedNode& node) const {
  const auto found = functions_.find({plain_domain(node.domain), node.op_type, node.overload});
  return found == functions_.end() ? nullptr : found->second;
}

size_t Expansion::expanded_count(const std::vector<ParsedNode>& nodes, size_t depth) {
  size_t total = 0;
  for (const ParsedNode& node : nodes) {
    ++total;
    const ParsedFunction* function = find(node);
    if (function != nullptr && depth < kMaxCallDepth) {
      // Calls of itself count as nothing here: expanding refuses them.
      const auto [known, is_new] = counts_.emplace(function, 0);
      size_t calls = known->second;
      if (is_new) calls = counts_[function] = expanded_count(function->nodes, depth + 1);
      total += calls;
    }
    for (const ParsedAttribute& attribute : node.attributes) {
      if (attribute.graph) total += expanded_count(attribute.graph->nodes, depth);
    }
    if (total > kMaxNodes) return kMaxNodes + 1;
  }
  return total;
}

Status Expansion::check_size(const ParsedGraph& graph) {
  const size_t nodes = expanded_count(graph.nodes, 0);
  return nodes <= kMaxNodes ? Status() : count(nodes, 0, 0);
}

Status Expansion::count(size_t nodes, size_t objects, size_t numbers) {
  nodes_ += nodes;
  objects_ += objects;
  numbers_ += numbers;
  if (nodes_ <= kMaxNodes && objects_ <= kMaxObjects && numbers_ <= kMaxAttributeNumbers) return {};
  return error(StatusCode::OutOfMemory,
               "expanding its functions gives more than {} nodes, {} parts or {} numbers",
               kMaxNodes, kMaxObjects, kMaxAttributeNumbers);
}

Result<std::string_view> Expansion::make_name(const std::string& prefix, std::string_view name) {
  std::string candidate = fmt::format("{}/{}", prefix, name);
  if (taken_.contains(candidate)) {
    // Counting on from the last collision keeps many equal names cheap.
    size_t& suffix = suffixes_.emplace(candidate, 1).first->second;
    do {
      candidate = fmt::format("{}/{}_{}", prefix, name, ++suffix);
    } while (taken_.contains(candidate));
  }
  HET_ASSIGN(const std::string_view made, keep(std::move(candidate)));
  taken_.insert(made);
  return made;
}

Result<std::string_view> Expansion::keep(std::string candidate) {
  name_bytes_ += candidate.size();
  if (candidate.size() > kMaxNameBytes || name_bytes_ > kMaxMadeNameBytes) {
    return error(StatusCode::OutOfMemory,
                 "expanding its functions makes a name of {} bytes and names of {} bytes together, "
                 "more than {} or {}",
                 candidate.size(), name_bytes_, kMaxNameBytes, kMaxMadeNameBytes);
  }
  return made_names_.emplace_back(std::move(candidate));
}

Status Expansion::expand(std::vector<ParsedNode>& nodes, size_t depth) {
  std::vector<ParsedNode> result;
  for (ParsedNode& node : nodes) {
    if (find(node) == nullptr) {
      for (ParsedAttribute& attribute : node.attributes) {
        if (attribute.graph) HET_TRY(expand(attribute.graph->nodes, depth + 1));
      }
      result.push_back(std::move(node));
    } else {
      HET_TRY(expand_call(node, depth, result));
    }
  }
  nodes = std::move(result);
  return {};
}

/// The nodes of a call, appended to `result`; the call's own names and attributes are final.
Status Expansion::expand_call(const ParsedNode& node, size_t depth,
                              std::vector<ParsedNode>& result) {
  Call call{&node, find(node), 0};
  const ParsedFunction& function = *call.function;
  const auto context = [&] {
    return fmt::format("{}, which calls {}", describe(node), describe(function));
  };
  if (std::find(stack_.begin(), stack_.end(), &function) != stack_.end()) {
    return error(StatusCode::ParseError, "{}: the function calls itself", context());
  }
  if (stack_.size() == kMaxCallDepth) {
    return error(StatusCode::OutOfMemory, "{}: functions call each other deeper than {}", context(),
                 kMaxCallDepth);
  }
  const auto opset = function.opsets.find("");
  call.opset = opset == function.opsets.end() ? node.opset : opset->second;

  Scope scope;
  Status status = bind(call, scope, result);
  stack_.push_back(&function);
  for (size_t i = 0; status.ok() && i < function.nodes.size(); ++i) {
    status = copy_node(call, function.nodes[i], scope, depth, result);
  }
  stack_.pop_back();
  return status.with_context(context());
}

/// Names of the call for the function's inputs and outputs, made ones for what is inside.
Status Expansion::bind(const Call& call, Scope& scope, std::vector<ParsedNode>& result) {
  const ParsedNode& node = *call.node;
  const ParsedFunction& function = *call.function;
  if (node.inputs.size() > function.inputs.size() ||
      node.outputs.size() > function.outputs.size()) {
    return error(StatusCode::ParseError,
                 "it has {} inputs and {} outputs, the function takes {} and gives {}",
                 node.inputs.size(), node.outputs.size(), function.inputs.size(),
                 function.outputs.size());
  }
  std::string_view name = node.name;
  for (size_t i = 0; name.empty() && i < node.outputs.size(); ++i) name = node.outputs[i];
  scope.prefix = name.empty() ? node.op_type : name;
  const size_t uses = ++prefixes_[scope.prefix];
  if (uses > 1) scope.prefix += fmt::format("_{}", uses);

  std::unordered_set<std::string_view> computed;
  for (const ParsedNode& inner : function.nodes) {
    computed.insert(inner.outputs.begin(), inner.outputs.end());
  }
  for (size_t i = 0; i < function.inputs.size(); ++i) {
    const std::string_view given = i < node.inputs.size() ? node.inputs[i] : std::string_view();
    if (!scope.names.emplace(function.inputs[i], given).second ||
        computed.contains(function.inputs[i])) {
      return error(StatusCode::ParseError, "input '{}' of the function is defined twice",
                   function.inputs[i]);
    }
  }
  for (size_t i = 0; i < function.outputs.size(); ++i) {
    const std::string_view inner = function.outputs[i];
    const bool wanted = i < node.outputs.size() && !node.outputs[i].empty();
    const std::string_view* known = scope.find(inner);
    if (known == nullptr && !computed.contains(inner)) {
      return error(StatusCode::ParseError, "output '{}' of the function is not computed in it",
                   inner);
    }
    if (known == nullptr && wanted) {
      scope.names.emplace(inner, node.outputs[i]);
    } else if (wanted) {
      // An input that is handed through, or the same value as another output.
      HET_TRY(count(1, 1, 0));
      ParsedNode identity;
      identity.op_type = "Identity";
      HET_ASSIGN(identity.name, keep(fmt::format("{}/{}", scope.prefix, inner)));
      identity.inputs.push_back(*known);
      identity.outputs.push_back(node.outputs[i]);
      result.push_back(std::move(identity));
    }
  }
  for (const std::string_view inner : computed) {
    if (inner.empty() || scope.names.contains(inner)) continue;
    HET_ASSIGN(scope.names[inner], make_name(scope.prefix, inner));
  }
  return {};
}

Status Expansion::copy_node(const Call& call, const ParsedNode& node, const Scope& scope,
                            size_t depth, std::vector<ParsedNode>& result) {
  HET_TRY(count(1, 1 + node.inputs.size() + node.outputs.size(), 0));
  ParsedNode copy;
  copy.op_type = node.op_type;
  copy.domain = node.domain;
  copy.overload = node.overload;
  copy.opset = call.opset;
  std::string_view name = node.name;
  for (size_t i = 0; name.empty() && i < node.outputs.size(); ++i) name = node.outputs[i];
  HET_ASSIGN(copy.name,
             keep(fmt::format("{}/{}", scope.prefix, name.empty() ? node.op_type : name)));
  for (const std::string_view input : node.inputs) {
    const std::string_view* known = input.empty() ? nullptr : scope.find(input);
    if (known == nullptr && !input.empty()) {
      return error(StatusCode::ParseError,
                   "{} reads '{}', which is no input of the function and no output in it",
                   describe(node), input);
    }
    copy.inputs.push_back(known ? *known : std::string_view());
  }
  for (const std::string_view output : node.outputs) {
    const std::string_view* known = output.empty() ? nullptr : scope.find(output);
    copy.outputs.push_back(known ? *known : std::string_view());
  }
  for (const ParsedAttribute& attribute : node.attributes) {
    HET_TRY(copy_attribute(call, attribute, scope, depth, copy.attributes));
  }
  if (find(copy) != nullptr) return expand_call(copy, depth, result);
  result.push_back(std::move(copy));
  return {};
}

Status Expansion::copy_attribute(const Call& call, const ParsedAttribute& source,
                                 const Scope& scope, size_t depth,
                                 std::vector<ParsedAttribute>& result) {
  const ParsedAttribute* content = &source;
  if (!source.function_attribute.empty()) {
    const auto named = [&](const ParsedAttribute& a) {
      return a.name == source.function_attribute;
    };
    const auto& given = call.node->attributes;
    const auto& defaults = call.function->defaults;
    const auto found = std::find_if(given.begin(), given.end(), named);
    const auto fallback = std::find_if(defaults.begin(), defaults.end(), named);
    const bool of_call = found != given.end();
    if (!of_call && fallback == defaults.end()) return {};  // the operator's own default
    content = of_call ? &*found : &*fallback;
    if (content->graph) {
      return error(StatusCode::NotSupported,
                   "attribute '{}' hands a graph into the function, which is not supported",
                   content->name);
    }
  }
  // Typed fields of a tensor are read again for every call.
  const bool is_typed = content->tensor && !content->tensor->has_raw && !content->tensor->external;
  HET_TRY(count(0, 1 + content->texts.size(),
                content->integers.size() + content->numbers.size() +
                    (is_typed ? content->tensor->message.size() : 0)));
  ParsedAttribute copy;
  copy.name = source.name;
  copy.kind = content->kind;
  copy.number = content->number;
  copy.integer = content->integer;
  copy.text = content->text;
  copy.numbers = content->numbers;
  copy.integers = content->integers;
  copy.texts = content->texts;
  if (content->tensor) copy.tensor = std::make_unique<ParsedTensor>(*content->tensor);
  if (content->graph) {
    copy.graph = std::make_unique<ParsedGraph>();
    HET_TRY(copy_graph(call, *content->graph, scope, depth + 1, *copy.graph));
  }
  result.push_back(std::move(copy));
  return {};
}

Status Expansion::copy_graph(const Call& call, const ParsedGraph& source, const Scope& outer,
                             size_t depth, ParsedGraph& graph) {
  if (depth > kMaxDepth) {
    return error(StatusCode::OutOfMemory, "graphs are nested deeper than {}", kMaxDepth);
  }
  HET_TRY(
      count(0, 1 + source.inputs.size() + source.outputs.size() + source.initializers.size(), 0));
  Scope scope;
  scope.outer = &outer;
  scope.prefix = outer.prefix;
  const auto define = [&](std::string_view name) -> Status {
    if (name.empty() || scope.names.contains(name)) return {};
    HET_ASSIGN(scope.names[name], make_name(scope.prefix, name));
    return {};
  };
  for (const ParsedValue& input : source.inputs) HET_TRY(define(input.name));
  for (const ParsedTensor& tensor : source.initializers) HET_TRY(define(tensor.name));
  for (const ParsedNode& node : source.nodes) {
    for (const std::string_view output : node.outputs) HET_TRY(define(output));
  }
  graph.name = source.name;
  const auto renamed = [&](std::string_view name) {
    const std::string_view* known = scope.find(name);
    return known ? *known : name;
  };
  for (const ParsedValue& input : source.inputs) {
    graph.inputs.push_back(input);
    graph.inputs.back().name = renamed(input.name);
  }
  for (const ParsedValue& output : source.outputs) {
    graph.outputs.push_back(output);
    graph.outputs.back().name = renamed(output.name);
  }
  for (const ParsedTensor& tensor : source.initializers) {
    graph.initializers.push_back(tensor);
    graph.initializers.back().name = renamed(tensor.name);
  }
  for (const ParsedNode& node : source.nodes) {
    HET_TRY(copy_node(call, node, scope, depth, graph.nodes));
  }
  return {};
}

}  // namespace

Status expand_functions(ParsedModel& model, std::deque<std::string>& names) {
  if (model.functions.empty()) return {};
  Expansion expansion(model.functions, names);
  HET_TRY(expansion.check_size(model.graph));
  expansion.take_names(model.graph);
  return expansion.expand(model.graph.nodes, 0);
}

}  // namespace het::onnx
