// HETERO on simulated and real devices, beside OpenVINO's greedy rule, ONE runtime's rank and the
// best single device:
//   bench_hetero plan MODEL...                  on paper, all simulated machines
//   bench_hetero run [--scale X] [--requests N] MODEL...       executed by HETERO on simulated
//   machines
//   bench_hetero real [--devices GPU,CPU] MODEL...  in turns beside real devices
//   bench_hetero repeat [--devices GPU,CPU] MODEL...  plans of three compiles, beside each other
//   bench_hetero overhead MODEL...              HETERO:CPU beside CPU, alternating
//   bench_hetero split --affinity FILE MODEL...  subgraphs with these affinities, as JSON
// --csv FILE writes a line per comparison of `plan`.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "benchmarks/hetero/plan_comparison.h"
#include "benchmarks/hetero/real_devices.h"
#include "benchmarks/hetero/simulated_machine.h"
#include "benchmarks/hetero/single_models.h"
#include "benchmarks/hetero/timing.h"
#include "devices/register_devices.h"
#include "inference/passes/prepare_model.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

struct Options {
  std::string command;
  std::vector<std::string> models;
  std::string devices = "GPU,CPU";
  std::string csv;
  std::string affinity;
  std::string machine;  ///< `run`: on this one only
  std::string policy;   ///< this one only; with `run` also what the plan is
  double scale = 10;
  size_t requests = 0;  ///< of pipelines; 0: what HETERO advises
};

/// Of all devices and links.
int64_t busiest_ns(const Simulation& simulation) {
  int64_t most = 1;
  for (const auto* all : {&simulation.devices, &simulation.links}) {
    for (const SimulatedQueue& queue : *all) most = std::max<int64_t>(most, queue.busy_ns);
  }
  return most;
}

/// "GPU 12.3, CPU 4.5, GPU to CPU 1.2": milliseconds.
std::string busy_text(const Simulation& simulation) {
  const std::vector<SimulatedSpeed>& devices = simulation.machine.devices;
  std::string text;
  const auto add = [&](const std::string& name, const SimulatedQueue& queue) {
    if (queue.busy_ns == 0) return;
    text += fmt::format("{}{} {:.1f}", text.empty() ? "" : ", ", name,
                        1e-6 * static_cast<double>(queue.busy_ns));
  };
  for (size_t d = 0; d < devices.size(); ++d) add(devices[d].name, simulation.devices[d]);
  for (size_t link = 0; link < simulation.links.size(); ++link) {
    add(devices[link / devices.size()].name + " to " + devices[link % devices.size()].name,
        simulation.links[link]);
  }
  return text;
}

/// What all runs of one command add up to.
struct RunTotals {
  size_t runs = 0;
  size_t slower = 0;  ///< by more than 3 %
  double log_gain = 0;
  double worst_gain = 1e9;
  size_t pipelines = 0;
  double least_share = 1e9;
  double share_sum = 0;
  size_t wrong = 0;
};

/// One model on one machine under the three policies, beside its single devices.
Status run_machine(const std::string& name, const Model& model, const SimulatedMachine& machine,
                   const Options& options, RunTotals& totals) {
  constexpr size_t kSamples = 5;
  Core core;
  register_devices(core);
  const std::unique_ptr<Model> prepared = model.clone();
  HET_TRY(prepare_model(*prepared));
  HET_ASSIGN(const auto simulation, make_simulation(core, machine, *prepared, options.scale));
  add_simulated_devices(core, simulation);
  double single_latency = 1e9;
  double single_rate = 0;
  std::string list;
  for (const SimulatedSpeed& device : machine.devices) {
    list += (list.empty() ? "" : ",") + device.name;
    const auto alone = core.compile_model(model, device.name);
    if (!alone) continue;  // does not take all
    HET_ASSIGN(const double latency, measure_latency(**alone, kSamples));
    HET_ASSIGN(const Rate rate, measure_throughput(**alone, 0));
    single_latency = std::min(single_latency, latency);
    single_rate = std::max(single_rate, rate.per_second);
  }
  for (const char* policy : {"latency", "parallel", "throughput"}) {
    if (!options.policy.empty() && options.policy != policy) continue;
    HET_ASSIGN(const auto compiled,
               core.compile_model(model, "HETERO:" + list, {{"HETERO_POLICY", policy}}));
    if (!options.policy.empty()) {
      HET_ASSIGN(const std::string plan, compiled->get_property("HETERO_PLAN"));
      fmt::print("{}\n", plan);
    }
    const bool is_rate = std::string_view(policy) == "throughput";
    HET_ASSIGN(const std::string subgraphs, compiled->get_property("HETERO_NUMBER_OF_SUBMODELS"));
    // Inputs and results are what CPU computed, or counted.
    HET_ASSIGN(const auto request, compiled->create_infer_request());
    for (size_t i = 0; i < compiled->inputs().size(); ++i) {
      HET_TRY(request->set_input(i, simulation->values.at(compiled->inputs()[i].name)));
    }
    simulation->checks_inputs = true;
    HET_TRY(request->infer());
    simulation->checks_inputs = false;
    double gain = 0;
    double share = 0;
    if (is_rate) {
      int64_t busiest = 1;
      const auto begins = [&] {
        for (auto* all : {&simulation->devices, &simulation->links}) {
          for (SimulatedQueue& queue : *all) queue.busy_ns = 0;
        }
      };
      std::string busy;
      const auto ends = [&] {
        busiest = busiest_ns(*simulation);
        busy = busy_text(*simulation);
      };
      HET_ASSIGN(const Rate rate, measure_throughput(*compiled, options.requests, begins, ends));
      if (!options.policy.empty()) fmt::print("busy ms, {} frames: {}\n", rate.frames, busy);
      const double bound = 1e9 * static_cast<double>(rate.frames) / static_cast<double>(busiest);
      gain = rate.per_second / single_rate;
      share = rate.per_second / bound;
      ++totals.pipelines;
      totals.share_sum += share;
      totals.least_share = std::min(totals.least_share, share);
    } else {
      HET_ASSIGN(const double latency, measure_latency(*compiled, kSamples));
      gain = single_latency / latency;
    }
    ++totals.runs;
    totals.slower += gain < 0.97;
    totals.log_gain += std::log(gain);
    totals.worst_gain = std::min(totals.worst_gain, gain);
    fmt::print("{:<38} {:<14} {:<10} {:>3} subgraphs, {:.3f} of the best device{}\n", name,
               machine.name, policy, subgraphs, gain,
               is_rate ? fmt::format(", {:.3f} of the bound", share) : "");
    std::fflush(stdout);
  }
  totals.wrong += simulation->wrong_inputs;
  return {};
}

