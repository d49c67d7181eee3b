#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hetero/execution/exported_plan.h"
#include "hetero/execution/fail_over.h"
#include "hetero/execution/plan_mix.h"
#include "hetero/execution/remote_tensors.h"
#include "hetero/members/device_events.h"
#include "inference/base/status.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"

namespace het::hetero {

/// What a HeteroCompiledModel is made from.
struct HeteroParts {
  std::string name;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  std::shared_ptr<const PlanMix> plan;
  std::unique_ptr<FailOver> fail_over;  ///< null: errors of devices are final
  std::shared_ptr<DeviceEvents> events;
  std::string device;     ///< the whole name, "HETERO:GPU,CPU"
  Properties properties;  ///< as given, validated for `device`
  /// What an exported model tells of its source; empty without fail-over.
  std::function<Result<ExportedSource>()> source;
};

/// A model whose subgraphs run on several devices, each as soon as what it reads is there.
class HeteroCompiledModel final : public CompiledModel {
 public:
  explicit HeteroCompiledModel(HeteroParts parts);

  /// Also of single devices: "GPU.NUM_STREAMS".
  Result<std::string> get_property(std::string_view name) const override;
  std::vector<SubgraphInfo> subgraphs() const override;
  /// The plan that the model was compiled to, whatever devices have failed since. Fails with
  /// NotSupported, naming subgraph and device, where a device does not export.
  Status export_model(std::ostream& stream) const override;
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override;

  std::vector<DeviceEvent> device_events(uint64_t& next) const override {
    return parts_.events->since(next);
  }

  /// The one that executions begin with now.
  std::shared_ptr<const PlanMix> plan() const;
  FailOver* fail_over() const { return parts_.fail_over.get(); }
  /// Of all requests.
  TransferThread& transfers() const { return transfers_; }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  /// "GPU.NUM_STREAMS": of the first subgraph on that device.
  Result<std::string> member_property(const MemberProperty& property) const;

  const HeteroParts parts_;
  mutable TransferThread transfers_;
};

}  // namespace het::hetero
