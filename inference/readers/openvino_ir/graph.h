#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "inference/base/status.h"
#include "inference/readers/openvino_ir/layer_context.h"
#include "inference/readers/openvino_ir/parsed_net.h"

namespace het::ir {

/// Turns one parsed graph into a Model, in numbered steps; bodies of control flow are built by a
/// builder of their own.
class GraphBuilder {
 public:
  /// `plan` is null for the file's own graph.
  GraphBuilder(FileContext& file, const ParsedNet& net, const BodyPlan* plan, size_t depth);

  /// Fails with ParseError on ids that are used twice, edges that lead nowhere, layers without
  /// outputs and cycles; NotSupported when an input of the model is no numeric tensor.
  Result<std::unique_ptr<Model>> build();

 private:
  using PortKey = std::pair<size_t, int64_t>;  ///< index of the layer, id of the port

  // The steps of build().
  Status index_layers();
  Status connect_ports();
  Status sort_layers();
  Status add_inputs();
  Status add_layers();
  Status add_results();

  Status add_planned_inputs();
  Status add_planned_results();
  Status add_layer(size_t index);
  Status add_parameter(size_t index);
  Result<TensorDesc> parameter_desc(const ParsedLayer& layer);
  /// The slice of a captured value that an iteration sees.
  Value* add_part(const ParsedLayer& layer, Value* whole, const BodyPlan::Part& part);
  Result<Value*> result_value(size_t index, std::string* name, TensorDesc* declared = nullptr);
  Result<size_t> planned_layer(int64_t id, std::string_view type) const;
  Status add_constant(size_t index);
  std::string tensor_name(const ParsedLayer& layer, size_t output) const;
  std::string describe(const ParsedLayer& layer) const;

  FileContext& file_;
  const ParsedNet& net_;
  const BodyPlan* plan_;
  size_t depth_;
  std::unique_ptr<Model> model_;
  GraphContext graph_;
  std::unordered_map<int64_t, size_t> layers_;  ///< id -> index
  std::map<PortKey, PortKey> sources_;          ///< input port -> output port that feeds it
  std::vector<size_t> order_;
  std::map<PortKey, Value*> values_;  ///< per output port
};

}  // namespace het::ir
