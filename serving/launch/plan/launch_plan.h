#pragma once

#include <cstddef>
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
};

/// One process.
struct InstancePlan {
  size_t index = 0;
  std::vector<size_t> numa_nodes;  ///< memory comes from there; more than one where it spans them
  std::vector<int> processors;
  size_t inference_threads = 1;  ///< INFERENCE_NUM_THREADS
  size_t decoder_threads = 1;    ///< of each software decoder that leaves it open
  std::vector<size_t> streams;   ///< indices into the request's
  double load = 0;               ///< sum of known costs, in processors
};

struct LaunchPlan {
  std::vector<InstancePlan> instances;
  size_t max_threads = 0;  ///< of all together: processors, cut to the control groups' quota
  std::vector<std::string> notes;  ///< what the user should know: a sentence each
};

/// Lays instances on processors and streams on instances. Fails with InvalidArgument for more
/// threads or instances than processors (or quota), with the numbers and what to do.
Result<LaunchPlan> plan_instances(const PlanRequest& request);

}  // namespace het::serving
