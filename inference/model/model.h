#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/attributes.h"
#include "inference/preprocess/preprocess.h"
#include "inference/tensors/tensor.h"

namespace het {

class Node;
struct OpDef;

/// An edge of the graph: a model input, a constant, or one output of a node. Owned by its Model,
/// which is also the only one to change it.
class HET_API Value {
 public:
  const std::string& name() const { return name_; }
  /// Type and shape as far as known; see passes/infer_shapes.
  const TensorDesc& desc() const { return desc_; }
  /// The node that computes it; null for model inputs and constants.
  Node* producer() const { return producer_; }
  size_t producer_output() const { return producer_output_; }
  /// One entry per use, so a node that reads the value twice is listed twice.
  const std::vector<Node*>& consumers() const { return consumers_; }
  bool is_constant() const { return !constant_.empty(); }
  bool is_input() const { return is_input_; }
  /// The content of a constant; dense host memory.
  const Tensor& constant() const { return constant_; }

 private:
  friend class Model;
  std::string name_;
  TensorDesc desc_;
  Node* producer_ = nullptr;
  size_t producer_output_ = 0;
  std::vector<Node*> consumers_;
  Tensor constant_;
  bool is_input_ = false;
};

/// Runtime information of a node, as OpenVINO calls it: key/value pairs that its file has
/// (`rt_info` of an IR's layer, metadata_props of an ONNX node) or somebody has set.
using RtInfo = std::map<std::string, std::string, std::less<>>;

/// A vertex of the graph: one operator application. Owned by its Model.
class HET_API Node {
 public:
  const std::string& name() const { return name_; }
  const std::string& op_type() const { return op_type_; }
  const std::string& domain() const { return domain_; }
  /// "Conv", or "com.microsoft.QLinearAdd" outside the default domain.
  std::string qualified_type() const;
  /// Semantics from the operator registry; null when the operator is unknown or the node cannot be
  /// expressed.
  const OpDef* op() const { return op_; }
  /// Why op() is null, for users to read; empty when it is not.
  std::string unsupported_reason() const;
  /// A null entry is an omitted optional input.
  const std::vector<Value*>& inputs() const { return inputs_; }
  const std::vector<Value*>& outputs() const { return outputs_; }
  /// The value at an input position, or null when omitted or beyond the end.
  Value* input(size_t index) const { return index < inputs_.size() ? inputs_[index] : nullptr; }
  Value* output(size_t index = 0) const {
    return index < outputs_.size() ? outputs_[index] : nullptr;
  }
  const Attributes& attributes() const { return attributes_; }
  Attributes& attributes() { return attributes_; }
  const RtInfo& rt_info() const;
  /// An empty value removes the key.
  void set_rt_info(std::string_view key, std::string value);
  /// For nodes that have the same.
  void set_rt_info(std::shared_ptr<const RtInfo> all) { rt_info_ = std::move(all); }
  /// Device wish of the user, empty when none: "GPU", "CPU" ... It is rt_info()["affinity"].
  const std::string& affinity() const;
  void set_affinity(std::string device) { set_rt_info("affinity", std::move(device)); }
  /// Names of the nodes of the file that this node stands for after fusions; its own at first.
  const std::vector<std::string>& original_names() const { return original_names_; }
  void add_original_names(const std::vector<std::string>& names);

 private:
  friend class Model;
  /// An operator of this build or of a user's library; null when there is none.
  static const OpDef* find_op(std::string_view domain, std::string_view type);
  /// One of a user's library alone.
  static const OpDef* find_library_op(std::string_view domain, std::string_view type);

