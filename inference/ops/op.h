#pragma once

#include <atomic>
#include <cstddef>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"
#include "inference/tensors/tensor.h"

namespace het {

/// What an operator's infer function sees: the node, its input types and shapes (all static) and
/// the inputs whose content is known.
class HET_API InferContext {
 public:
  /// `constants[i]` is null or the content of input i; both vectors have one entry per input.
  /// `evaluates`: evaluate() follows at once.
  InferContext(const Node& node, std::vector<const TensorDesc*> inputs,
               std::vector<const Tensor*> constants, bool evaluates = false);

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes(); }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  /// False for an omitted optional input and beyond the end.
  bool has_input(size_t index) const { return index < inputs_.size() && inputs_[index] != nullptr; }
  const TensorDesc& input(size_t index) const { return *inputs_[index]; }
  const Shape& shape(size_t index) const { return inputs_[index]->shape; }
  ElementType type(size_t index) const { return inputs_[index]->type; }
  int64_t rank(size_t index) const { return static_cast<int64_t>(inputs_[index]->shape.size()); }
  /// Content of an input, null while unknown. When an output shape needs it and it is unknown, the
  /// function leaves that output's shape unset: it is then sized at run time.
  const Tensor* constant(size_t index) const {
    return index < constants_.size() ? constants_[index] : nullptr;
  }

  /// True when evaluate() follows at once with these inputs: what only serves planning, such as
  /// walking through bodies, can be left out.
  bool evaluates() const { return evaluates_; }

  /// Ignored beyond the node's outputs, so operators set optional outputs unconditionally.
  void set_output(size_t index, ElementType type, Shape shape);
  /// Says that not even the type of an output can be told before it is computed (control flow).
  void leave_open(size_t index);
  /// Whether the operator said anything about an output.
  bool is_set(size_t index) const { return is_set_[index]; }
  const std::vector<TensorDesc>& outputs() const { return outputs_; }

 private:
  const Node& node_;
  std::vector<const TensorDesc*> inputs_;
  std::vector<const Tensor*> constants_;
  std::vector<TensorDesc> outputs_;
  std::vector<bool> is_set_;
  bool evaluates_;
};

/// What an operator's evaluate function sees: dense host tensors. Outputs whose shape infer()
/// could tell are allocated already; the others are allocated by the operator.
class HET_API EvaluateContext {
 public:
  EvaluateContext(const Node& node, std::vector<const Tensor*> inputs, std::vector<Tensor> outputs,
                  const std::atomic<bool>* cancelled = nullptr);

  const Node& node() const { return node_; }
  const Attributes& attributes() const { return node_.attributes(); }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  bool has_input(size_t index) const { return index < inputs_.size() && inputs_[index] != nullptr; }
  const Tensor& input(size_t index) const { return *inputs_[index]; }
  /// False for an output that nobody reads; operators skip it.
  bool has_output(size_t index) const { return index < outputs_.size(); }
  Tensor& output(size_t index) { return outputs_[index]; }
  /// Allocates an output whose shape depends on the data.
  Status allocate_output(size_t index, ElementType type, Shape shape);
  std::vector<Tensor>& outputs() { return outputs_; }
  /// Set when the caller wants an end; null when it cannot. Operators whose work has no bound ask
  /// now and then, and return Cancelled.
  const std::atomic<bool>* cancelled() const { return cancelled_; }

 private:
  const Node& node_;
  std::vector<const Tensor*> inputs_;
  std::vector<Tensor> outputs_;
  const std::atomic<bool>* cancelled_;
};

/// An operator kind: plain data and two functions, made once by its register function.
struct OpDef {
  std::string_view type;
  std::string_view domain;  ///< "" for ai.onnx, "com.microsoft", "het"
  int since_version = 1;    ///< opset whose semantics are implemented (the newest that changed it)
  size_t min_inputs = 0;
  size_t max_inputs = 0;  ///< kVariadic: any number
  /// Checks attributes, types and shapes; sets every output's type and, where it does not depend
  /// on unknown content, shape.
  Status (*infer)(InferContext& context) = nullptr;
  /// The reference: plain loops that follow the definition, accumulating in double or float as
  /// stated there. Called after a successful infer() with the same inputs.
  Status (*evaluate)(EvaluateContext& context) = nullptr;
};

inline constexpr size_t kVariadic = static_cast<size_t>(-1);

/// Collects OpDefs; filled by plain calls generated from the meson list.
class HET_API OpRegistry {
 public:
  void add(const OpDef& def);
  /// Null when the operator is unknown. "ai.onnx" is the same as "".
  const OpDef* find(std::string_view domain, std::string_view type) const;
  std::vector<const OpDef*> all() const;

 private:
  std::vector<std::unique_ptr<OpDef>> defs_;
};

/// Every operator of this build; made at first use, never changed afterwards. Thread-safe.
HET_API const OpRegistry& op_registry();

/// Checks the number of inputs, runs infer() and returns the output descriptions.
HET_API Result<std::vector<TensorDesc>> infer_node(const Node& node,
                                                   std::vector<const TensorDesc*> inputs,
                                                   std::vector<const Tensor*> constants);

/// Infers with the actual inputs (null = omitted), allocates what can be sized and evaluates; the
/// one way to run a reference. `preallocated` may give output tensors (empty ones are allocated);
/// `cancelled` ends loops early.
HET_API Result<std::vector<Tensor>> evaluate_node(const Node& node,
                                                  const std::vector<const Tensor*>& inputs,
                                                  std::vector<Tensor> preallocated = {},
                                                  const std::atomic<bool>* cancelled = nullptr);

}  // namespace het
