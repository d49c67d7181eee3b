#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/vpu/daemon/device_model.h"
#include "inference/core.h"

namespace het::vpu {

/// A model that hosts run here: computed by a device of this machine, rounded to float16 after
/// each node. Thread-safe.
class HostedModel final : public DeviceModel {
 public:
  /// From the bytes of an ONNX file, computed by `device`.
  static Result<std::shared_ptr<DeviceModel>> create(std::span<const std::byte> file,
                                                     const std::string& device);

  const std::vector<Port>& inputs() const override { return plain_->inputs(); }
  const std::vector<Port>& outputs() const override { return plain_->outputs(); }
  /// Of the weights, as float16.
  uint64_t memory_bytes() const override { return memory_bytes_; }
  Status run(Execution& execution) override;

 private:
  HostedModel() = default;
  struct Pool {
    std::vector<std::unique_ptr<InferRequest>> idle;
  };
  Result<std::unique_ptr<InferRequest>> take(bool profiled);

  std::shared_ptr<CompiledModel> plain_;
  std::shared_ptr<CompiledModel> profiled_;  ///< made when stages are asked for first
  std::unique_ptr<Model> model_;
  std::string device_;
  uint64_t memory_bytes_ = 0;
  std::mutex mutex_;  ///< protects profiled_ and the pools; taken alone
  Pool plain_requests_;
  Pool profiled_requests_;
};

}  // namespace het::vpu
