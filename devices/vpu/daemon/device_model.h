#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "devices/vpu/link_messages.h"
#include "inference/devices/device.h"

namespace het::vpu {

/// A model in the device's memory, as a session uses it. Thread-safe; goes only when no execution
/// runs, and not within an end().
class DeviceModel {
 public:
  struct Execution {
    std::vector<Tensor> inputs;
    std::vector<Tensor> outputs;
    std::vector<Stage> stages;  ///< filled where `wants_stages`
    bool wants_stages = false;
  };
  /// Told once an execution, by any thread, perhaps within start().
  using End = std::function<void(Status status)>;

  virtual ~DeviceModel() = default;
  virtual const std::vector<Port>& inputs() const = 0;
  virtual const std::vector<Port>& outputs() const = 0;
  /// Bytes of the device's memory that it takes.
  virtual uint64_t memory_bytes() const = 0;
  /// Begins an execution, which stays until its end is told.
  virtual void start(Execution& execution, End end) = 0;
  /// It ends soon.
  virtual void cancel(Execution& execution) = 0;
};

/// Makes one of the bytes of an ONNX file, which nobody trusts.
using ModelLoader =
    std::function<Result<std::shared_ptr<DeviceModel>>(std::span<const std::byte> file)>;

}  // namespace het::vpu
