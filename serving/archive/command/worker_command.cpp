#include <gst/gst.h>

#include <algorithm>
#include <optional>

#include "inference/machine/process_binding.h"
#include "serving/archive/command/command_line.h"
#include "serving/archive/command/commands.h"
#include "serving/archive/command/worker_options.h"
#include "serving/archive/worker/shard_worker.h"

namespace het::archive {

int worker_command(int argc, char** argv) {
  CLI::App app(
      "Does shards of an archive and keeps the models from one to the next. Takes orders on its "
      "standard input, a line each ({\"shard\": KEY}), and answers on its standard output: "
      "{\"done\": KEY, \"frames\": N, \"seconds\": S} or {\"failed\": KEY, \"error\": TEXT, "
      "\"kind\": \"error\" or \"stall\", \"given_up\": false}, in any order. Ends when its input "
      "has ended and all is answered; a signal ends it at once, what is under way is dropped.",
      "hetero archive worker");
  WorkerOptions options;
  std::string folder;
  std::optional<size_t> node;
  app.add_option("DIR", folder, "Folder of the archive")->required();
  app.add_option("--node", node, "Runs on the processors and the memory of this NUMA node");
  app.add_option("--threads", options.max_threads,
                 "Threads that may work at a time; as many as processors unless given")
      ->check(CLI::Range(1, 65536));
  app.add_option("--weights", options.weights,
                 "What processes share one copy of weights: those of the MACHINE (default) or of "
                 "a NUMA NODE")
      ->check(CLI::IsMember({"MACHINE", "NODE", "NO"}));
  app.add_flag("--progress", options.tells_progress,
               "Tells once a second how many frames it has done: {\"progress\": N}");
  add_worker_options(app, options);
  if (const auto status = parse_command(app, argc, argv)) return *status;
  const Result<WorkerSettings> settings = worker_settings(options, node);
  if (!settings) return report_failure(app, settings.error());
  gst_init(nullptr, nullptr);
  const Result<int> exit_status = run_worker(ArchiveFolder(folder), *settings);
  return exit_status ? *exit_status : report_failure(app, exit_status.error());
}

}  // namespace het::archive
