#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "inference/core.h"
#include "inference/devices/stream_executor.h"
#include "inference/model/model.h"

namespace het::hetero {

/// How fast a simulated device is and what it takes.
struct SimulatedSpeed {
  std::string name;
  double convolution = 0;  ///< flops a second
  double depthwise = 0;
  double product = 0;  ///< of matrices
  double bytes = 0;    ///< a second, of all inputs and outputs
  double start = 0;    ///< seconds a node
  std::set<std::string>
      lacks;  ///< operator types; "depthwise" for convolutions of one channel each
};

/// Devices and the links between their memories. The last device is the processor: it takes every
/// node, and its memory is the host's.
struct SimulatedMachine {
  std::string name;
  std::vector<SimulatedSpeed> devices;
  double link_start = 0;  ///< seconds a transfer
  double link_bytes = 0;  ///< a second

  size_t home() const { return devices.size() - 1; }
  double transfer_seconds(double bytes) const { return link_start + bytes / link_bytes; }
};

bool takes(const SimulatedSpeed& device, const Node& node);
/// Computed by the kernel of the convolution before it.
bool is_fused(const Model& model, const Node& node);
double node_seconds(const SimulatedSpeed& device, const Model& model, const Node& node);

/// A device or a link: one job after the other, each as long as modelled. A job that waited begins
/// when the one before was to end, so that late wake-ups of its thread do not add up: they delay
/// who waits for a result, and cost the device nothing, as with real queues.
struct SimulatedQueue {
  std::unique_ptr<StreamExecutor> thread;
  std::atomic<int64_t> busy_ns{0};
  std::chrono::steady_clock::time_point free;  ///< of its thread
};

/// What the devices of one machine share while a model runs. They sleep the modelled times, made
/// `scale` times as long.
struct Simulation {
  SimulatedMachine machine;
  double scale = 1;
  std::map<std::string, Tensor> values;  ///< of the model, by name, as CPU computed them
  std::set<std::string> results;         ///< values that leave the model: they go home
  /// Outputs are written and inputs compared; otherwise devices only take their time.
  std::atomic<bool> checks_inputs{false};
  std::atomic<size_t> wrong_inputs{0};  ///< that were not what CPU computed
  std::deque<SimulatedQueue> devices;
  std::deque<SimulatedQueue> links;  ///< [from * devices + to]

  std::mutex mutex;  ///< protects places; taken alone
  struct Place {
    std::weak_ptr<const Buffer> buffer;  ///< another one may come to lie where one has been freed
    size_t origin = 0;                   ///< the device that computed the content
    std::set<size_t> sent_to;            ///< others that have it, or will when their link is done
  };
  std::map<const Buffer*, Place> places;
};

/// Sets the shared parts up and computes all values of the prepared model on CPU, inputs ramps.
Result<std::shared_ptr<Simulation>> make_simulation(Core& core, const SimulatedMachine& machine,
                                                    const Model& prepared, double scale);
/// Registers the machine's devices, under their names.
void add_simulated_devices(Core& core, const std::shared_ptr<Simulation>& simulation);

}  // namespace het::hetero
