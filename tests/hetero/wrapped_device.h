#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "inference/core.h"
#include "inference/devices/device.h"

namespace het::hetero {

/// One execution on a WrappedDevice.
struct TracedExecution {
  std::string model;
  size_t request = 0;                 ///< number of the request among those of its compiled model
  const std::byte* input = nullptr;   ///< address of the first input
  const std::byte* output = nullptr;  ///< address of the first output, before the execution
  std::vector<const Buffer*> inputs;  ///< the memory of all inputs, where it has contexts
  std::vector<const Buffer*> outputs;
  std::chrono::steady_clock::time_point start;
  std::chrono::steady_clock::time_point end;
};

/// Where a device may fail.
enum class DeviceCall : uint8_t {
  Compile,
  Request,   ///< making one
  Submit,    ///< start(), which ends the execution at once
  Callback,  ///< the execution ends with it, on the device's thread
  Wait,      ///< nothing ends for a while, then the execution does, on another thread
  Map,       ///< bringing results from the device's own memory to the host's
  Release,   ///< destruction of a model, a request or memory, which cannot say so
};
inline constexpr size_t kDeviceCalls = 7;

/// What a WrappedDevice shall do, and what it did. Shared by the test and the device.
struct WrappedBehaviour {
  /// The device that computes. With CPU models can be exported and imported.
  std::string inner = "REF";
  /// Why a node cannot run; empty: it can. Asked with the model that the device would get.
  std::function<std::string(const Model& model, const Node& node)> refuse;
  /// Time that every execution takes beside the real one.
  std::chrono::milliseconds duration{0};
  /// The device's speed: an execution takes what its nodes take together, and rows of profiles say
  /// so. Empty: REF's.
  std::function<std::chrono::microseconds(const Node& node)> speed;
  /// DEVICE_TYPE; empty: the device does not say.
  std::string type = "discrete";
  /// DEVICE_TOTAL_MEM_SIZE; 0: the device does not say.
  uint64_t memory_bytes = 0;
  /// What execution number `count` ends with; counted from 0 over all models.
  std::function<Status(size_t count)> outcome;
  /// What making a request of a compiled model ends with; empty: well.
  std::function<Status()> request_outcome;
  /// Asked in every call of the device: what it fails with.
  std::function<Status(DeviceCall call)> fault;
  /// How long a failed Wait takes.
  std::chrono::milliseconds patience{2};
  /// Tensors that the device allocates, and the results of executions, are in memory that the host
  /// has to map.
  bool has_own_memory = false;
  /// The device makes contexts, in whose memory it uses tensors where they are.
  bool has_contexts = false;
  /// Executions end in start() itself, before it returns.
  bool ends_inline = false;
  /// Runs on the device's thread before each execution: may hold it up.
  std::function<void()> before;
  /// Runs when a model is compiled: may take its time, and fail.
  std::function<Status(const Model& model)> compiling;
  /// Runs first in every start(), which ends the execution with what it returns unless that is ok.
  std::function<Status()> refuse_start;
  /// Executions that were started and have not ended, and the most there were.
  std::atomic<size_t> in_flight = 0;
  std::atomic<size_t> most_in_flight = 0;
  std::atomic<size_t> live_models = 0;  ///< compiled models that exist

  std::mutex mutex;  ///< protects the members below; taken alone
  std::vector<TracedExecution> executions;
  std::vector<Properties> compiled_with;
  std::vector<const DeviceContext*> compiled_in;  ///< null: in none
};

/// Adds a device that stands for an accelerator: the inner device's results, computed on a thread
/// of its own one execution at a time, with a support set, a speed and faults of its own. It goes
/// through the real Device interface.
void add_wrapped_device(Core& core, const std::string& kind,
                        std::shared_ptr<WrappedBehaviour> behaviour);

}  // namespace het::hetero
