#include "tools/bench.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "devices/register_devices.h"
#include "tools/commands.h"
#include "tools/stub_gain.h"
#include "tools/sweep.h"

namespace het {
namespace {

bool is_one_model_only(const BenchOptions& options) {
  return !options.trace.empty() || !options.sweep.empty() || !options.stubs.empty();
}

Status check_sweep(const BenchOptions& options, const SweepAxes& axes) {
  if (options.api == "sync" || options.hint == "latency") {
    return error(StatusCode::InvalidArgument,
                 "--sweep keeps several requests in flight; -api sync and -hint latency have one");
  }
  const bool has_batch = options.preparation.properties.contains("BATCH_SIZE");
  for (const auto& [is_twice, name, option] :
       {std::tuple(!options.streams.empty() && !axes.streams.front().empty(), "streams",
                   "-nstreams"),
        std::tuple(options.requests > 0 && axes.requests.front() > 0, "requests", "-nireq"),
        std::tuple(has_batch && axes.batches.front() > 0, "batch", "-b")}) {
    if (!is_twice) continue;
    return error(StatusCode::InvalidArgument,
                 "--sweep has {}, and so has {}; leave one of them out", name, option);
  }
  if (!options.trace.empty() || options.counters || !options.counters_sort.empty()) {
    return error(StatusCode::InvalidArgument,
                 "--sweep measures without -pc and -trace, which take time of their own");
  }
  return {};
}

Status check(const BenchOptions& options) {
  if (!options.api.empty() && options.api != "sync" && options.api != "async") {
    return error(StatusCode::InvalidArgument, "-api takes sync or async, not '{}'", options.api);
  }
  if (options.api == "sync" && options.requests > 1) {
    return error(StatusCode::InvalidArgument, "-api sync has one request; -nireq {} needs async",
                 options.requests);
  }
  if (options.seconds && *options.seconds <= 0.0) {
    return error(StatusCode::InvalidArgument, "-t takes seconds above 0, not {}", *options.seconds);
  }
  if (options.models.size() > 1 && is_one_model_only(options)) {
    return error(StatusCode::InvalidArgument, "-trace, --sweep and --stub take one model, not {}",
                 options.models.size());
  }
  if (!options.chart.empty() && options.sweep.empty()) {
    return error(StatusCode::InvalidArgument, "--chart shows a --sweep, and there is none");
  }
  if (!options.chart.empty() && !options.chart.ends_with(".svg")) {
    return error(StatusCode::InvalidArgument,
                 "--chart writes SVG; the name of its file has to end with .svg, '{}' does not",
                 options.chart);
  }
  if (!options.sweep.empty() && !options.stubs.empty()) {
    return error(StatusCode::InvalidArgument, "--sweep and --stub are two measurements");
  }
  return {};
}

Status sweep(Core& core, const BenchOptions& options) {
  HET_ASSIGN(const SweepAxes axes, parse_sweep(options.sweep));
  HET_TRY(check_sweep(options, axes));
  HET_ASSIGN(const SweepResult result, run_sweep(core, options, axes));
  return print_sweep(options, result);
}

Status measure_models(Core& core, const BenchOptions& options) {
  std::vector<BenchResult> results;
  for (const std::string& model : options.models) {
    HET_ASSIGN(BenchResult result, run_bench(core, options, model));
    if (!options.trace.empty()) HET_TRY(write_trace(options.trace, model, result.traced));
    results.push_back(std::move(result));
  }
  return print_bench(options, results);
}

int bench(const BenchOptions& options) {
  Status status = check(options);
  if (!status.ok()) return report(status);
  const std::shared_ptr<Core> core = het::core();
  status = !options.sweep.empty()   ? sweep(*core, options)
           : !options.stubs.empty() ? print_stub_gain(*core, options)
                                    : measure_models(*core, options);
  return status.ok() ? kExitOk : report(status);
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("bench", "Measure latency and throughput, with benchmark_app's options");
  auto o = std::make_shared<BenchOptions>();
  command
      ->add_option("model,-m", o->models,
                   "Model files; of several the geometric means are told, too")
      ->required();
  command->add_option("-d,--device", o->device, "Device");
  command->add_option("--hint", o->hint, "latency, throughput, cumulative_throughput or none");
  command->add_option("--api", o->api, "sync or async (default: sync for the latency hint)");
  command->add_option("--nireq", o->requests, "Requests in flight (0: the optimal number)")
      ->check(CLI::Range(0, 65536));
  command->add_option("--nstreams", o->streams, "Streams of the device, a number or AUTO");
  command->add_option("--nthreads", o->threads, "Threads of the device")
      ->check(CLI::Range(0, 1024));
  command->add_option("-t", o->seconds,
                      "Duration in seconds (default 10; of each setting of a sweep 2)");
  command->add_option("--niter", o->iterations, "Number of inferences (0: by duration)")
      ->check(CLI::NonNegativeNumber);
  command
      ->add_option("--rounds", o->rounds,
                   "Parts of the run whose least and most are the spread (default 5)")
      ->check(CLI::Range(1, 1000));
  command
      ->add_option("--sweep", o->sweep,
                   "streams=1,2,4 requests=1,2,4,8 batch=1,4: measure every combination")
      ->expected(1, 16);
  command->add_option("--chart", o->chart,
                      "FILE.svg: throughput of the sweep against latency, with front and knee");
  command
      ->add_option("--stub", o->stubs,
                   "What would be gained if these nodes took no time: names and operator types")
      ->allow_extra_args(false);
  command->add_option("-i", o->inputs, "FILE or NAME:FILE (.npy or a picture), random otherwise");
  command->add_option("--frames", o->frames,
                      "FORMAT:WIDTHxHEIGHT (NV12:1920x1080): every inference converts such a "
                      "picture first, as in a pipeline");
  add_preparation_options(*command, o->preparation);
  command->add_option("--infer_precision", o->precision, "f32, bf16, f16 or dynamic");
  command->add_flag("--pc", o->counters, "Print the time of every node");
  command->add_option("--pcsort", o->counters_sort, "sort, no_sort or simple_sort; implies -pc")
      ->check(CLI::IsMember({"sort", "no_sort", "simple_sort"}));
  command->add_option(
      "--trace", o->trace,
      "FILE for chrome://tracing or ui.perfetto.dev: nodes of the first executions");
  command->add_option("--cache_dir", o->cache_dir,
                      "Folder of measured choices (CACHE_DIR); \"\": none are kept or measured");
  command->add_option("--load_config", o->load_config, "JSON file {device: {KEY: value}}");
  command->add_option("-c", o->config_file,
                      "XML file with OpenCL kernels of one's own (CONFIG_FILE of the GPU device)");
  command->add_flag("--json", o->json, "Print one JSON object on stdout");
  command->add_option("--report", o->report, "FILE for that JSON object");
  command->callback([o, &exit_status] { exit_status = bench(*o); });
}

}  // namespace het
