#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/vpu/daemon/device_model.h"
#include "inference/core.h"

namespace het::vpu {

/// A model that hosts run here: computed by a device of this machine, rounded to float16 after
/// each node.
class HostedModel final : public DeviceModel {
 public:
  struct Options {
    std::string device;  ///< that computes
    Properties properties;
    uint64_t memory_limit = 0;  ///< of memory_bytes()
  };
  /// From the bytes of an ONNX file. Fails with OutOfMemory, before anything of its size is
  /// allocated, for one that is above the limit.
  static Result<std::shared_ptr<DeviceModel>> create(std::span<const std::byte> file,
                                                     const Options& options);

  const std::vector<Port>& inputs() const override { return plain_.model->inputs(); }
  const std::vector<Port>& outputs() const override { return plain_.model->outputs(); }
  /// Of weights and of what an execution keeps between nodes, floats as float16.
  uint64_t memory_bytes() const override { return memory_bytes_; }
  void start(Execution& execution, End end) override;
  void cancel(Execution& execution) override;

 private:
  /// A request and the execution that uses it.
  struct Slot {
    std::unique_ptr<InferRequest> request;
    Execution* execution = nullptr;
    End end;
  };
  struct Variant {
    std::shared_ptr<CompiledModel> model;
    std::vector<std::unique_ptr<Slot>> slots;
    std::vector<Slot*> idle;
  };
  HostedModel() = default;
  Result<Slot*> take(Execution& execution);
  Status bind(Slot& slot);
  void finish(Slot& slot, Status status);

  std::unique_ptr<Model> source_;
  Options options_;
  uint64_t memory_bytes_ = 0;
  std::mutex mutex_;  ///< protects the slots and profiled_; before those of a request
  Variant plain_;
  Variant profiled_;  ///< compiled when stages are asked for first
};

}  // namespace het::vpu
