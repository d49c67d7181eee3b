#pragma once

#include <cstddef>
#include <vector>

#include "hetero/placement/placement.h"
#include "hetero/placement/profile_store.h"
#include "inference/base/status.h"
#include "inference/model/model.h"

namespace het::hetero {

/// What every node of a prepared model takes on every device.
struct NodeTimes {
  /// [node][device]; kImpossible (planner/plan_problem.h) where the device does not take the node.
  std::vector<std::vector<double>> seconds;
  /// [node][device]: computed by the kernel of another node.
  std::vector<std::vector<bool>> is_fused;
};

/// Runs what each device takes of the model there, with PERF_COUNT, and takes the medians of the
/// rows. One execution warms up; at least one more counts, and others until `budget` is over for a
/// device. Inputs are zeros. What a device fails to compile or run counts as not taken. Subgraphs
/// whose nodes are all in `store` are not run; times of the others are added to it.
Result<NodeTimes> measure_nodes(const Model& prepared, const SupportTable& table,
                                ProfileStore& store, double budget_seconds);

/// [from * places + to] over the devices and, where none of them computes in the host's memory, the
/// host; zero within a place.
struct TransferTimes {
  size_t home = 0;  ///< the first device that works in the host's memory, else the extra place
  size_t places = 0;
  std::vector<TransferTime> times;  ///< by bytes of the tensor as it is
  /// The same for float32 tensors that cross as float16, with the conversions, by bytes in float32;
  /// infinite where neither side stores float16, empty where none does.
  std::vector<TransferTime> half_times;

  /// The cheaper way for a tensor; one of unknown size has no bytes.
  double seconds(size_t from, size_t to, const TensorDesc& desc) const;
};

/// Whether a device stores float32 values of models as float16.
bool stores_half(const Properties& properties);

/// Runs two nodes on two devices and on one, with a few bytes between them and with many. The start
/// of a subgraph counts as part of the transfer that it waits for. Devices that cannot run them get
/// a cautious guess. What `store` has is not run.
TransferTimes measure_transfers(const SupportTable& table, ProfileStore& store);

}  // namespace het::hetero
