#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/visibility.h"
#include "inference/devices/device.h"
#include "inference/devices/device_event_list.h"
#include "inference/devices/stream_executor.h"
#include "inference/requests/nested_request.h"

namespace het {

/// What a model is compiled for: the device and how.
struct CompileTarget {
  std::shared_ptr<Device> device;
  Properties properties;
  std::shared_ptr<DeviceContext> context;
};

/// A model with input dimensions that nobody has bound: compiled for the shapes of each execution,
/// on a thread of its own, so that other requests go on. The plans of the last kMaxPlans different
/// shapes are kept; every request keeps its tensors for the last kMaxShapesPerRequest of them.
class HET_API DynamicCompiledModel final : public CompiledModel {
 public:
  static constexpr size_t kMaxPlans = 8;
  static constexpr size_t kMaxShapesPerRequest = 2;

  /// Fails with NotSupported when the device refuses nodes whatever the shapes.
  static Result<std::shared_ptr<CompiledModel>> create(const Model& model, CompileTarget target);

  /// As the device answers for a model of one node, but for NETWORK_NAME.
  Result<std::string> get_property(std::string_view name) const override;
  /// Of the plan that was used last.
  std::vector<SubgraphInfo> subgraphs() const override;
  /// Of all plans.
  std::vector<DeviceEvent> device_events(uint64_t& next) const override;
  /// Number of plans that exist now.
  size_t plan_count() const;

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  friend class DynamicRequest;
  struct Plan {
    std::vector<Shape> shapes;
    std::shared_ptr<CompiledModel> model;
  };
  DynamicCompiledModel(std::unique_ptr<Model> model, std::vector<Port> outputs,
                       CompileTarget target, std::shared_ptr<CompiledModel> probe,
                       std::unique_ptr<StreamExecutor> planner);
  /// Called on the planner's thread only.
  Result<std::shared_ptr<CompiledModel>> plan_for(const std::vector<Shape>& shapes);

  std::unique_ptr<Model> model_;
  CompileTarget target_;
  std::shared_ptr<CompiledModel> probe_;  ///< one node, to answer property queries
  mutable std::mutex mutex_;              ///< protects plans_; taken alone
  std::vector<Plan> plans_;               ///< the one used last comes last
  mutable JoinedDeviceEvents events_;
  std::unique_ptr<StreamExecutor> planner_;
};

}  // namespace het
