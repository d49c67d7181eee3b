#pragma once

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "devices/cpu/formats/packed_constants.h"
#include "devices/cpu/plan/layer_choice.h"
#include "devices/cpu/plan/plan.h"
#include "inference/base/status.h"
#include "inference/devices/operator_table.h"
#include "inference/model/model.h"

namespace het::cpu {

enum class NonFinite : uint8_t {
  Noted,  ///< the plan says which inputs must be finite
  Kept,   ///< no kernel spoils them: none of oneDNN's activations, no Winograd algorithm
  Taken,  ///< as they come
};

/// What a plan is built for.
struct PlanOptions {
  /// Type of convolutions and matrix products of float models: Float32 or BFloat16.
  ElementType precision = ElementType::Float32;
  /// Channels in a block of blocked formats on this processor.
  Format blocked = Format::Blocked16;
  /// Convolutions take the format that oneDNN prefers, blocked or not: for models that round to
  /// levels, whose results depend on the order in which products are added.
  bool preferred_formats = false;
  /// Algorithms whose rounding errors are larger than those of the definition may be chosen.
  bool fast_algorithms = true;
  /// Products of quantised values run on int8 kernels.
  bool int8 = false;
  /// How NaN and infinities are dealt with.
  NonFinite non_finite = NonFinite::Noted;
  /// What was measured; fixed rules decide the rest.
  LayerChoices choices;
  /// Where packed weights are noted or come from; null for neither.
  PackedConstants* packed = nullptr;
};

/// Turns a prepared and fused model into steps, node by node, and keeps for every value the
/// formats in which it exists. Kernels use it while they plan themselves. Thread-bound: it runs on
/// a stream's thread, because oneDNN decides by the size of the calling thread's team.
class PlanBuilder {
 public:
  PlanBuilder(Model& model, PlanOptions options) : model_(model), options_(std::move(options)) {}

  /// Empties the model's constants on the way, as soon as the last node that reads them is planned.
  /// Fails with NotSupported naming every node that no kernel and no reference can run.
  Result<Plan> build();

  const PlanOptions& options() const { return options_; }
  /// The candidate that was measured to be the fastest, or nothing: then a fixed rule decides.
  std::optional<std::string> choice(const std::string& key) const;

  /// For the packed weights of a node.
  NodePacking packing(const Node& node) const { return {options_.packed, &node}; }

  /// BFloat16 for a value that this plan keeps in that type (bfloat16_values.h), else the type that
  /// it has in the model.
  ElementType kept_type(const Value& value) const;
  /// The type in which `dst` shows elements of `src` that no arithmetic changes: BFloat16 where it
  /// is kept so and `src` comes so.
  ElementType moved_type(const Value& src, const Value& dst);

  /// What a value is in the format its producer chose.
  const TensorSpec& home(const Value& value);
  /// True when every present input and output of the node has a static desc.
  static bool is_static(const Node& node);
  /// True when a node or a model output reads the value.
  bool is_read(const Value& value) const;

  /// The value in a format (and type, when given), reordered by an extra step if need be. Constants
  /// are converted now.
  Result<TensorId> read(const Value& value, Format format,
                        ElementType type = ElementType::Undefined);
  /// The value as its producer left it.
  Result<TensorId> read_home(const Value& value);
  /// Declares the memory of a node's output; the kernel of the next step fills it.
  TensorId write(const Value& value, TensorSpec spec);
  /// The output is a part of another tensor's memory: no step is needed.
  void write_view(const Value& value, TensorSpec spec, TensorId source, size_t offset_bytes);
  /// Memory between steps of one node.
  TensorId temporary(TensorSpec spec);
  /// A constant that is no value of the model.
  TensorId constant(Tensor content, TensorSpec spec);

  Step& add_step(const Node& node, std::unique_ptr<Kernel> kernel, std::vector<TensorId> inputs,
                 std::vector<TensorId> outputs);

  const PlanTensor& tensor(TensorId id) const { return plan_.tensors[static_cast<size_t>(id)]; }

 private:
  static bool has_elements(const Node& node);
  TensorId add_tensor(PlanTensor tensor);
  /// The same memory, or a part of it, as another tensor.
  TensorId view(TensorSpec spec, TensorId source, size_t offset_bytes);
  Result<TensorId> reorder(const Value& value, TensorId source, const TensorSpec& wanted);
  Status plan_node(const Node& node);
  Status plan_reference(const Node& node);
  bool constants_are_finite(const Node& node) const;
  /// Notes what the steps from `first` on, those of the node, do to NaN and infinities.
  void note_non_finite(const Node& node, bool finite_constants, size_t first);
  void drop_constants(const Node& node);
  void drop_unread_constants();
  Status finish_outputs();

  Model& model_;
  PlanOptions options_;
  Plan plan_;
  std::unordered_set<const Value*> bfloat16_values_;
  std::unordered_set<const Value*> open_;  ///< may hold NaN or infinities when they are read
  bool alone_ = false;                     ///< the node that is being planned is not worth a team
  /// The first entry is the producer's; the others were reordered from it.
  std::unordered_map<const Value*, std::vector<TensorId>> versions_;
  /// How often planned nodes read a constant.
  std::unordered_map<const Value*, size_t> planned_reads_;
};

/// Plans one operator: adds steps and returns true, or returns false when the reference shall run
/// this node. Called for nodes whose inputs and outputs are static.
using PlanKernel = Result<bool> (*)(PlanBuilder& builder, const Node& node);

/// What can be chosen for a node, or nothing. It is asked before anything is planned, for nodes
/// whose inputs and outputs are static.
using AskChoice = std::optional<LayerChoice> (*)(const Node& node, const PlanOptions& options);

/// The kernels by operator; filled by plain calls generated from the meson list.
class KernelRegistry {
 public:
  void add(std::string_view domain, std::string_view op_type, PlanKernel plan) {
    kernels_.add(domain, op_type, plan);
  }
  /// For operators with several kernels.
  void add_choices(std::string_view domain, std::string_view op_type, AskChoice ask) {
    choices_.add(domain, op_type, ask);
  }
  /// Null when there is none.
  PlanKernel find(std::string_view domain, std::string_view op_type) const {
    const PlanKernel* found = kernels_.find(domain, op_type);
    return found == nullptr ? nullptr : *found;
  }
  AskChoice find_choices(std::string_view domain, std::string_view op_type) const {
    const AskChoice* found = choices_.find(domain, op_type);
    return found == nullptr ? nullptr : *found;
  }

 private:
  OperatorTable<PlanKernel> kernels_;
  OperatorTable<AskChoice> choices_;
};

/// Every kernel of this build; never changed after its first use. Thread-safe.
const KernelRegistry& kernel_registry();

}  // namespace het::cpu