int run_simulated(const Options& options) {
  RunTotals totals;
  Core core;
  register_devices(core);
  for (const std::string& path : options.models) {
    const std::string name = std::filesystem::path(path).stem().string();
    const auto model = read_bound(core, path);
    for (const SimulatedMachine& machine : simulated_machines()) {
      if (!options.machine.empty() && options.machine != machine.name) continue;
      const Status status =
          model ? run_machine(name, **model, machine, options, totals) : Status(model.error());
      if (!status.ok()) fmt::print("{} on {}: {}\n", name, machine.name, status.message());
    }
  }
  if (totals.runs == 0) return 1;
  fmt::print(
      "{} runs: {} slower than the best device by more than 3 %, worst {:.3f}, mean gain {:.3f}; "
      "{} pipelines reach {:.3f} of their bound, {:.3f} at least; {} inputs of subgraphs differ "
      "from CPU's values\n",
      totals.runs, totals.slower, totals.worst_gain,
      std::exp(totals.log_gain / static_cast<double>(totals.runs)), totals.pipelines,
      totals.share_sum / static_cast<double>(totals.pipelines), totals.least_share, totals.wrong);
  return totals.wrong == 0 ? 0 : 1;
}

int plan_all(const Options& options) {
  Core core;
  register_devices(core);
  PlanComparison comparison(options.csv);
  for (const std::string& path : options.models) {
    const std::string name = std::filesystem::path(path).stem().string();
    auto model = read_bound(core, path);
    Status status = model ? prepare_model(**model) : Status(model.error());
    if (status.ok()) status = comparison.add(name, **model);
    if (!status.ok()) fmt::print("left out: {}: {}\n", name, status.message());
  }
  comparison.print_summary();
  return 0;
}

int run_real(const Options& options) {
  const std::shared_ptr<Core> core = het::core();
  const RealDevices real = {options.devices, options.policy, options.requests};
  int failed = 0;
  for (const std::string& path : options.models) {
    const Status status = options.command == "overhead" ? measure_overhead(*core, path)
                          : options.command == "split"
                              ? print_split(*core, path, options.devices, options.affinity)
                          : options.command == "repeat" ? measure_repeats(*core, path, real)
                                                        : measure_real(*core, path, real);
    if (status.ok()) continue;
    fmt::print("{}: {}\n", path, status.message());
    failed = 1;
  }
  return failed;
}

int run(int argc, char** argv) {
  // Nothing from earlier runs: simulated devices of one name have other speeds on other machines.
  ::setenv("GST_HETERO_CACHE_DIR", "", 1);
  Options options;
  if (argc > 1) options.command = argv[1];
  for (int i = 2; i < argc; ++i) {
    const std::string name = argv[i];
    const bool has_value = name.starts_with("--") && i + 1 < argc;
    if (!has_value) {
      options.models.push_back(name);
    } else if (name == "--scale") {
      options.scale = std::strtod(argv[++i], nullptr);
    } else if (name == "--requests") {
      options.requests = std::strtoul(argv[++i], nullptr, 10);
    } else if (name == "--csv") {
      options.csv = argv[++i];
    } else if (name == "--machine") {
      options.machine = argv[++i];
    } else if (name == "--policy") {
      options.policy = argv[++i];
    } else if (name == "--affinity") {
      options.affinity = argv[++i];
    } else if (name == "--devices") {
      options.devices = argv[++i];
    }
  }
  if (!options.models.empty()) {
    if (options.command == "plan") return plan_all(options);
    if (options.command == "run") return run_simulated(options);
    for (const char* command : {"real", "repeat", "overhead", "split"}) {
      if (options.command == command) return run_real(options);
    }
  }
  fmt::print(stderr,
             "usage: bench_hetero plan|run|real|repeat|overhead|split [--csv FILE] [--scale X] "
             "[--requests N] [--machine NAME] [--policy NAME] [--devices GPU,CPU] "
             "[--affinity FILE] MODEL...\n");
  return 2;
}

}  // namespace
}  // namespace het::hetero

int main(int argc, char** argv) {
  return het::hetero::run(argc, argv);
}
