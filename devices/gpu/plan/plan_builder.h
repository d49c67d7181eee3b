#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "devices/gpu/opencl/measurements.h"
#include "devices/gpu/plan/custom_layers.h"
#include "devices/gpu/plan/plan.h"
#include "inference/base/status.h"
#include "inference/devices/operator_table.h"
#include "inference/model/model.h"

namespace het::gpu {

/// What a plan is built for.
struct PlanOptions {
  /// How float values are stored between kernels: Float32 or Float16. Arithmetic is in float32.
  ElementType stored_type = ElementType::Float32;
  /// Algorithms whose rounding errors are larger than those of the definition may be chosen.
  bool fast_algorithms = true;
  /// Convolutions run as on a GPU, with tiles in local memory, on any device: for tests.
  bool local_tiles = false;
  /// The way in which every convolution is computed that can be, by a name of
  /// kernels/convolution/conv_choice.h, for measuring and tests; empty: chosen.
  std::string convolution;
  /// Ways that are not known to be fastest may be measured and are kept in `cache_folder`.
  bool measure = false;
  double measuring_s = Measurements::kMostSeconds;  ///< that may be spent on it
  /// Where binaries of programs and measured choices are kept; empty for nowhere.
  std::string cache_folder;
  /// Kernels of users; may be null.
  std::shared_ptr<const CustomLayers> custom_layers;
};

/// Where a producer puts the channels of its pixels, channels last.
struct ChannelPlace {
  TensorId id = kNoTensor;
  int64_t row = 0;    ///< channels of a pixel there
  int64_t first = 0;  ///< those before its own
};

/// Turns a prepared and fused model into launches of kernels, node by node, and keeps for every
/// value the formats in which it exists. Kernels use it while they plan themselves. Thread-bound.
class PlanBuilder {
 public:
  PlanBuilder(Model& model, std::shared_ptr<Context> context, PlanOptions options)
      : model_(model), context_(std::move(context)), options_(std::move(options)) {
    if (options_.measure && !options_.cache_folder.empty()) {
      measurements_ =
          std::make_unique<Measurements>(hardware(), options_.cache_folder, options_.measuring_s);
    }
  }

  /// Fails with NotSupported naming every node that refusal() is against, with Internal and a build
  /// log where a kernel does not build, with OutOfMemory where constants do not fit.
  Result<Plan> build();

  const PlanOptions& options() const { return options_; }
  const Hardware& hardware() const { return context_->hardware(); }
  Context& context() { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  /// Measured choices; null where nothing is to be measured or kept.
  Measurements* measurements() { return measurements_.get(); }

  /// The type in which this plan keeps a value: that of the model, except that Float32 becomes
  /// options().stored_type.
  ElementType kept_type(const Value& value) const;

  /// What a value is in the format its producer chose.
  const TensorSpec& home(const Value& value);
  /// The value in a format and the kept type, reordered by an extra step if need be. Constants are
  /// converted and uploaded now.
  Result<TensorId> read(const Value& value, Format format);
  /// The same in another type.
  Result<TensorId> read(const Value& value, Format format, ElementType type);
  /// The value as its producer left it.
  Result<TensorId> read_home(const Value& value);
  /// Declares the memory of a node's output in the kept type; the next step fills it.
  TensorId write(const Value& value, Format format);
  TensorId write(const Value& value, TensorSpec spec);
  /// The same, channels last, for producers that leave room between pixels: where a Concat of
  /// channels alone reads the value, its place there. Of rank 3 and more.
  ChannelPlace write_channels(const Value& value);
  /// True when the value lies in the output of the Concat that reads it.
  bool is_joined(const Value& value) const { return joined_.contains(&value); }
  /// True when some step fills the value, or a part of it.
  bool is_declared(const Value& value) const { return versions_.contains(&value); }
  /// The output is the same bytes as another tensor: no step is needed.
  void write_view(const Value& value, TensorSpec spec, TensorId source);
  /// Memory between steps of one node.
  TensorId temporary(TensorSpec spec);
  /// A constant that is no value of the model, e.g. packed weights, in the type and shape of
  /// `content`. It is uploaded now.
  Result<TensorId> constant(const Tensor& content);
  /// Values as a constant of the stored type (Float32 or Float16): packed weights.
  Result<TensorId> stored_constant(const std::vector<float>& values);

  /// Adds the launch as a step of the node. Programs are built when all steps are known, so that
  /// texts which differ in their generated parts only become one.
  Status add_step(const Node& node, Launch launch);

  /// A launch over `items` work-items in one dimension, in groups that suit the device.
  Range row_local() const { return {hardware().group_size(), 1, 1}; }

  const PlanTensor& tensor(TensorId id) const { return plan_.tensor(id); }
  const Plan& plan() const { return plan_; }

 private:
  TensorId add_tensor(PlanTensor tensor);
  /// The same memory, or a part of it, as another tensor.
  TensorId view(TensorSpec spec, TensorId source);
  Result<TensorId> reorder(const Value& value, TensorId source, const TensorSpec& wanted);
  Status finish_outputs();
  Status build_programs();

  Model& model_;
  std::shared_ptr<Context> context_;
  PlanOptions options_;
  std::unique_ptr<Measurements> measurements_;
  Plan plan_;
  /// The first entry is the producer's; the others were reordered from it.
  std::unordered_map<const Value*, std::vector<TensorId>> versions_;
  std::unordered_set<const Value*> joined_;
};

/// One operator on a GPU: why not, and how.
struct KernelEntry {
  /// Reason against this node, empty when there is none. What all nodes have in common was checked
  /// before: shapes are static, sizes fit 31 bits, no tensor is empty. Reads no content beyond
  /// constants, so that query and compile agree.
  std::string (*refusal)(const Node& node);
  /// Adds the node's steps; called only without a refusal.
  Status (*plan)(PlanBuilder& builder, const Node& node);
};

/// The kernels by operator; filled by plain calls generated from the meson list.
class KernelRegistry : public OperatorTable<KernelEntry> {};

/// Every kernel of this build; never changed after its first use. Thread-safe.
const KernelRegistry& kernel_registry();

/// Why a node of a fused model cannot run on a GPU; empty when it can. `layers` may be null. While
/// the model's inputs are not bound, nodes that read unknown sizes are refused for their type only.
std::string refusal(const Node& node, const CustomLayers* layers, bool is_bound = true);

}  // namespace het::gpu
