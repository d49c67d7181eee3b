#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "inference/devices/device.h"

namespace het {

/// What a simulated device shall do. It emulates an accelerator on the link: requests run on a
/// thread of their own, results arrive later and possibly out of order, executions may fail.
struct SimulatedBehaviour {
  std::chrono::milliseconds duration{0};
  Status outcome;                ///< what every execution ends with
  bool complete_inline = false;  ///< complete() is called from start() itself
  bool honours_cancel = true;
  std::atomic<int>* executions = nullptr;             ///< counts those that begin
  std::atomic<const std::byte*>* last_dst = nullptr;  ///< where the last result went
};

/// A compiled model with one float input and one float output of `shape` that copies input to
/// output after the given time, through the real interfaces.
std::shared_ptr<CompiledModel> make_simulated_model(const Shape& shape,
                                                    SimulatedBehaviour behaviour);

}  // namespace het
