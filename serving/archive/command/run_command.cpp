#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "inference/machine/topology.h"
#include "serving/archive/command/command_line.h"
#include "serving/archive/command/commands.h"
#include "serving/archive/command/plan_options.h"
#include "serving/archive/command/stop_flag.h"
#include "serving/archive/command/worker_options.h"
#include "serving/archive/records/shard_failures.h"
#include "serving/archive/records/shard_key.h"
#include "serving/archive/records/shard_note.h"
#include "serving/archive/supervise/archive_run.h"
#include "serving/launch/plan/launch_plan.h"
#include "serving/launch/plan/number_list.h"
#include "serving/launch/supervise/child_process.h"

namespace het::archive {
namespace {

/// Of planning in a row.
constexpr int kMostPlanCrashes = 100;

struct RunOptions {
  PlanOptions plan;
  WorkerOptions worker;
  std::string part;
  std::string instances = "node";
  std::string processors;
  bool retries_failed = false;
};

/// A part of the shards: those whose index leaves `index` when divided by `parts`.
struct Part {
  size_t index = 0;
  size_t parts = 1;
};

bool read_number(std::string_view text, size_t& number) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  return failed == std::errc() && end == text.data() + text.size();
}

Result<Part> parse_part(const std::string& text) {
  Part part;
  if (text.empty()) return part;
  const size_t slash = text.find('/');
  size_t number = 0;
  const bool is_part = slash != std::string::npos &&
                       read_number(std::string_view(text).substr(0, slash), number) &&
                       read_number(std::string_view(text).substr(slash + 1), part.parts) &&
                       number >= 1 && number <= part.parts;
  if (!is_part) {
    return error(StatusCode::InvalidArgument,
                 "--part '{}' is no part, as 1/8: the first of eight, which has shard 1, 9, 17 ...",
                 text);
  }
  part.index = number - 1;
  return part;
}

Result<size_t> parse_instances(const std::string& text) {
  size_t number = 0;
  if (text == "node") return number;
  if (read_number(text, number) && number > 0) return number;
  return error(StatusCode::InvalidArgument, "--instances '{}' is neither node nor a number above 0",
               text);
}

Result<std::vector<WorkerOrder>> worker_orders(const RunOptions& options) {
  serving::PlanRequest request;
  HET_ASSIGN(request.topology, read_topology());
  if (!options.processors.empty()) {
    HET_ASSIGN(request.processors, serving::parse_number_list(options.processors));
  }
  HET_ASSIGN(request.instances, parse_instances(options.instances));
  request.streams.resize(options.worker.at_once);
  HET_ASSIGN(const serving::LaunchPlan plan, serving::plan_instances(request));
  bool one_node = true;
  for (const serving::InstancePlan& instance : plan.instances) {
    one_node = one_node && instance.numa_nodes == plan.instances.front().numa_nodes;
  }
  std::vector<WorkerOrder> orders;
  for (const serving::InstancePlan& instance : plan.instances) {
    WorkerOrder order;
    order.arguments = {"worker",
                       options.plan.folder,
                       "--progress",
                       "--threads",
                       std::to_string(instance.max_threads),
                       "--weights",
                       one_node ? "MACHINE" : "NODE",
                       "--at-once",
                       std::to_string(options.worker.at_once),
                       "--tries",
                       std::to_string(options.worker.tries),
                       "--stall",
                       fmt::format("{}s", options.worker.stall_s)};
    order.place = {instance.processors, instance.numa_nodes};
    orders.push_back(std::move(order));
  }
  return orders;
}

/// In a process of its own: scanning has threads, beside which this one could not start workers.
/// Its exit status, or Cancelled where it crashed: by a signal, or with a status that is none of
/// its own (GStreamer makes 255 of a segmentation fault while it loads a plugin).
Result<int> plan_in_child(const PlanOptions& options) {
  std::vector<std::string> words = options.words();
  words.insert(words.begin(), {"hetero-archive", "plan"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::fflush(nullptr);
  const pid_t pid = ::fork();
  if (pid < 0) {
    return error(StatusCode::Internal, "cannot start planning: {}", std::strerror(errno));
  }
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    ::setpgid(0, 0);
    ::execv("/proc/self/exe", arguments.data());
    ::_exit(kExitFailed);
  }
  int status = 0;
  bool was_told = false;
  while (::waitpid(pid, &status, 0) != pid) {
    if (errno != EINTR) return error(StatusCode::Internal, "planning is gone");
    if (StopFlag::is_set() && !was_told) ::kill(pid, SIGTERM);
    was_told = StopFlag::is_set();
  }
  if (StopFlag::is_set()) return kExitLeft;
  if (WIFEXITED(status) && WEXITSTATUS(status) <= kExitNothingDone) return WEXITSTATUS(status);
  return error(StatusCode::Cancelled, "planning ended with {}", serving::end_text(status));
}

/// A video that crashes the parser is planned without ranges after some tries.
Result<int> plan_whatever_crashes(const PlanOptions& options) {
  for (int crashes = 1;; ++crashes) {
    Result<int> status = plan_in_child(options);
    if (status || status.error().code() != StatusCode::Cancelled || crashes == kMostPlanCrashes) {
      return status;
    }
    std::fprintf(stderr, "hetero archive run: %s; again, what was scanned is known\n",
                 status.error().message().c_str());
  }
}

Result<std::vector<size_t>> shards_to_do(const ArchiveFolder& folder, const ArchivePlan& plan,
                                         const RunOptions& options) {
  HET_ASSIGN(const Part part, parse_part(options.part));
  std::vector<size_t> shards;
  for (size_t i = part.index; i < plan.shards.size(); i += part.parts) {
    shards.push_back(i);
    if (options.retries_failed) HET_TRY(remove_failures(folder, plan.shards[i].key));
  }
  return shards;
}

void tell_given_up(const ArchiveFolder& folder, const ArchivePlan& plan,
                   const std::vector<size_t>& shards) {
  for (const size_t index : shards) {
    const PlannedShard& shard = plan.shards[index];
    const auto failures = read_failures(folder, shard.key);
    if (!failures || !failures->given_up || done_note(folder, shard.key)) continue;
    const FailedTry& last = failures->tries.back();
    std::fprintf(stderr, "given up: %s: %s: %s\n", plan.videos[shard.video].name.c_str(),
                 to_text(last.kind), last.error.c_str());
  }
}

Result<int> run(const RunOptions& options) {
  const ArchiveFolder folder(options.plan.folder);
  HET_TRY(parse_part(options.part));
  HET_TRY(worker_settings(options.worker, std::nullopt));
  HET_ASSIGN(const std::vector<WorkerOrder> workers, worker_orders(options));
  const StopFlag stop;
  ::signal(SIGPIPE, SIG_IGN);  // a worker may end while it is given an order
  if (!options.plan.videos.empty()) {
    HET_ASSIGN(const int status, plan_whatever_crashes(options.plan));
    if (status != kExitDone) return status;
  }
  HET_ASSIGN(const ArchivePlan plan, read_plan(folder));
  HET_TRY(check_keys(plan));
  HET_TRY(folder.create());
  remove_stale_parts(folder);
  RunSettings settings;
  HET_ASSIGN(settings.shards, shards_to_do(folder, plan, options));
  settings.workers = workers;
  settings.at_once = options.worker.at_once;
  settings.tries = options.worker.tries;
  settings.stall_s = options.worker.stall_s;
  settings.stops = StopFlag::count;
  HET_ASSIGN(const RunOutcome outcome, run_archive(folder, plan, settings));
  tell_given_up(folder, plan, settings.shards);
  if (outcome.left > 0) return outcome.has_advanced ? kExitLeft : kExitNothingDone;
  return outcome.given_up.empty() ? kExitDone : kExitFailed;
}

void add_run_options(CLI::App& app, RunOptions& options) {
  add_plan_options(app, options.plan);
  app.add_option("--part", options.part,
                 "Only a part of the shards, as 1/8; they are dealt out by their numbers")
      ->option_text("I/N");
  app.add_option("--instances", options.instances,
                 "Processes, each bound to its processors and memory: node, one per NUMA node "
                 "(default), or a number");
  app.add_option("--cpus", options.processors, "Processors to use, as 0-3,8; all unless given");
  app.add_flag("--retry-failed", options.retries_failed, "Tries again what was given up");
  add_worker_options(app, options.worker);
}

}  // namespace

int run_command(int argc, char** argv) {
  CLI::App app(
      "Does the shards of an archive that are missing, in processes that are bound as those of "
      "`hetero launch` are. With VIDEOS and a pipeline behind -- it plans before, as `hetero "
      "archive plan` does; without them it takes the plan that is there. Run it again, here or "
      "elsewhere, to go on. Exit status: 0 all is done, 1 something was given up or failed, 2 "
      "wrong usage, 3 it was stopped and something is left, 4 so, and no shard ended meanwhile.",
      "hetero archive run");
  RunOptions options;
  add_run_options(app, options);
  if (const auto status = parse_command(app, argc, argv, &options.plan.pipeline)) return *status;
  const bool has_videos = !options.plan.videos.empty();
  if (has_videos != !options.plan.pipeline.empty()) {
    std::fprintf(stderr, "hetero archive run: %s\n",
                 has_videos ? "VIDEOS are given and no pipeline behind --"
                            : "a pipeline is given and no VIDEOS; give both, or none to take the "
                              "plan that is there");
    return kExitUsage;
  }
  const Result<int> status = run(options);
  return status ? *status : report_failure(app, status.error());
}

}  // namespace het::archive
