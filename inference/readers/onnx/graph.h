#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/readers/onnx/lift.h"
#include "inference/readers/onnx/parsed_model.h"
#include "inference/readers/onnx/tensor.h"

namespace het::onnx {

/// The opset whose forms the lift rules produce.
inline constexpr int64_t kNewestOpset = 27;

/// What all graphs of a file share.
struct FileContext {
  std::string origin;
  int64_t opset = 0;       ///< of the default domain
  ElementType float_type;  ///< the only floating-point type in the file, or Undefined
  TensorReader tensors;
  std::set<std::string, std::less<>> overridden;  ///< initialisers that stay inputs
  size_t rt_info_bytes = 0;                       ///< of all nodes
};

/// Turns one parsed graph into a Model, in numbered steps; bodies of control flow are built by a
/// builder of their own that asks the outer one for the values it does not know.
class GraphBuilder {
 public:
  GraphBuilder(FileContext& file, const ParsedGraph& graph, GraphBuilder* outer);

  /// Fails with ParseError on names that are defined twice or not at all and on cycles, with
  /// NotSupported on inputs and outputs that are no dense tensors.
  Result<std::unique_ptr<Model>> build();
  /// Values of outer graphs that this body reads and the names of its inputs for them.
  const std::vector<std::pair<Value*, std::string>>& captures() const { return captures_; }

 private:
  /// What a name of the file stands for.
  struct Known {
    Value* value = nullptr;  ///< null: no dense tensor, for `reason`
    std::string reason;
  };

  // The steps of build().
  Status add_initializers();
  Status add_inputs();
  Status sort_nodes();
  Status add_nodes();
  Status add_outputs();

  Status define(std::string_view name, Known known);
  /// Fails when a body computes a value whose name an outer graph has.
  Status check_shadowing(const ParsedNode& node) const;
  /// Looks in this graph, then outwards; null when nobody defines the name.
  const Known* resolve(std::string_view name);
  Status add_node(const ParsedNode& node);
  Status add_constant_node(const ParsedNode& node);
  Status add_output_alias(const ParsedNode& node, std::string_view name);
  Status apply_metadata(const ParsedValue& input, size_t index);
  void apply_metadata(const ParsedNode& node, Node& added);
  Status add_attribute(const ParsedAttribute& attribute, PendingNode& pending);
  Status add_body(const ParsedAttribute& attribute, PendingNode& pending);
  std::string unique_node_name(const ParsedNode& node);
  std::string describe(const ParsedNode& node) const;
  Status cycle_error(const std::vector<size_t>& waiting) const;

  FileContext& file_;
  const ParsedGraph& graph_;
  GraphBuilder* outer_;
  std::unique_ptr<Model> model_;
  std::unordered_map<std::string_view, Known> known_;
  std::unordered_map<std::string_view, const ParsedTensor*> defaults_;  ///< of overridden inputs
  std::unordered_map<std::string_view, std::string> output_names_;      ///< other than the file's
  std::unordered_map<std::string_view, size_t> producers_;              ///< value -> node of graph_
  std::vector<std::vector<std::string_view>> reads_;  ///< per node, bodies included
  std::unordered_set<std::string_view> read_names_;
  std::vector<size_t> order_;
  std::unordered_map<std::string, size_t> node_names_;
  std::vector<std::pair<Value*, std::string>> captures_;
};

/// The only floating-point type of initialisers, inputs, constants and casts, or Undefined.
ElementType only_float_type(const ParsedGraph& graph);

}  // namespace het::onnx
