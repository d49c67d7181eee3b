#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inference/devices/device.h"
#include "inference/devices/profiling.h"
#include "inference/devices/properties.h"
#include "inference/devices/stream_executor.h"

namespace het::ref {

/// Where a value of the model is kept during an execution.
using Slot = size_t;
inline constexpr Slot kOmitted = static_cast<Slot>(-1);

/// One node with the slots of its values.
struct Step {
  const Node* node = nullptr;
  std::vector<Slot> inputs;  ///< kOmitted for optional ones that are not given
  std::vector<Slot> outputs;
  std::vector<Slot> last_uses;  ///< slots that nobody reads after this step
  size_t profile_row = 0;
};

/// A prepared model as a list of steps, fixed at compile time.
struct Plan {
  std::vector<Step> steps;
  std::vector<Tensor> constants;  ///< per slot; empty for what is computed
  std::vector<Slot> inputs;       ///< per port
  std::vector<Slot> outputs;      ///< per port
  std::vector<ProfileRow> rows;   ///< one per node of the file, not timed yet
};

/// A model compiled for REF: its plan and the streams that run it. Immutable; thread-safe.
class RefCompiledModel final : public CompiledModel {
 public:
  /// `original` is the user's model, `prepared` its clone after prepare_model().
  RefCompiledModel(const Model& original, std::unique_ptr<Model> prepared, Properties properties,
                   std::unique_ptr<StreamExecutor> streams);

  Result<std::string> get_property(std::string_view name) const override;
  const Plan& plan() const { return plan_; }
  bool profiled() const { return profiled_; }
  StreamExecutor& streams() const { return *streams_; }

 private:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

  std::unique_ptr<Model> model_;
  Plan plan_;
  Properties properties_;
  bool profiled_;
  std::unique_ptr<StreamExecutor> streams_;
};

}  // namespace het::ref
