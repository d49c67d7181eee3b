#include "benchmarks/hetero/real_devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "benchmarks/hetero/single_models.h"
#include "benchmarks/hetero/timing.h"

namespace het::hetero {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kTurns = 7;

/// A model on a device or under a policy.
struct Contestant {
  std::string name;
  std::shared_ptr<CompiledModel> model;
  std::vector<double> seconds;  ///< of each turn: a request or, for throughput, a frame
};

std::vector<std::string> names_of(const std::string& list) {
  std::vector<std::string> names;
  std::istringstream rest(list);
  for (std::string name; std::getline(rest, name, ',');) names.push_back(name);
  return names;
}

/// In turns, so that what disturbs disturbs all.
Status take_turns(std::vector<Contestant>& contestants, bool is_rate, size_t requests) {
  for (size_t turn = 0; turn < kTurns; ++turn) {
    for (Contestant& one : contestants) {
      if (is_rate) {
        HET_ASSIGN(const Rate rate, measure_throughput(*one.model, requests));
        one.seconds.push_back(1 / rate.per_second);
      } else {
        HET_ASSIGN(one.seconds.emplace_back(), measure_latency(*one.model, 5));
      }
    }
  }
  return {};
}

/// "0.98 [0.95 1.01]": how much faster it is than the other, by turns.
std::string ratio_text(const Contestant& one, const Contestant& other) {
  std::vector<double> ratios;
  for (size_t turn = 0; turn < one.seconds.size(); ++turn) {
    ratios.push_back(other.seconds[turn] / one.seconds[turn]);
  }
  const auto [least, most] = std::ranges::minmax(ratios);
  return fmt::format("{:.3f} [{:.3f} {:.3f}]", median(ratios), least, most);
}

}  // namespace

Status measure_real(Core& core, const std::string& path, const RealDevices& options) {
  HET_ASSIGN(const auto model, read_bound(core, path));
  const std::string name = std::filesystem::path(path).stem().string();
  for (const bool is_rate : {false, true}) {
    const Properties hint = {{"INFERENCE_PRECISION_HINT", "f32"},
                             {"PERFORMANCE_HINT", is_rate ? "THROUGHPUT" : "LATENCY"}};
    std::vector<Contestant> contestants;
    for (const std::string& device : names_of(options.devices)) {
      auto alone = core.compile_model(*model, device, hint);
      if (alone) contestants.push_back({device, std::move(*alone), {}});
    }
    const size_t singles = contestants.size();
    std::vector<std::string> policies = {"priority", "latency", "parallel"};
    if (is_rate) policies = {"priority", "throughput"};
    for (const std::string& policy : policies) {
      if (!options.policy.empty() && options.policy != policy) continue;
      Properties properties = hint;
      properties["HETERO_POLICY"] = policy;
      HET_ASSIGN(auto compiled,
                 core.compile_model(*model, "HETERO:" + options.devices, properties));
      HET_ASSIGN(const std::string parts, compiled->get_property("HETERO_NUMBER_OF_SUBMODELS"));
      contestants.push_back(
          {fmt::format("{}, {} subgraphs", policy, parts), std::move(compiled), {}});
    }
    HET_TRY(take_turns(contestants, is_rate, options.requests));
    const Contestant* best = nullptr;
    for (size_t i = 0; i < singles; ++i) {
      if (best == nullptr || median(contestants[i].seconds) < median(best->seconds)) {
        best = &contestants[i];
      }
    }
    for (const Contestant& one : contestants) {
      fmt::print("{:<28} {:<26} {:>9.3f} ms a {}{}\n", name, one.name, 1e3 * median(one.seconds),
                 is_rate ? "frame" : "request",
                 best == nullptr ? "" : ", " + ratio_text(one, *best) + " of " + best->name);
    }
    std::fflush(stdout);
  }
  return {};
}

Status measure_repeats(Core& core, const std::string& path, const RealDevices& options) {
  constexpr size_t kCompiles = 3;
  HET_ASSIGN(const auto model, read_bound(core, path));
  for (const std::string policy : {"latency", "parallel", "throughput"}) {
    if (!options.policy.empty() && options.policy != policy) continue;
    std::vector<Contestant> plans(kCompiles);
    std::string subgraphs;
    const auto start = Clock::now();
    for (Contestant& plan : plans) {
      HET_ASSIGN(plan.model, core.compile_model(*model, "HETERO:" + options.devices,
                                                {{"HETERO_POLICY", policy}}));
      HET_ASSIGN(const std::string count, plan.model->get_property("HETERO_NUMBER_OF_SUBMODELS"));
      subgraphs += (subgraphs.empty() ? "" : ", ") + count;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    HET_TRY(take_turns(plans, policy == "throughput", options.requests));
    std::string times;
    double least = 1e9;
    double most = 0;
    for (const Contestant& plan : plans) {
      const double middle = median(plan.seconds);
      times += fmt::format("{}{:.3f}", times.empty() ? "" : ", ", 1e3 * middle);
      least = std::min(least, middle);
      most = std::max(most, middle);
    }
    fmt::print("{:<38} {:<10} {} ms; {} subgraphs; {:.1f} % apart; {:.1f} s a compile\n",
               std::filesystem::path(path).stem().string(), policy, times, subgraphs,
               100 * (most / least - 1), seconds / kCompiles);
    std::fflush(stdout);
  }
  return {};
}

}  // namespace het::hetero
