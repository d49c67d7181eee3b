#include "serving/density/command/density_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "inference/base/version.h"
#include "serving/density/results/density_chart.h"
#include "serving/launch/duration_option.h"

namespace het::density {
namespace {

using serving::add_duration;

constexpr int kExitWrongUsage = 2;
constexpr const char* kDensityExamples =
    "Behind -- stands a pipeline as for gst-launch-1.0, with one source of video (a file) and a "
    "sink.\n"
    "Each trial plays copies of it in a process of its own; a frame is due every 1/fps s, waits in "
    "front\n"
    "of the decoder for that time, and its latency counts from then, so that a pipeline that falls "
    "behind\n"
    "is not measured by its own pace. A stream passes when its p99 and its rate are kept.\n"
    "With --program the words behind -- are a program that measures, told what on its standard "
    "input\n"
    "(serving/density/README.md).\n"
    "\n"
    "Exit status: 0 some streams are carried, 1 none are or a trial failed, 2 wrong usage, 130 "
    "stopped.\n"
    "\n"
    "  hetero density --fps 15 --p99 200ms -- filesrc location=street.mp4 ! decodebin \\\n"
    "      ! heterodetect model=M.onnx model-instance-id=m ! fakesink\n"
    "  hetero density --device CPU --device HETERO:GPU,CPU --json found.json --chart found.svg -- "
    "...";

void add_density_options(CLI::App& app, DensityOptions& options) {
  app.add_option("--fps", options.goal.fps, "Frames per second of each stream; 15 unless given")
      ->check(CLI::Range(0.1, 1000.0));
  add_duration(app, "--p99", options.goal.p99_ms, 0.001,
               "Latency that 99 % of a stream's frames keep, as 200ms or 0.2s; 200ms unless given");
  app.add_option("--drop", options.goal.drop,
                 "Share of its frames that a stream may lose; 0.01 unless given")
      ->check(CLI::Range(0.0, 0.99));
  app.add_option("--device", options.devices,
                 "Device of all inference elements; may be repeated: a search for each")
      ->allow_extra_args(false);
  add_duration(app, "--seconds", options.window_s, 1, "Measured time of a trial; 10s unless given");
  add_duration(app, "--warmup", options.warmup_s, 1, "Before it, not counted; 2s unless given");
  app.add_option("--first", options.search.first, "Streams of the first trial; 1 unless given")
      ->check(CLI::Range(1, 4096));
  app.add_option("--most", options.search.most, "No more streams are tried; 256 unless given")
      ->check(CLI::Range(1, 4096));
  app.add_option("--confirm", options.search.confirm,
                 "Runs that the result has to pass; 3 unless given")
      ->check(CLI::Range(1, 99));
  add_duration(app, "--time-limit", options.time_limit_s, 1,
               "Ends after that time with what is known, as 10min");
  app.add_option("--most-others", options.most_other_cpus,
                 "Runs a trial again, 5 times at most, that fails while other processes keep more "
                 "than that many processors busy")
      ->check(CLI::Range(0.01, 4096.0));
  app.add_option("--sink", options.sink, "Name of the sink at which frames arrive, if it has many");
  app.add_flag("--program", options.is_program,
               "Behind -- stands a program that measures, not a pipeline");
  app.add_option("--json", options.json_file, "Writes results and all trials to this file");
  app.add_option("--chart", options.chart_file, "Draws latencies by streams: FILE.svg or FILE.png");
}

std::string density_contradiction(const DensityOptions& options) {
  const Goal& goal = options.goal;
  if (options.line.empty()) {
    return options.is_program ? "there is no program; give its words behind --"
                              : "there is no pipeline; give one behind --";
  }
  if (!(goal.p99_ms > 0)) return "--p99 has to be above 0";
  if (!(options.window_s >= 0.5) || options.window_s > 86400) {
    return fmt::format("--seconds {:g} is not between 0.5 s and a day", options.window_s);
  }
  if (options.window_s * goal.fps < 20) {
    return fmt::format(
        "{:g} s at {:g} frames/s are {:.0f} frames, too few for a p99; give more --seconds",
        options.window_s, goal.fps, options.window_s * goal.fps);
  }
  if (options.search.first > options.search.most) return "--first is above --most";
  if (options.is_program && !options.sink.empty()) return "--sink is for pipelines, not --program";
  if (!options.chart_file.empty() && !is_chart_file(options.chart_file)) {
    return fmt::format("--chart '{}' ends neither in .svg nor in .png", options.chart_file);
  }
  for (size_t i = 0; i < options.devices.size(); ++i) {
    if (options.devices[i].empty()) return "--device is empty";
    if (std::find(options.devices.begin(), options.devices.begin() + static_cast<ptrdiff_t>(i),
                  options.devices[i]) != options.devices.begin() + static_cast<ptrdiff_t>(i)) {
      return fmt::format("--device {} is given twice", options.devices[i]);
    }
  }
  return "";
}

}  // namespace

ParsedDensity parse_density_options(int argc, char** argv) {
  ParsedDensity parsed;
  DensityOptions& options = parsed.options;
  options.search.most = 256;
  CLI::App app("Finds how many streams of a pipeline this machine carries at a rate and a latency.",
               "hetero density");
  app.set_version_flag("--version", "hetero " + std::string(version()));
  app.footer(kDensityExamples);
  add_density_options(app, options);
  // CLI11 would take what is behind -- for positional arguments.
  const auto end = std::find(argv + 1, argv + argc, std::string_view("--"));
  if (end != argv + argc) options.line.assign(end + 1, argv + argc);
  const auto is_launcher = [](const std::string& word) {
    return word == "gst-launch-1.0" || word.ends_with("/gst-launch-1.0");
  };
  if (!options.is_program && !options.line.empty() && is_launcher(options.line.front())) {
    options.line.erase(options.line.begin());
  }
  try {
    app.parse(static_cast<int>(end - argv), argv);
  } catch (const CLI::ParseError& failure) {
    parsed.exit_status = app.exit(failure) == 0 ? 0 : kExitWrongUsage;
    return parsed;
  }
  const std::string wrong = density_contradiction(options);
  if (!wrong.empty()) {
    std::fprintf(stderr, "hetero density: %s (hetero density --help)\n", wrong.c_str());
    parsed.exit_status = kExitWrongUsage;
  }
  return parsed;
}

}  // namespace het::density
