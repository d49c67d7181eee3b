#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/machine/topology.h"

namespace het::serving {

/// What is known of a stream when it is dealt out.
struct StreamNeeds {
  std::string name;
  /// Processors that it keeps busy, decoding and all; measured or said by the user.
  std::optional<double> cost;
  /// NUMA nodes that its accelerators and cameras hang on; empty: it may run anywhere.
  std::vector<size_t> near_nodes;
  std::string near_what;  ///< what hangs there, for messages: "/dev/video0"
  /// The node that the user has named: the plan fails where the stream cannot run there.
  std::optional<size_t> node;
  /// Threads of its software decoders where the pipeline says it.
  size_t decoder_threads = 0;
  /// Threads that its inference elements ask for themselves (INFERENCE_NUM_THREADS); 0: none.
  size_t inference_threads = 0;
};

struct PlanRequest {
  Topology topology;
  /// Processors that may be used, of those in the topology; empty: all.
  std::vector<int> processors;
  /// Instances; 0: one per NUMA node.
  size_t instances = 0;
  /// True where every instance runs all streams (a command line); false: they are dealt out.
  bool replicate = true;
  std::vector<StreamNeeds> streams;
  /// For each node all others, the nearest first (nodes_by_distance()); may be empty.
  std::map<size_t, std::vector<size_t>> nodes_by_distance;
};

/// One process.
struct InstancePlan {
  size_t index = 0;
  std::vector<size_t> numa_nodes;  ///< memory comes from there; more than one where it spans them
  std::vector<int> processors;
  size_t max_threads = 1;  ///< as many as processors, or its share of the control groups' quota
  /// INFERENCE_NUM_THREADS: one a physical core, fast ones where it has any, as the CPU device
  /// takes without a hint; never above `max_threads`.
  size_t inference_threads = 1;
  /// Of each software decoder that leaves it open: all together have no more than `max_threads`,
  /// but one each.
  size_t decoder_threads = 1;
  std::vector<size_t> streams;       ///< indices into the request's
  std::vector<std::string> reasons;  ///< why each of `streams` is here: "least load"
  double load = 0;                   ///< of all streams, in processors
};

struct LaunchPlan {
  std::vector<InstancePlan> instances;
  size_t max_threads = 0;  ///< of all together: processors, cut to the control groups' quota
  std::vector<std::string> notes;  ///< what the user should know: a sentence each
};

/// Lays instances on processors and streams on instances; the same for the same request. Instances
/// of a node share its physical cores out, those that would get no stream are left out. Fails with
/// InvalidArgument for more threads or instances than processors (or quota), with the numbers and
/// what to do.
Result<LaunchPlan> plan_instances(const PlanRequest& request);

/// Numbers of instances that are worth measuring: 1, 2, 4 ..., one per NUMA node and twice as many
/// ..., up to the physical cores (a quota, the streams that are dealt out).
std::vector<size_t> instance_counts_to_try(const PlanRequest& request);

}  // namespace het::serving