  std::string name_;
  std::string op_type_;
  std::string domain_;
  const OpDef* op_ = nullptr;
  std::string unsupported_reason_;
  std::vector<Value*> inputs_;
  std::vector<Value*> outputs_;
  Attributes attributes_;
  std::shared_ptr<const RtInfo> rt_info_;  ///< null when empty; copies of a node share it
  std::vector<std::string> original_names_;
};

/// A model input: its value and how pictures get into it, once somebody has said so.
struct ModelInput {
  Value* value = nullptr;
  std::optional<PreprocessDesc> preprocess;
  /// Names that the file gives its unknown dimensions ("batch", "height"), one per dimension of the
  /// shape, empty where it has none; empty altogether when no dimension has one.
  std::vector<std::string> dim_names = {};
};

/// A model output. Its name survives rewrites that replace the value.
struct ModelOutput {
  std::string name;
  Value* value = nullptr;
  /// What the file says of it, for outputs that are sized at run time: of type Undefined where it
  /// says nothing, or where it does not hold any more.
  TensorDesc declared = {};
};

/// The graph of a network, device-neutral. Movable, not copyable (clone() is explicit).
/// Thread-compatible: const calls may run concurrently, changes need exclusive access.
class HET_API Model {
 public:
  explicit Model(std::string name = "model");
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  std::unique_ptr<Model> clone() const;

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  /// Free-form key/value pairs of the file (ONNX metadata_props, IR rt_info).
  std::map<std::string, std::string>& metadata() { return metadata_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  /// Constants that the file lists among its inputs, so that they may be given: read_onnx() makes
  /// those inputs that it is told to. ONNX Runtime calls them overridable initialisers.
  const std::vector<std::string>& overridable_constants() const { return overridable_constants_; }
  void add_overridable_constant(std::string name) {
    overridable_constants_.push_back(std::move(name));
  }

  const std::vector<ModelInput>& inputs() const { return inputs_; }
  const std::vector<ModelOutput>& outputs() const { return outputs_; }
  bool is_output(const Value* value) const;
  /// In the order of the last sort(); new nodes come last.
  const std::vector<std::unique_ptr<Node>>& nodes() const { return nodes_; }
  const std::vector<std::unique_ptr<Value>>& values() const { return values_; }
  Value* find_value(std::string_view name) const;
  Node* find_node(std::string_view name) const;

  /// Names are made unique by appending "_2", "_3" ... where they are taken or empty.
  Value* add_input(std::string name, TensorDesc desc);
  Value* add_constant(std::string name, Tensor content);
  /// Creates the node with `output_names.size()` new output values and looks its operator up.
  Node* add_node(std::string name, std::string op_type, std::string domain,
                 std::vector<Value*> inputs, std::vector<std::string> output_names,
                 Attributes attributes = {});
  /// For a node whose operator is known, but which the model cannot hold as the file has it (a
  /// string tensor, a missing translation): op() becomes null, so that no device runs it.
  void mark_unsupported(Node* node, std::string reason);
  void add_output(std::string name, Value* value, TensorDesc declared = {});
  void set_output(size_t index, Value* value);
  void declare_output(size_t index, TensorDesc declared);
  /// Replaces all outputs; remove_unused() then drops what only the old ones needed.
  void set_outputs(std::vector<ModelOutput> outputs);
  void set_preprocess(size_t input_index, std::optional<PreprocessDesc> desc);
  void set_dim_names(size_t input_index, std::vector<std::string> names);

  void set_desc(Value* value, TensorDesc desc);
  void set_input(Node* node, size_t index, Value* value);
  /// Turns a node's output into a constant with this content; the node is left without that use.
  void make_constant(Value* value, Tensor content);
  /// Every consumer and model output of `from` reads `to` instead.
  void replace_uses(Value* from, Value* to);
  /// Removes nodes and constants that no model output and no stored state (Assign of the domain
  /// het) depends on. Inputs stay.
  void remove_unused();
  /// Removes a node whose outputs nobody uses; its inputs stay.
  void remove_node(Node* node);
  /// Orders nodes so that producers come first; fails on a cycle and names a node on it.
  Status sort();

  /// Binds input shapes; kUnknownDim keeps the dimension of the file. Old inferred shapes are
  /// forgotten, and what the file declares of outputs where a known dimension changes. Fails when a
  /// name is unknown or a fixed dimension of the file is contradicted in rank.
  Status reshape(const std::map<std::string, Shape>& input_shapes);

 private:
  std::string unique_value_name(std::string name) const;
  void remove_use(Value* value, Node* node);

  std::string name_;
  std::map<std::string, std::string> metadata_;
  std::vector<std::string> overridable_constants_;
  std::vector<ModelInput> inputs_;
  std::vector<ModelOutput> outputs_;
  std::vector<std::unique_ptr<Node>> nodes_;
  std::vector<std::unique_ptr<Value>> values_;
  std::map<std::string, Value*, std::less<>> values_by_name_;
};

/// Index of the input or output with this name; accepts a decimal index too.
HET_API Result<size_t> find_input(const Model& model, std::string_view name);
HET_API Result<size_t> find_output(const Model& model, std::string_view name);

}  // namespace het
