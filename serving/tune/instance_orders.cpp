#include "serving/tune/instance_orders.h"

#include <algorithm>
#include <utility>

#include "inference/machine/topology.h"
#include "serving/launch/command/launch_orders.h"
#include "serving/launch/plan/device_nodes.h"
#include "serving/launch/plan/stream_needs.h"

namespace het::serving {
namespace {

LaunchSettings line_settings(const std::vector<std::string>& words) {
  LaunchSettings settings;
  settings.replicate = true;
  StreamSettings stream;
  stream.name = "line";
  stream.pipeline = words;
  settings.streams.push_back(std::move(stream));
  return settings;
}

}  // namespace

Result<InstanceOrders> InstanceOrders::of_machine(StreamDescription description) {
  PlanRequest request;
  HET_ASSIGN(request.topology, read_topology(TopologySource{}));
  request.replicate = true;
  request.nodes_by_distance = nodes_by_distance();
  request.streams = stream_needs(line_settings({}), {description});
  return InstanceOrders(std::move(description), std::move(request));
}

std::vector<size_t> InstanceOrders::counts() const {
  std::vector<size_t> counts = instance_counts_to_try(request_);
  if (std::ranges::find(counts, 1u) == counts.end()) counts.insert(counts.begin(), 1);
  return counts;
}

Result<std::vector<TrialOrder>> InstanceOrders::orders(const std::vector<std::string>& words,
                                                       size_t instances) const {
  const LaunchSettings settings = line_settings(words);
  PlanRequest request = request_;
  request.instances = instances;
  HET_ASSIGN(const LaunchPlan plan, plan_instances(request));
  HET_TRY(written_files(settings, plan, {description_}));
  HET_ASSIGN(std::vector<Job> jobs, jobs_of(settings, plan));
  std::vector<TrialOrder> orders;
  for (size_t i = 0; i < jobs.size(); ++i) {
    orders.push_back(
        {std::move(jobs[i]), {plan.instances[i].processors, plan.instances[i].numa_nodes}});
  }
  return orders;
}

}  // namespace het::serving
