#include "serving/launch/command/launch_options.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "inference/base/version.h"
#include "serving/launch/plan/launch_file.h"

namespace het::serving {
namespace {

constexpr int kExitUsage = 2;
constexpr std::string_view kExamples =
    "Behind -- stands a pipeline as for gst-launch-1.0, which every instance runs; {instance},\n"
    "{node} and {name} in it become the instance's number, its NUMA node and what --name says.\n"
    "FILE.yaml has streams and a template of their pipeline, which are dealt out to the instances\n"
    "(docs/deployment.md).\n"
    "\n"
    "Exit status: 0 all ended well (or were told to end), 1 something failed, 2 wrong usage.\n"
    "\n"
    "  hetero launch --instances 2 -- videotestsrc num-buffers=300 ! heterodetect model=M.onnx ! "
    "\\\n"
    "      heterometaconvert ! heterometapublish file-path=out-{instance}.json ! fakesink\n"
    "  hetero launch --dry-run cameras.yaml\n"
    "  hetero launch --status";

const std::map<std::string, RestartPolicy> kRestartPolicies = {
    {"on-failure", RestartPolicy::OnFailure},
    {"always", RestartPolicy::Always},
    {"no", RestartPolicy::Never}};

void add_options(CLI::App& app, LaunchOptions& options, std::string& positional) {
  app.add_option("FILE.yaml", positional, "Launch file; with --status the name of a launch");
  app.add_option(
      "--instances", options.instances,
      "node: one per NUMA node (default); a number; auto: measures 1, 2, 4 ... and takes "
      "the best");
  app.add_option("--cpus", options.processors, "Processors to use, as 0-3,8; all unless given");
  app.add_flag("--dry-run", options.dry_run, "Prints who would run where, and runs nothing");
  app.add_option("--name", options.name, "Name for --status; the process' number unless given");
  app.add_option("--restart", options.restart,
                 "What is started again: on-failure (default: what was killed or crashed), always, "
                 "no")
      ->transform(CLI::CheckedTransformer(kRestartPolicies).description(""))
      ->option_text("on-failure|always|no");
  app.add_option("--stop-timeout", options.stop_timeout_s,
                 "Seconds that an instance may take to end its streams; 10 unless given")
      ->check(CLI::Range(0.0, 86400.0));
  app.add_option("--measure", options.measure_s,
                 "Seconds that one measurement takes; 5 unless given, 0: measure nothing")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_flag("--status", options.status, "Shows the launches that run, or the one of this name");
  app.add_flag("--json", options.json, "--status and --dry-run as JSON");
  app.add_option("--topology", options.topology,
                 "With --dry-run: another machine, in hwloc's words, as \"numa:2 core:4 pu:2\"");
  app.add_option("--efficiency-cpus", options.efficiency_processors,
                 "With --topology: processors of its efficiency cores");
  app.add_option("--quota", options.quota, "With --topology: threads that it allows");
}

std::string contradiction(const LaunchOptions& options, bool has_line) {
  if (has_line && !options.file.empty()) {
    return "give a pipeline behind -- or a file ('" + options.file + "'), not both";
  }
  if (has_line && options.line.empty()) return "behind -- there is no pipeline";
  if (options.status) return has_line ? "--status takes no pipeline" : "";
  if (!has_line && options.file.empty()) {
    return "there is nothing to run; give a file, or a pipeline behind --";
  }
  const bool describes_other = !options.topology.empty();
  if (describes_other && !options.dry_run) return "--topology needs --dry-run";
  if (!describes_other && (options.quota > 0 || !options.efficiency_processors.empty())) {
    return "--quota and --efficiency-cpus need --topology";
  }
  if (options.json && !options.dry_run) return "--json needs --status or --dry-run";
  return "";
}

bool is_launcher(const std::string& word) {
  return word == "gst-launch-1.0" || word.ends_with("/gst-launch-1.0");
}

}  // namespace

ParsedOptions parse_options(int argc, char** argv) {
  ParsedOptions parsed;
  LaunchOptions& options = parsed.options;
  CLI::App app(
      "Runs pipelines as instances, each bound to the processors and the memory of a "
      "NUMA node.",
      "hetero launch");
  app.set_version_flag("--version", "hetero " + std::string(version()));
  app.footer(std::string(kExamples));
  std::string positional;
  add_options(app, options, positional);
  // CLI11 would take what is behind -- for positional arguments.
  const auto end = std::find(argv + 1, argv + argc, std::string_view("--"));
  const bool has_line = end != argv + argc;
  if (has_line) {
    options.line.assign(end + 1, argv + argc);
    if (!options.line.empty() && is_launcher(options.line.front())) {
      options.line.erase(options.line.begin());
    }
  }
  try {
    app.parse(static_cast<int>(end - argv), argv);
  } catch (const CLI::ParseError& failure) {
    parsed.exit_status = app.exit(failure) == 0 ? 0 : kExitUsage;
    return parsed;
  }
  if (options.status) {
    options.name = positional.empty() ? options.name : positional;
  } else {
    options.file = positional;
  }
  const std::string wrong = contradiction(options, has_line);
  if (!wrong.empty()) {
    std::fprintf(stderr, "hetero launch: %s (hetero launch --help)\n", wrong.c_str());
    parsed.exit_status = kExitUsage;
  }
  return parsed;
}

Result<LaunchSettings> launch_settings(const LaunchOptions& options) {
  LaunchSettings settings;
  if (options.file.empty()) {
    settings.replicate = true;
    StreamSettings stream;
    stream.name = options.name.value_or("line");
    stream.pipeline = options.line;
    settings.streams.push_back(std::move(stream));
  } else {
    // Whatever is wrong with the file, another try would end the same: wrong usage.
    auto read = read_launch_file(options.file);
    if (!read) return error(StatusCode::InvalidArgument, "{}", read.error().message());
    settings = std::move(*read);
  }
  if (options.name) settings.name = *options.name;
  if (settings.name.empty()) settings.name = std::to_string(::getpid());
  if (options.instances) settings.instances = options.instances;
  if (options.processors) settings.processors = *options.processors;
  if (options.restart) settings.restart = *options.restart;
  if (options.stop_timeout_s) settings.stop_timeout_s = *options.stop_timeout_s;
  if (options.measure_s) settings.measure_s = *options.measure_s;
  return settings;
}

}  // namespace het::serving
