#include "serving/archive/command/worker_options.h"

#include <cstdio>

#include "inference/machine/process_binding.h"
#include "inference/machine/topology.h"
#include "serving/archive/command/command_line.h"
#include "serving/launch/duration_option.h"
#include "serving/launch/plan/launch_plan.h"

namespace het::archive {
namespace {

Status bind_to_node(const Topology& topology, size_t node, std::vector<int>& processors) {
  for (const PhysicalCore& core : topology.cores) {
    if (core.numa_node != node) continue;
    processors.insert(processors.end(), core.processors.begin(), core.processors.end());
  }
  if (processors.empty()) {
    return error(StatusCode::InvalidArgument,
                 "--node {}: this process may use no processor of such a NUMA node", node);
  }
  HET_TRY(bind_processors(processors));
  if (const Status bound = bind_memory({node}); !bound.ok()) {
    std::fprintf(stderr, "hetero archive worker: %s; going on\n", bound.message().c_str());
  }
  return {};
}

}  // namespace

void add_worker_options(CLI::App& app, WorkerOptions& options) {
  app.add_option("--at-once", options.at_once,
                 "Shards under way together in a process; 2 unless given, so that one works while "
                 "another starts")
      ->check(CLI::Range(1, 64));
  app.add_option("--tries", options.tries,
                 "A shard that fails so often is given up; 3 unless given")
      ->check(CLI::Range(1, 1000));
  serving::add_duration(
      app, "--stall", options.stall_s, 1,
      "A shard without a frame for this time has failed; 60s unless given, ten times as "
      "long before its first frame");
}

Result<WorkerSettings> worker_settings(const WorkerOptions& options, std::optional<size_t> node) {
  if (!(options.stall_s >= 1)) {
    return error(StatusCode::InvalidArgument, "--stall of {:g} s is below 1 s", options.stall_s);
  }
  TopologySource source;
  source.max_threads = options.max_threads;
  serving::PlanRequest request;
  HET_ASSIGN(request.topology, read_topology(source));
  if (node) HET_TRY(bind_to_node(request.topology, *node, request.processors));
  request.instances = 1;
  request.streams.resize(options.at_once);
  HET_ASSIGN(const serving::LaunchPlan plan, serving::plan_instances(request));
  const serving::InstancePlan& instance = plan.instances.front();
  WorkerSettings settings;
  settings.at_once = options.at_once;
  settings.tries = options.tries;
  settings.stall_s = options.stall_s;
  settings.tells_progress = options.tells_progress;
  settings.decoder_threads = instance.decoder_threads;
  // As launch_orders does for an instance.
  settings.defaults["CPU"] = {{"CPU_BIND_THREAD", "NO"},
                              {"INFERENCE_NUM_THREADS", std::to_string(instance.inference_threads)},
                              {"WEIGHT_SHARING", options.weights}};
  return settings;
}

}  // namespace het::archive
