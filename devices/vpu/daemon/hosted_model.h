#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/vpu/link_messages.h"
#include "inference/core.h"

namespace het::vpu {

/// A model that hosts run here: computed by a device of this machine, rounded to float16 after
/// each node. Thread-safe.
class HostedModel {
 public:
  /// From the bytes of an ONNX file, which nobody trusts. `wants_stages` costs time in each
  /// execution.
  static Result<std::unique_ptr<HostedModel>> create(std::span<const std::byte> file,
                                                     const std::string& device);

  const CompiledModel& compiled() const { return *plain_; }
  /// Bytes of a device's memory that the weights take, as float16.
  uint64_t memory_bytes() const { return memory_bytes_; }

  struct Execution {
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;
    std::vector<Stage> stages;  ///< filled where `wants_stages`
    bool wants_stages = false;
  };
  /// Runs on the calling thread until it is done.
  Status run(Execution& execution);

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
