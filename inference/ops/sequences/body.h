#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "inference/ops/op.h"

/// What If, Loop and Scan share: their bodies, and outputs that grow by one slice per iteration.
namespace het {

/// The attribute with the names of outer values that the bodies read: they are the last inputs of
/// the node, in this order, and inputs of the bodies by these names, behind the formal ones.
inline constexpr std::string_view kCapturesAttribute = "het.captures";
/// Types (ONNX' numbers, 0: unknown) and ranks (-1: unknown) that the file declares for the outputs
/// of the attribute `body`. Only read where nothing was computed to tell them.
inline constexpr std::string_view kBodyTypesAttribute = "het.body_types";
inline constexpr std::string_view kBodyRanksAttribute = "het.body_ranks";

/// Fails unless graph attribute `name` is there and its inputs are `formal` ones and captures.
Status check_body(const Node& node, std::string_view name, size_t formal);
/// Number of inputs that are not captures; fails when there are fewer inputs than captures.
Result<size_t> formal_input_count(const Node& node);
/// The body of a checked node.
const Model& body_of(const Node& node, std::string_view name);

/// A formal input of a body as far as it is known: {} when nothing is; `content` may be empty.
struct BodyInput {
  TensorDesc desc;
  Tensor content;
};

/// A copy of the body with types and shapes inferred, for the captures of `context` and these
/// formal inputs. Nodes that no device can run fail with NotSupported, naming the node; nodes that
/// refuse these shapes do not, since they may never run: their outputs stay undefined.
Result<std::unique_ptr<Model>> infer_body(const InferContext& context, std::string_view name,
                                          const std::vector<BodyInput>& formal);

/// Runs a body any number of times. It is planned once: values become slots, nodes that no output
/// needs are left out, tensors are freed after their last use, and what does not depend on the
/// formal inputs is computed in the first run only.
class BodyRunner {
 public:
  /// For a node whose infer() succeeded; `context` must outlive the runner.
  static Result<BodyRunner> create(const EvaluateContext& context, std::string_view name);

  size_t output_count() const { return outputs_.size(); }
  /// Type and rank of a formal input as the file declares them.
  const TensorDesc& declared_input(size_t index) const;
  /// Outputs may share memory with inputs and constants. Fails with Cancelled between two nodes.
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& formal);

 private:
  struct Step {
    const Node* node = nullptr;
    std::vector<size_t> inputs;
    std::vector<size_t> outputs;
    std::vector<size_t> last_uses;
    bool fixed = false;  ///< depends on constants and captures only
  };
  static constexpr size_t kOmitted = static_cast<size_t>(-1);

  BodyRunner(const EvaluateContext& context, const Model& body)
      : context_(&context), body_(&body) {}
  Status plan();
  void plan_lifetimes(const std::vector<bool>& lasting);
  Status run_step(const Step& step);

  const EvaluateContext* context_;
  const Model* body_;
  std::vector<Tensor> slots_;
  std::vector<size_t> formal_;
  std::vector<size_t> outputs_;
  std::vector<bool> lasting_;  ///< per slot: keeps its tensor between runs
  std::vector<Step> steps_;
  bool has_run_ = false;
};

/// Collects equal tensors, one per iteration, into one with an axis more.
class SliceStack {
 public:
  /// Fails when type or shape differ from the first one's, or above 4 GiB.
  Status push(const Tensor& slice);
  int64_t count() const { return count_; }
  const TensorDesc& slice_desc() const { return desc_; }
  /// Makes output `index` of the node. The new axis is at `axis` of the result (negative: from the
  /// end); `backwards` puts the first slice last. Without slices `empty` is the slices' desc.
  Status deliver(EvaluateContext& context, size_t index, int64_t axis, bool backwards,
                 const TensorDesc& empty) const;

 private:
  TensorDesc desc_;
  std::vector<std::byte> bytes_;
  int64_t count_ = 0;
};

/// What slices would look like that were never made: as infer_body() told, or of the declared type
/// with dimensions of 0. `output` counts the body's outputs.
Result<TensorDesc> absent_slice(const Node& node, size_t output, const TensorDesc& inferred);

/// What infer() would see with the inputs that evaluate() has.
InferContext inference_of(const EvaluateContext& context);

/// Copies a result into output `index`.
Status deliver_output(EvaluateContext& context, size_t index, const Tensor& result);

/// Fails with Cancelled when the caller asked for it.
Status check_cancelled(const EvaluateContext& context);

/// The value of a bool tensor of one element; `what` names it in the error.
Result<bool> read_condition(const Tensor& tensor, std::string_view what);

/// `shape` with a dimension put in at `axis` of the result.
Result<Shape> insert_dimension(const Shape& shape, int64_t axis, int64_t size);

}  // namespace het
