#include "serving/launch/command/instance_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "serving/launch/command/launch_orders.h"
#include "serving/launch/command/trial.h"

namespace het::serving {
namespace {

constexpr size_t kRounds = 3;
constexpr double kAsGood = 0.97;

void say(const std::string& text) {
  std::fprintf(stderr, "hetero launch: %s\n", text.c_str());
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

Result<std::vector<TrialOrder>> orders_of(const LaunchSettings& settings, const LaunchPlan& plan) {
  HET_ASSIGN(std::vector<Job> jobs, jobs_of(settings, plan));
  std::vector<TrialOrder> orders;
  for (size_t i = 0; i < jobs.size(); ++i) {
    orders.push_back(
        {std::move(jobs[i]), {plan.instances[i].processors, plan.instances[i].numa_nodes}});
  }
  return orders;
}

Result<double> measure(const LaunchSettings& settings, PlanRequest request, size_t instances) {
  request.instances = instances;
  HET_ASSIGN(const LaunchPlan plan, plan_instances(request));
  HET_ASSIGN(std::vector<TrialOrder> orders, orders_of(settings, plan));
  HET_ASSIGN(const std::vector<TrialResult> results,
             run_trial(std::move(orders), settings.measure_s));
  return frames_per_s(results);
}

}  // namespace

size_t best_instances(const std::vector<InstanceTrial>& trials) {
  double best = 0;
  for (const InstanceTrial& trial : trials) best = std::max(best, trial.median);
  size_t fewest = 0;
  for (const InstanceTrial& trial : trials) {
    if (trial.median < kAsGood * best) continue;
    if (fewest == 0 || trial.instances < fewest) fewest = trial.instances;
  }
  return fewest;
}

Result<std::vector<InstanceTrial>> try_instances(const LaunchSettings& settings,
                                                 const PlanRequest& request,
                                                 const std::vector<size_t>& counts) {
  std::vector<InstanceTrial> trials;
  for (const size_t count : counts) trials.push_back({count, {}, 0});
  for (size_t round = 0; round < kRounds; ++round) {
    for (InstanceTrial& trial : trials) {
      HET_ASSIGN(const double rate, measure(settings, request, trial.instances));
      trial.rounds.push_back(rate);
    }
  }
  for (InstanceTrial& trial : trials) {
    trial.median = median_of(trial.rounds);
    const auto [least, most] = std::ranges::minmax(trial.rounds);
    say(fmt::format("{} {}: {:.1f} frames/s [{:.1f} .. {:.1f}] in {} rounds of {:g} s",
                    trial.instances, trial.instances == 1 ? "instance" : "instances", trial.median,
                    least, most, trial.rounds.size(), settings.measure_s));
  }
  return trials;
}

Status measure_costs(const LaunchSettings& settings, const LaunchPlan& plan,
                     std::vector<StreamNeeds>& streams) {
  for (const InstancePlan& instance : plan.instances) {
    for (const size_t index : instance.streams) {
      if (streams[index].cost) continue;
      LaunchPlan alone;
      alone.instances = {instance};
      alone.instances[0].streams = {index};
      HET_ASSIGN(std::vector<TrialOrder> orders, orders_of(settings, alone));
      HET_ASSIGN(const std::vector<TrialResult> results,
                 run_trial(std::move(orders), settings.measure_s));
      const TrialResult& result = results.front();
      HET_ASSIGN(const double rate, frames_per_s(results));
      streams[index].cost = result.cpu_s / result.wall_s;
      say(fmt::format(
          "stream '{}' keeps {:.2f} processors busy at {:.1f} frames/s (decoding "
          "{:.2f}, inference {:.2f}); 'cost: {:.2f}' in the file spares measuring it",
          streams[index].name, *streams[index].cost, rate, result.decoding_s / result.wall_s,
          result.inference_s / result.wall_s, *streams[index].cost));
    }
  }
  return {};
}

}  // namespace het::serving
