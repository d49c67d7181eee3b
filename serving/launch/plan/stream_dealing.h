#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/plan/launch_plan.h"

namespace het::serving {

/// Room that an instance has for streams.
struct StreamRoom {
  std::vector<size_t> numa_nodes;
  size_t processors = 1;
  size_t max_threads = 1;  ///< below `processors` under a quota
};

/// What an instance gets.
struct DealtStreams {
  std::vector<size_t> streams;       ///< in the order of the list
  std::vector<std::string> reasons;  ///< of each
  double load = 0;                   ///< processors that they keep busy
};

struct Dealing {
  std::vector<DealtStreams> rooms;  ///< as the rooms given
  std::vector<std::string> notes;
};

/// What each stream counts: its cost, or the mean of those that are known, or 1. Fails with
/// InvalidArgument for a cost that is no number of processors.
Result<std::vector<double>> stream_costs(const std::vector<StreamNeeds>& streams);

/// Streams that must run on a node or hang on one first, the costliest first, each to the room that
/// has the least to do a processor then. A stream goes to a room of its nodes, or where there is
/// none, of the node that is nearest to them, or any. Fails with InvalidArgument when a stream asks
/// for more threads than any of its rooms has, or must run where there is none.
Result<Dealing> deal_streams(const std::vector<StreamNeeds>& streams,
                             const std::vector<double>& costs, const std::vector<StreamRoom>& rooms,
                             const std::map<size_t, std::vector<size_t>>& nodes_by_distance);

/// What is wrong with the threads that a stream asks for in this room.
Status check_threads(const StreamNeeds& stream, const StreamRoom& room);

/// "'a', 'b' and 7 more".
std::string some_names(const std::vector<std::string>& names);

}  // namespace het::serving
