#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace het::hetero {

/// A graph whose nodes have a device each. Nodes are numbered in topological order.
struct DeviceGraph {
  std::vector<size_t> devices;               ///< per node
  std::vector<std::vector<size_t>> sources;  ///< per node: nodes whose values it reads
  /// Per model input and per constant: the nodes that read it.
  std::vector<std::vector<size_t>> readers;
  /// Nodes of one device that must stay together, such as those of a state variable.
  std::vector<std::vector<size_t>> ties;
};

/// Nodes that must be in one part although they are on two devices.
struct TieConflict {
  size_t tie = 0;      ///< index of DeviceGraph::ties
  size_t node = 0;     ///< one of the tie
  size_t between = 0;  ///< on another device, needs the tie and is needed by it
};

struct Partition {
  /// Per node its part. Parts are numbered so that each one only reads from lower ones.
  std::vector<size_t> part_of;
  size_t part_count = 0;
  /// Set when there is no partition; the rest is empty then.
  std::optional<TieConflict> conflict;
};

/// Divides a graph into parts of one device each, as few as possible, without a cycle between them.
/// Nodes of a part are connected by values between them, or by model inputs or constants that they
/// read together. Where no cycle is in the way, everything that is connected by values is one part.
/// Finding the least number is a hard problem in general; this takes near linear time.
Partition partition_graph(const DeviceGraph& graph);

}  // namespace het::hetero
