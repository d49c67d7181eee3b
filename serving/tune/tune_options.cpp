#include "serving/tune/tune_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "inference/base/version.h"
#include "serving/launch/duration_option.h"
#include "serving/tune/tune_space.h"

namespace het::serving {
namespace {

constexpr int kTuneExitUsage = 2;
constexpr std::string_view kTuneExamples =
    "Behind -- stands a pipeline as for gst-launch-1.0. It is played again and again for some\n"
    "seconds, without writing its files and without waiting for the clock, each change beside the\n"
    "best so far in turn; a change is kept when it is faster beyond doubt and finds the same\n"
    "(docs/deployment.md).\n"
    "\n"
    "The best line goes to standard output, what is tried to standard error. Ctrl-C ends with the\n"
    "best so far. Exit status: 0 done, 1 the pipeline as given does not play, 2 wrong usage.\n"
    "\n"
    "  hetero tune --time-limit 10min -- filesrc location=V.mp4 ! decodebin ! heterodetect \\\n"
    "      model=M.onnx ! heterometaconvert ! heterometapublish file-path=out.json ! fakesink";

std::string kinds_text() {
  std::string text;
  for (const std::string& kind : tune_kinds()) text += (text.empty() ? "" : ", ") + kind;
  return text;
}

/// Names of the list, or what is wrong with one.
std::string read_kinds(const std::vector<std::string>& names, std::set<std::string>& kinds) {
  for (const std::string& name : names) {
    if (std::ranges::find(tune_kinds(), name) == tune_kinds().end()) {
      return "--only " + name + ": there is no such setting; those that are: " + kinds_text();
    }
    kinds.insert(name);
  }
  return "";
}

std::string wrong_options(const TuneOptions& options, bool has_line) {
  if (!has_line || options.line.empty()) {
    return "there is nothing to tune; give a pipeline behind --";
  }
  if (!(options.time_limit_s > 0)) return "--time-limit has to be above 0";
  if (!(options.seconds >= 0.2) || options.seconds > 3600) {
    return fmt::format("--seconds {:g} is not between 0.2 s and an hour", options.seconds);
  }
  if (options.only.contains("inference-interval") && !options.allow_interval) {
    return "--only inference-interval needs --allow-interval: frames between are not analysed";
  }
  return "";
}

bool is_gst_launch(const std::string& word) {
  return word == "gst-launch-1.0" || word.ends_with("/gst-launch-1.0");
}

}  // namespace

ParsedTuneOptions parse_tune_options(int argc, char** argv) {
  ParsedTuneOptions parsed;
  TuneOptions& options = parsed.options;
  CLI::App app("Finds the settings of a pipeline's inference elements that make it fastest.",
               "hetero tune");
  app.set_version_flag("--version", "hetero " + std::string(version()));
  app.footer(std::string(kTuneExamples));
  std::vector<std::string> only;
  add_duration(app, "--time-limit", options.time_limit_s, 1,
               "Time for everything, as 90s, 5min, 1h; 5min unless given");
  add_duration(app, "--seconds", options.seconds, 1, "Time of one run; 2s unless given");
  app.add_option("--bound", options.bound,
                 "How much of the results may differ, from 0 to 1; 0.02 unless given")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--only", only, "Settings to try, separated by commas: " + kinds_text())
      ->delimiter(',');
  app.add_flag("--allow-interval", options.allow_interval,
               "Tries inference-interval, too: frames between are not analysed");
  app.add_option("--json", options.json_file, "Writes the result to this file as JSON");
  // CLI11 would take what is behind -- for positional arguments.
  const auto end = std::find(argv + 1, argv + argc, std::string_view("--"));
  const bool has_line = end != argv + argc;
  if (has_line) {
    options.line.assign(end + 1, argv + argc);
    if (!options.line.empty() && is_gst_launch(options.line.front())) {
      options.line.erase(options.line.begin());
    }
  }
  try {
    app.parse(static_cast<int>(end - argv), argv);
  } catch (const CLI::ParseError& failure) {
    parsed.exit_status = app.exit(failure) == 0 ? 0 : kTuneExitUsage;
    return parsed;
  }
  std::string wrong = read_kinds(only, options.only);
  if (wrong.empty()) wrong = wrong_options(options, has_line);
  if (!wrong.empty()) {
    std::fprintf(stderr, "hetero tune: %s (hetero tune --help)\n", wrong.c_str());
    parsed.exit_status = kTuneExitUsage;
  }
  return parsed;
}

}  // namespace het::serving
