#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hetero/subgraph_splitter.h"
#include "inference/device.h"
#include "inference/properties.h"
#include "inference/status.h"

namespace het::hetero {

/// What a HeteroCompiledModel is made from.
struct HeteroParts {
  std::string name;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Split split;                                            ///< the subgraphs' models may be gone
  std::vector<std::shared_ptr<CompiledModel>> subgraphs;  ///< per subgraph of `split`
  /// Per subgraph: how many kinds of memory beside the host's its device takes directly.
  std::vector<size_t> memory_kinds;
  std::string device;     ///< the whole name, "HETERO:GPU,CPU"
  Properties properties;  ///< as given, validated for `device`
};

/// A model whose subgraphs run on several devices, each as soon as what it reads is there.
class HeteroCompiledModel final : public CompiledModel {
 public:
  explicit HeteroCompiledModel(HeteroParts parts);

  /// Also of single devices: "GPU.NUM_STREAMS".
  Result<std::string> get_property(std::string_view name) const override;
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override;

  /// HETERO_PLAN; before anybody else has the model.
  void set_explanation(std::string text) { explanation_ = std::move(text); }
  const HeteroParts& parts() const { return parts_; }
  /// Per subgraph those that wait for it.
  const std::vector<std::vector<size_t>>& dependents() const { return dependents_; }
  /// Cuts that are outputs of the model too: their tensor may be another in each execution.
  const std::vector<size_t>& delivered_cuts() const { return delivered_cuts_; }
  /// Cuts that are sized at run time.
  const std::vector<size_t>& unsized_cuts() const { return unsized_cuts_; }

 protected:
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;

 private:
  /// "GPU.NUM_STREAMS": of the first subgraph on that device.
  Result<std::string> member_property(const MemberProperty& property) const;

  const HeteroParts parts_;
  std::string explanation_;
  std::vector<std::vector<size_t>> dependents_;
  std::vector<size_t> delivered_cuts_;
  std::vector<size_t> unsized_cuts_;
};

}  // namespace het::hetero
