#include "tools/bench.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>

#include "devices/register_devices.h"
#include "tools/commands.h"

namespace het {
namespace {

Status check(const BenchOptions& options) {
  if (!options.api.empty() && options.api != "sync" && options.api != "async") {
    return error(StatusCode::InvalidArgument, "-api takes sync or async, not '{}'", options.api);
  }
  if (options.api == "sync" && options.requests > 1) {
    return error(StatusCode::InvalidArgument, "-api sync has one request; -nireq {} needs async",
                 options.requests);
  }
  if (options.seconds <= 0.0) {
    return error(StatusCode::InvalidArgument, "-t takes seconds above 0, not {}", options.seconds);
  }
  return {};
}

int bench(const BenchOptions& options) {
  Status status = check(options);
  if (!status.ok()) return report(status);
  const std::shared_ptr<Core> core = het::core();
  const auto result = run_bench(*core, options);
  if (!result) return report(result.error());
  if (!options.trace.empty()) {
    status = write_trace(options.trace, options.model, result->traced);
    if (!status.ok()) return report(status);
  }
  print_bench(options, *result);
  return kExitOk;
}

}  // namespace

void add_bench_command(CLI::App& app, int& exit_status) {
  CLI::App* command =
      app.add_subcommand("bench", "Measure latency and throughput, with benchmark_app's options");
  auto o = std::make_shared<BenchOptions>();
  command->add_option("model,-m", o->model, "Model file")->required();
  command->add_option("-d,--device", o->device, "Device");
  command->add_option("--hint", o->hint, "latency, throughput, cumulative_throughput or none");
  command->add_option("--api", o->api, "sync or async (default: sync for the latency hint)");
  command->add_option("--nireq", o->requests, "Requests in flight (0: the optimal number)")
      ->check(CLI::Range(0, 65536));
  command->add_option("--nstreams", o->streams, "Streams of the device, a number or AUTO");
  command->add_option("--nthreads", o->threads, "Threads of the device")
      ->check(CLI::Range(0, 1024));
  command->add_option("-t", o->seconds, "Duration in seconds (default 10)");
  command->add_option("--niter", o->iterations, "Number of inferences (0: by duration)")
      ->check(CLI::NonNegativeNumber);
  command->add_option("-i", o->inputs, "FILE or NAME:FILE (.npy or a picture), random otherwise");
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
  command->callback([o, &exit_status] { exit_status = bench(*o); });
}

}  // namespace het
