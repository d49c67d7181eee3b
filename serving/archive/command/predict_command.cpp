#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "inference/machine/core_count.h"
#include "serving/archive/command/command_line.h"
#include "serving/archive/command/commands.h"
#include "serving/archive/cost/prediction.h"
#include "serving/archive/cost/shard_costs.h"
#include "serving/archive/merge/shard_state.h"
#include "serving/archive/scan/scan_record.h"
#include "serving/archive/supervise/time_text.h"
#include "serving/launch/duration_option.h"

namespace het::archive {
namespace {

struct PredictOptions {
  std::string folder;
  std::vector<size_t> nodes = {1, 2, 3, 10, 100, 1000};
  size_t instances = 0;
  double task_start_s = 0;
  double storage_mb_s = 0;
  bool is_json = false;
};

/// What notes tell of shards that are done.
std::vector<MeasuredShard> measured_shards(const std::vector<ShardState>& states) {
  std::vector<MeasuredShard> measured;
  for (size_t i = 0; i < states.size(); ++i) {
    if (!states[i].note) continue;
    const ShardNote& note = *states[i].note;
    MeasuredShard& shard = measured.emplace_back();
    shard.shard = i;
    shard.worker = fmt::format("{}:{}", note.host, note.pid);
    shard.worker_begun_s = note.ended_s - note.process_s;
    shard.begun_s = note.ended_s - note.seconds;
    shard.first_frame_s = shard.begun_s + note.start_seconds;
    shard.ended_s = note.ended_s;
    shard.frames = note.frames;
  }
  return measured;
}

ArchiveWork work_of(const ArchiveFolder& folder, const ArchivePlan& plan,
                    const std::vector<ShardState>& states, const ShardCosts& costs) {
  ArchiveWork work;
  for (size_t i = 0; i < plan.shards.size(); ++i) {
    // What was given up costs nothing worth naming.
    if (!states[i].given_up) work.shard_s.push_back(costs.of_shard(i, plan.shards[i].frames));
  }
  double scans = 0;
  for (const PlannedVideo& video : plan.videos) {
    work.bytes += static_cast<double>(video.bytes);
    if (const auto scan = read_scan(folder, video.uri)) scans += scan->seconds;
  }
  work.scan_s = scans / static_cast<double>(usable_cores());
  work.start_s = costs.start_s;
  work.instances = costs.instances;
  work.at_once = costs.at_once;
  work.alone = costs.alone;
  return work;
}

nlohmann::json prediction_json(const Prediction& made) {
  return {{"nodes", made.nodes},
          {"seconds", made.total_s},
          {"processing_seconds", made.processing_s},
          {"even_seconds", made.even_s},
          {"longest_shard_seconds", made.longest_s},
          {"read_bytes_per_second", made.read_rate},
          {"idle_nodes", made.idle_nodes},
          {"limit", made.limit}};
}

void print_json(const ArchiveWork& work, const ShardCosts& costs,
                const std::vector<Prediction>& predictions) {
  nlohmann::json value = {{"scan_seconds", work.scan_s},
                          {"start_seconds", work.start_s},
                          {"shard_seconds", costs.per_shard_s},
                          {"frame_seconds", costs.per_frame_s},
                          {"task_start_seconds", work.task_start_s},
                          {"instances", work.instances},
                          {"at_once", work.at_once},
                          {"alone", work.alone},
                          {"measured_shards", costs.measured.size()},
                          {"bytes", work.bytes},
                          {"nodes", nlohmann::json::array()}};
  for (const Prediction& made : predictions) value["nodes"].push_back(prediction_json(made));
  std::printf("%s\n", value.dump(1).c_str());
}

void print_table(const ArchiveWork& work, const ShardCosts& costs,
                 const std::vector<Prediction>& predictions) {
  std::printf(
      "measured: %.2f s to scan, %.2f s to start a process, %.3f s a shard and %.3f ms a frame, "
      "%zu processes on a node, %zu shards under way in each, one alone at %.0f %% of its speed\n",
      work.scan_s, work.start_s, costs.per_shard_s, costs.per_frame_s * 1e3, work.instances,
      work.at_once, 100 * work.alone);
  std::printf("%8s  %14s  %8s  %9s  %s\n", "nodes", "time", "speed-up", "reads", "limit");
  for (const Prediction& made : predictions) {
    const double alone = predict(work, 1).total_s;
    std::printf(
        "%8zu  %14s  %8.1f  %6.1f MB/s  %s%s\n", made.nodes, duration_text(made.total_s).c_str(),
        made.total_s > 0 ? alone / made.total_s : 0.0, made.read_rate / 1e6, made.limit.c_str(),
        made.idle_nodes > 0 ? fmt::format(" ({} nodes have no shard)", made.idle_nodes).c_str()
                            : "");
  }
}

Status print_predictions(const PredictOptions& options) {
  const ArchiveFolder folder(options.folder);
  HET_ASSIGN(const ArchivePlan plan, read_plan(folder));
  HET_ASSIGN(const std::vector<ShardState> states, shard_states(folder, plan));
  const std::vector<MeasuredShard> measured = measured_shards(states);
  if (measured.empty()) {
    return error(StatusCode::NotFound,
                 "no shard of '{}' is done, so nothing is measured; let `hetero archive run` do "
                 "some first",
                 options.folder);
  }
  const ShardCosts costs = measure_costs(measured);
  ArchiveWork work = work_of(folder, plan, states, costs);
  work.task_start_s = options.task_start_s;
  if (options.instances > 0) work.instances = options.instances;
  if (options.storage_mb_s > 0) work.storage_rate = options.storage_mb_s * 1e6;
  std::vector<Prediction> predictions;
  for (const size_t nodes : options.nodes) predictions.push_back(predict(work, nodes));
  if (options.is_json) {
    print_json(work, costs, predictions);
  } else {
    print_table(work, costs, predictions);
  }
  return {};
}

}  // namespace

int predict_command(int argc, char** argv) {
  CLI::App app(
      "Predicts how long the whole archive takes on numbers of nodes like those that have done "
      "shards of it, by what these have cost, and says what limits it. Merging is not part of it.",
      "hetero archive predict");
  PredictOptions options;
  app.add_option("DIR", options.folder, "Folder of the archive, some shards of which are done")
      ->required();
  app.add_option("--nodes", options.nodes, "Numbers of nodes; 1,2,3,10,100,1000 unless given")
      ->delimiter(',')
      ->check(CLI::Range(1, 10000000));
  app.add_option("--instances", options.instances,
                 "Processes on a node; as many as there were unless given")
      ->check(CLI::Range(1, 100000));
  serving::add_duration(app, "--task-start", options.task_start_s, 1,
                        "Until the scheduler has started a task; 0 unless given");
  app.add_option("--storage-rate", options.storage_mb_s,
                 "MB/s that the storage gives to all nodes together; no limit unless given")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", options.is_json, "Prints JSON");
  if (const auto status = parse_command(app, argc, argv)) return *status;
  const Status status = print_predictions(options);
  return status.ok() ? kExitDone : report_failure(app, status);
}

}  // namespace het::archive
