#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "devices/vpu/link_messages.h"
#include "inference/device.h"

namespace het::vpu {

/// A model in the device's memory, as a session uses it. Thread-safe.
class DeviceModel {
 public:
  struct Execution {
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;
    std::vector<Stage> stages;  ///< filled where `wants_stages`
    bool wants_stages = false;
  };
  virtual ~DeviceModel() = default;
  virtual const std::vector<Port>& inputs() const = 0;
  virtual const std::vector<Port>& outputs() const = 0;
  /// Bytes of the device's memory that it takes.
  virtual uint64_t memory_bytes() const = 0;
  /// Runs on the calling thread until it is done.
  virtual Status run(Execution& execution) = 0;
};

/// Makes one of the bytes of an ONNX file, which nobody trusts.
using ModelLoader =
    std::function<Result<std::shared_ptr<DeviceModel>>(std::span<const std::byte> file)>;

}  // namespace het::vpu
