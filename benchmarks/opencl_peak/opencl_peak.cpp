// What an OpenCL device can do at best - float32 multiply-adds, memory, launches - and the share of
// it that the convolutions and matrix products of a model reach, layer by layer.
// bench_opencl_peak [--device N] [--f16] [--exact] [--tiles] [--way NAME] [--measure FOLDER]
// [--seconds S] [--batch N] [--only TEXT] [MODEL]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "benchmarks/opencl_peak/layers.h"
#include "devices/gpu/fuse.h"
#include "devices/gpu/peaks.h"
#include "devices/register_devices.h"
#include "inference/model/port_texts.h"
#include "inference/passes/prepare_model.h"

namespace het::gpu {
namespace {

struct Options {
  size_t device = 0;
  int64_t batch = 1;     ///< of the model, and for dimensions that it leaves open
  double seconds = 0.2;  ///< a layer
  std::string only;      ///< layers whose line contains it
  std::string model;
  PlanOptions plan;
};

struct Total {
  double flops = 0.0;
  Fastest time;
};

void print_total(const char* what, const Total& total, const Peaks& peaks) {
  if (total.flops == 0.0) return;
  const double gflops = total.flops / total.time.seconds * 1e-9;
  fmt::print("{}: {:.2f} GFLOP in {:.2f} ms, {:.1f} GFLOP/s, {:.0f} % of the peak", what,
             total.flops * 1e-9, total.time.seconds * 1e3, gflops, 100.0 * gflops / peaks.gflops);
  fmt::print(", {:.0f} % by processor time\n",
             100.0 * total.flops / total.time.cpu_seconds * 1e-9 / peaks.cpu_gflops);
}

Status measure_model(const Options& options, const std::shared_ptr<Context>& context,
                     const Peaks& peaks) {
  const std::shared_ptr<Core> core = het::core();
  HET_ASSIGN(const std::unique_ptr<Model> model, core->read_model(options.model));
  if (options.batch != 1) HET_TRY(set_batch(*model, options.batch));
  std::map<std::string, Shape> shapes;
  for (const ModelInput& input : model->inputs()) {
    Shape shape = input.value->desc().shape;
    std::replace(shape.begin(), shape.end(), kUnknownDim, options.batch);
    shapes[input.value->name()] = std::move(shape);
  }
  HET_TRY(model->reshape(shapes));
  HET_TRY(prepare_model(*model));
  HET_TRY(fuse(*model));
  Total convolutions;
  Total products;
  fmt::print("{:>5} {:>9} {:>8} {:>5} {:>5}  layer\n", "times", "us", "GFLOP/s", "share", "cpu");
  for (const Layer& layer : layers_of(*model)) {
    if (layer.text.find(options.only) == std::string::npos) continue;
    const Result<LayerTime> time = measure_layer(layer, context, options.plan, options.seconds);
    if (!time) {
      fmt::print("{:>5} {}: {}\n", layer.count, layer.text, time.error().message());
      continue;
    }
    const double gflops = layer.flops / time->time.seconds * 1e-9;
    const double cpu_gflops = layer.flops / time->time.cpu_seconds * 1e-9;
    fmt::print("{:>5} {:>9.1f} {:>8.1f} {:>4.0f}% {:>4.0f}%  {} [{}]\n", layer.count,
               time->time.seconds * 1e6, gflops, 100.0 * gflops / peaks.gflops,
               100.0 * cpu_gflops / peaks.cpu_gflops, layer.text, time->kernels);
    std::fflush(stdout);
    Total& total = layer.convolution ? convolutions : products;
    total.flops += layer.flops * static_cast<double>(layer.count);
    total.time.seconds += time->time.seconds * static_cast<double>(layer.count);
    total.time.cpu_seconds += time->time.cpu_seconds * static_cast<double>(layer.count);
  }
  print_total("convolutions", convolutions, peaks);
  print_total("matrix products", products, peaks);
  return {};
}

Status run(const Options& options) {
  HET_ASSIGN(const Hardware hardware, find_gpu(options.device, true));
  HET_ASSIGN(const std::shared_ptr<Context> context, Context::create(hardware));
  HET_ASSIGN(const Peaks peaks, measure_peaks(*context));
  fmt::print("{} ({}), vectors of {}\n", hardware.name, hardware.platform_name,
             hardware.vector_width());
  fmt::print(
      "multiply-adds {:.1f} GFLOP/s ({:.1f} per second of processor time), copy {:.1f} GB/s, read "
      "{:.1f} GB/s, launch {:.2f} us, "
      "launch and wait {:.1f} us\n",
      peaks.gflops, peaks.cpu_gflops, peaks.copy_gbytes, peaks.read_gbytes, peaks.launch_us,
      peaks.finish_us);
  return options.model.empty() ? Status() : measure_model(options, context, peaks);
}

}  // namespace
}  // namespace het::gpu

int main(int argc, char** argv) {
  het::gpu::Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto next = [&] { return std::string(i + 1 < argc ? argv[++i] : ""); };
    if (argument == "--device") {
      options.device = std::strtoul(next().c_str(), nullptr, 10);
    } else if (argument == "--f16") {
      options.plan.stored_type = het::ElementType::Float16;
    } else if (argument == "--tiles") {
      options.plan.local_tiles = true;
    } else if (argument == "--way") {
      options.plan.convolution = next();
    } else if (argument == "--measure") {
      options.plan.measure = true;
      options.plan.cache_folder = next();
    } else if (argument == "--exact") {
      options.plan.fast_algorithms = false;
    } else if (argument == "--seconds") {
      options.seconds = std::strtod(next().c_str(), nullptr);
    } else if (argument == "--batch") {
      const std::string text = next();
      options.batch = std::strtol(text.c_str(), nullptr, 10);
      if (options.batch < 1) {
        fmt::print(stderr, "--batch '{}': a batch is a number from 1 on\n", text);
        return 2;
      }
    } else if (argument == "--only") {
      options.only = next();
    } else if (argument.rfind("--", 0) == 0) {
      fmt::print(stderr, "unknown option {}; read the head of opencl_peak.cpp\n", argument);
      return 2;
    } else {
      options.model = argument;
    }
  }
  const het::Status status = het::gpu::run(options);
  if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
  return status.ok() ? 0 : 1;
}
