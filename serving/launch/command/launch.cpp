#include "serving/launch/command/launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "inference/machine/topology.h"
#include "serving/launch/command/instance_choice.h"
#include "serving/launch/command/launch_orders.h"
#include "serving/launch/command/trial.h"
#include "serving/launch/plan/device_nodes.h"
#include "serving/launch/plan/launch_plan.h"
#include "serving/launch/plan/number_list.h"
#include "serving/launch/plan/plan_text.h"
#include "serving/launch/plan/stream_needs.h"
#include "serving/launch/supervise/status_folder.h"
#include "serving/launch/supervise/supervisor.h"

namespace het::serving {
namespace {

/// How many instances, where they are not measured; 0: one per node.
Result<size_t> number_of_instances(const std::string& text) {
  if (text == "node") return size_t{0};
  size_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || end != text.data() + text.size() || number == 0) {
    return error(StatusCode::InvalidArgument,
                 "instances '{}' is neither a number above 0 nor node or auto", text);
  }
  return number;
}

bool is_auto(const LaunchSettings& settings) {
  return settings.instances == "auto";
}

Result<PlanRequest> plan_request(const LaunchOptions& options, const LaunchSettings& settings) {
  PlanRequest request;
  const TopologySource source{options.topology, options.efficiency_processors, options.quota};
  auto topology = read_topology(source);
  if (!topology) {
    // Of this machine it is no fault of the user's.
    if (options.topology.empty()) return Failure(topology.error());
    return error(StatusCode::InvalidArgument, "--topology: {}", topology.error().message());
  }
  request.topology = std::move(*topology);
  if (!settings.processors.empty()) {
    HET_ASSIGN(request.processors, parse_number_list(settings.processors));
  }
  if (!is_auto(settings)) {
    HET_ASSIGN(request.instances, number_of_instances(settings.instances.value_or("node")));
  }
  request.replicate = settings.replicate;
  return request;
}

void print_plan(const LaunchOptions& options, const PlanRequest& request, const LaunchPlan& plan) {
  if (options.json) {
    std::fputs(plan_json(request, plan).c_str(), stdout);
    return;
  }
  std::FILE* const stream = options.dry_run ? stdout : stderr;
  if (!options.topology.empty()) {
    std::fprintf(stream, "of a machine described as '%s', not this machine\n",
                 options.topology.c_str());
  }
  std::fputs(plan_text(request, plan).c_str(), stream);
}

/// Nothing runs: a plan for every number that would be measured.
Result<int> show_counts(const LaunchOptions& options, PlanRequest request,
                        const std::vector<size_t>& counts) {
  if (options.json) {
    return error(StatusCode::InvalidArgument,
                 "what auto takes is measured; give a number of instances with --dry-run --json");
  }
  for (const size_t count : counts) {
    request.instances = count;
    HET_ASSIGN(const LaunchPlan plan, plan_instances(request));
    std::printf("%zu %s, one of those that auto would measure:\n", count,
                count == 1 ? "instance" : "instances");
    print_plan(options, request, plan);
  }
  return 0;
}

Status choose_instances(const LaunchSettings& settings, PlanRequest& request,
                        const std::vector<size_t>& counts,
                        const std::vector<StreamDescription>& descriptions) {
  if (settings.measure_s <= 0) {
    return error(StatusCode::InvalidArgument, "auto measures; give --measure more than 0 s");
  }
  for (const size_t count : counts) {
    request.instances = count;
    HET_ASSIGN(const LaunchPlan plan, plan_instances(request));
    HET_TRY(written_files(settings, plan, descriptions));
  }
  HET_ASSIGN(const std::vector<InstanceTrial> trials, try_instances(settings, request, counts));
  request.instances = best_instances(trials);
  return {};
}

/// Where streams are dealt out and some do not say what they need.
bool needs_costs(const LaunchSettings& settings, const PlanRequest& request,
                 const LaunchPlan& plan) {
  return !settings.replicate && settings.measure_s > 0 && plan.instances.size() > 1 &&
         std::ranges::any_of(request.streams,
                             [](const StreamNeeds& stream) { return !stream.cost; });
}

Result<int> run_plan(const LaunchSettings& settings, const LaunchPlan& plan,
                     const std::vector<StreamDescription>& descriptions) {
  HET_ASSIGN(std::vector<Job> jobs, jobs_of(settings, plan));
  HET_ASSIGN(std::vector<std::vector<std::string>> files,
             written_files(settings, plan, descriptions));
  std::vector<InstanceOrder> orders;
  for (size_t i = 0; i < jobs.size(); ++i) {
    orders.push_back({plan.instances[i], std::move(jobs[i]), std::move(files[i])});
  }
  auto status_file = StatusFile::create(status_folder(), settings.name);
  if (!status_file && status_file.error().code() == StatusCode::InvalidArgument) {
    return Failure(status_file.error());
  }
  if (!status_file) {
    std::fprintf(stderr, "hetero launch: %s; --status will not show this launch\n",
                 status_file.error().message().c_str());
  }
  Supervisor supervisor(settings, std::move(orders),
                        status_file ? std::move(*status_file) : nullptr);
  return supervisor.run();
}

}  // namespace

Result<int> launch(const LaunchOptions& options) {
  HET_ASSIGN(const LaunchSettings settings, launch_settings(options));
  HET_ASSIGN(PlanRequest request, plan_request(options, settings));

  // 1. What is in the pipelines; one that cannot be made ends here.
  HET_ASSIGN(const Job description, description_job(settings));
  HET_ASSIGN(const std::vector<StreamDescription> descriptions, describe_streams(description));
  request.streams = stream_needs(settings, descriptions);
  if (options.topology.empty()) {
    request.nodes_by_distance = nodes_by_distance();
  } else {
    // What hangs where is known of this machine only.
    for (StreamNeeds& stream : request.streams) stream.near_nodes.clear();
  }

  // 2. How many instances, and 3. what the streams cost.
  if (is_auto(settings)) {
    const std::vector<size_t> counts = instance_counts_to_try(request);
    if (options.dry_run) return show_counts(options, request, counts);
    HET_TRY(choose_instances(settings, request, counts, descriptions));
  }
  HET_ASSIGN(LaunchPlan plan, plan_instances(request));
  if (!options.dry_run && needs_costs(settings, request, plan)) {
    HET_TRY(measure_costs(settings, plan, request.streams));
    HET_ASSIGN(plan, plan_instances(request));
  }

  // 4. The plan, and 5. the run.
  HET_TRY(written_files(settings, plan, descriptions));
  print_plan(options, request, plan);
  if (options.dry_run) return 0;
  return run_plan(settings, plan, descriptions);
}

}  // namespace het::serving
