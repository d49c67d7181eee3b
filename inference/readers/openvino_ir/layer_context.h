#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/readers/openvino_ir/parsed_net.h"
#include "inference/readers/openvino_ir/weights.h"

namespace het::ir {

/// What all graphs of a file share.
struct FileContext {
  int64_t version = 0;  ///< of the IR
  Weights weights;
  ParseBudget budget;
  size_t made_bytes = 0;  ///< of constants and names that translations made up
};

/// How a body of control flow becomes a model in ONNX' form. The numbers are ids of its layers.
struct BodyPlan {
  /// Inputs of the model in this order: for loops the iteration (int64) and the condition (bool),
  /// the carried Parameters, then captured values.
  bool is_loop = false;
  std::vector<int64_t> carried;
  std::map<int64_t, std::string> captured;  ///< Parameter -> name of the captured value
  /// Captured Parameters of which an iteration sees one slice: the axis, and whether the last
  /// slice comes first.
  struct Part {
    int64_t axis = 0;
    bool backwards = false;
  };
  std::map<int64_t, Part> parts;
  std::optional<int64_t> iteration;  ///< the Parameter that is the number of the iteration
  /// Outputs: for loops the condition (true where it is not given), then these Results.
  std::optional<int64_t> condition;
  std::vector<int64_t> results;
};

/// What a graph under construction offers to the translations of its layers.
struct GraphContext {
  FileContext& file;
  Model& model;
  std::function<Result<std::shared_ptr<Model>>(const pugi::xml_node&, const BodyPlan&)> build_body;
  std::unordered_map<std::string, size_t> node_names;
  std::unordered_map<std::string, size_t> value_names;

  std::string unique_node_name(std::string name) { return unique(node_names, std::move(name)); }
  /// The Model makes names unique as well, but searches from "_2" on each time.
  std::string unique_value_name(std::string name) { return unique(value_names, std::move(name)); }
  static std::string unique(std::unordered_map<std::string, size_t>& names, std::string name);
};

/// What a translation works with: one layer of the file, on its way into the model as nodes. The
/// attribute readers never fail: the first bad attribute is remembered, and the layer's translation
/// fails with it afterwards.
class LayerContext {
 public:
  /// `inputs` are the values at the layer's input ports, `sources` the ports that feed them (null:
  /// not connected); `output_names` has a name per output port.
  LayerContext(GraphContext& graph, const ParsedLayer& layer, std::vector<Value*> inputs,
               std::vector<const ParsedPort*> sources, std::vector<std::string> output_names);

  const ParsedLayer& layer() const { return layer_; }
  GraphContext& graph() { return graph_; }
  /// 8 for "opset8"; 0 for what is no numbered opset.
  int64_t opset() const;

  size_t input_count() const { return inputs_.size(); }
  Value* input(size_t index) const { return index < inputs_.size() ? inputs_[index] : nullptr; }
  bool has_input(size_t index) const { return input(index) != nullptr; }
  size_t output_count() const { return layer_.outputs.size(); }
  /// Shape of an input or output as the file declares it. Later shapes may differ in size, not in
  /// rank.
  const Shape& input_shape(size_t index) const;
  const Shape& output_shape(size_t index) const;
  int64_t input_rank(size_t index) const { return static_cast<int64_t>(input_shape(index).size()); }
  /// Type as declared; Undefined when the file does not say.
  ElementType input_type(size_t index) const;
  ElementType output_type(size_t index) const;

  // Attributes.
  bool has(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t fallback);
  float real(std::string_view name, float fallback);
  bool flag(std::string_view name, bool fallback);
  std::string text(std::string_view name, std::string_view fallback) const;
  std::vector<int64_t> integers(std::string_view name);
  std::vector<float> reals(std::string_view name);
  Shape dims(std::string_view name);
  /// An element type, "i64" by default for instance. Half precision of IR 10 is float32.
  ElementType type(std::string_view name, std::string_view fallback);

  // Content of inputs that are constants or constants converted, of any shape; nullopt when they
  // are computed or hold more than kMaxListContent.
  std::optional<std::vector<int64_t>> constant_integers(size_t index) const;
  std::optional<std::vector<float>> constant_reals(size_t index) const;
  /// The same, but the translation cannot do without: refuses the layer and returns an empty list.
  std::vector<int64_t> required_integers(size_t index, std::string_view what);
  /// An input whose numbers are places, in a type that ONNX has for them.
  Value* indices(size_t index);
  /// Every input of input 0's type is converted to `type`, and what finish() ends with back, floats
  /// to the nearest integer: for types that OpenVINO computes and ONNX does not.
  void compute_in(ElementType type);
  /// An axis attribute or input, counted from the front.
  int64_t normalized(int64_t axis, int64_t rank);

  // Building: constants and nodes in front of the layer's own.
  Value* constant(std::string_view suffix, Tensor content);
  Value* integers_constant(std::string_view suffix, const std::vector<int64_t>& values);
  Value* scalar(std::string_view suffix, ElementType type, double value);
  /// The value as one-dimensional int64, which ONNX wants of axes, shapes and repeats.
  Value* integer_list(Value* value);
  Value* cast(Value* value, ElementType type);
  Value* reshaped(Value* value, const std::vector<int64_t>& shape);
  Value* transposed(Value* value, const std::vector<int64_t>& order);
  Value* unsqueezed(Value* value, const std::vector<int64_t>& axes);
  Value* add(std::string op_type, std::vector<Value*> inputs, Attributes attributes = {},
             std::string_view domain = "");
  std::vector<Value*> add_many(std::string op_type, std::vector<Value*> inputs, size_t outputs,
                               Attributes attributes = {}, std::string_view domain = "");

  // The last step: the node that has the layer's name and outputs.
  void finish(std::string op_type, std::vector<Value*> inputs, Attributes attributes = {},
              std::string_view domain = "");
  /// One output of a layer whose outputs come from several nodes.
  void finish_output(size_t index, std::string op_type, std::vector<Value*> inputs,
                     Attributes attributes = {});
  /// The output is a value that exists already.
  void set_output(size_t index, Value* value);

  /// Says that the layer cannot be expressed: it becomes a node that no device runs.
  void refuse(std::string reason);
  /// Says that the file is malformed here.
  void fail(Status status);
  const Status& status() const { return status_; }
  const std::string& refusal() const { return refusal_; }
  /// One per output port; null where the translation set none.
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// Keeps a refused layer in the model, so that query can show it.
  void finish_refused(std::string reason);

 private:
  std::optional<std::string_view> attribute(std::string_view name) const;
  template <class T, class Parse>
  T read(std::string_view name, T fallback, Parse parse);
  Node* add_node(std::string name, std::string op_type, std::vector<Value*> inputs,
                 std::vector<std::string> outputs, Attributes attributes, std::string_view domain);
  ElementType declared_type(std::string_view precision) const;
  /// Counts what translations make up: constants and names. Fails the layer above the limit.
  void charge(size_t bytes);

  GraphContext& graph_;
  const ParsedLayer& layer_;
  std::vector<Value*> inputs_;
  std::vector<const ParsedPort*> sources_;
  std::vector<ElementType> converted_;  ///< types of inputs that compute_in() has converted
  ElementType result_type_ = ElementType::Undefined;  ///< what finish() converts to, if any
  std::vector<std::string> output_names_;
  std::vector<Value*> outputs_;
  const Shape no_shape_;  ///< of ports that do not exist
  Status status_;
  std::string refusal_;
  bool named_ = false;  ///< a node has the layer's own name
};

}  // namespace het::ir
