#include "serving/archive/supervise/archive_run.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>

#include "serving/archive/records/shard_failures.h"
#include "serving/archive/records/shard_note.h"
#include "serving/archive/supervise/run_progress.h"
#include "serving/archive/supervise/shard_queue.h"
#include "serving/archive/supervise/worker_process.h"
#include "serving/archive/worker/shard_worker.h"

namespace het::archive {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kPollMs = 200;
constexpr auto kMostStop = std::chrono::seconds(10);
/// A worker tells its progress once a second.
constexpr double kMostSilentS = 60;
/// Ends one after the other without an answer in between: workers cannot live here.
constexpr size_t kMostIdleEnds = 5;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void say(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
}

class ArchiveRun {
 public:
  ArchiveRun(const ArchiveFolder& folder, const ArchivePlan& plan, const RunSettings& settings)
      : folder_(folder),
        plan_(plan),
        settings_(settings),
        queue_(missing_keys(), settings.at_once + 1),
        workers_(settings.workers.size()),
        line_every_s_(::isatty(STDERR_FILENO) ? 2 : 10) {}

  Result<RunOutcome> run() {
    if (queue_.left() > 0) say(progress().text());
    while (!is_over()) {
      HET_TRY(keep_workers());
      feed();
      wait();
      HET_TRY(look_at_workers());
      tell_progress();
    }
    for (auto& worker : workers_) worker.process.reset();
    RunOutcome outcome;
    outcome.done = done_;
    outcome.left = queue_.left();
    outcome.given_up = given_up_;
    outcome.has_advanced = has_advanced_;
    if (settings_.shards.size() > 0) say(progress().text());
    return outcome;
  }

 private:
  struct Worker {
    std::unique_ptr<WorkerProcess> process;
    uint64_t frames = 0;  ///< that it told last
    bool was_killed_for_silence = false;
  };

  /// Also takes stock of what is there.
  std::vector<std::string> missing_keys() {
    std::vector<std::string> keys;
    double video_s = 0;
    uint64_t video_frames = 0;
    for (const size_t index : settings_.shards) {
      const PlannedShard& shard = plan_.shards[index];
      by_key_[shard.key] = &shard;
      frames_ += shard.frames;
      const PlannedVideo& video = plan_.videos[shard.video];
      video_s += static_cast<double>(video.duration_ns) * 1e-9;
      video_frames += video.frames;
      const auto failures = read_failures(folder_, shard.key);
      if (done_note(folder_, shard.key)) {
        ++done_;
      } else if (failures && failures->given_up) {
        given_up_.push_back(shard.key);
      } else {
        frames_left_ += shard.frames;
        keys.push_back(shard.key);
      }
    }
    if (video_s > 0) video_rate_ = static_cast<double>(video_frames) / video_s;
    return keys;
  }

  bool is_over() {
    if (settings_.stops() > 0) stop_workers();
    const bool all_ended =
        std::ranges::all_of(workers_, [](const Worker& worker) { return !worker.process; });
    return all_ended && (stopped_since_ || queue_.left() == 0);
  }

  Status keep_workers() {
    if (stopped_since_ || queue_.left() == 0) return {};
    for (size_t i = 0; i < workers_.size(); ++i) {
      // No more than there is work for.
      if (workers_[i].process || i >= queue_.left()) continue;
      const WorkerOrder& order = settings_.workers[i];
      HET_ASSIGN(workers_[i].process,
                 WorkerProcess::start(order.arguments, order.place,
                                      [this, i](const WorkerAnswer& answer) { take(i, answer); }));
      workers_[i].frames = 0;
      workers_[i].was_killed_for_silence = false;
    }
    return {};
  }

  void feed() {
    if (stopped_since_) return;
    for (size_t i = 0; i < workers_.size(); ++i) {
      if (!workers_[i].process) continue;
      for (std::string key = queue_.next(i); !key.empty(); key = queue_.next(i)) {
        // Somebody else may have done it meanwhile.
        if (done_note(folder_, key)) {
          count_done(i, key);
        } else {
          workers_[i].process->order(key);
        }
      }
      if (queue_.left() == 0) workers_[i].process->end_input();
      workers_[i].process->serve();
    }
  }

  void wait() {
    std::vector<pollfd> polled;
    for (const Worker& worker : workers_) {
      if (worker.process) worker.process->add_to(polled);
    }
    ::poll(polled.data(), polled.size(), kPollMs);
    for (Worker& worker : workers_) {
      if (worker.process) worker.process->serve();
    }
  }

  void take(size_t worker, const WorkerAnswer& answer) {
    if (answer.kind == WorkerAnswer::Kind::Progress) {
      worked_ += answer.frames - std::min(answer.frames, workers_[worker].frames);
      workers_[worker].frames = answer.frames;
      return;
    }
    idle_ends_ = 0;
    has_advanced_ = true;
    if (!queue_.under_way(worker).contains(answer.key)) return;
    if (answer.kind == WorkerAnswer::Kind::Done) return count_done(worker, answer.key);
    say(fmt::format("{}: {}", shard_text(answer.key), answer.error));
    if (answer.given_up) {
      count_given_up(answer.key);
      queue_.finished(worker, answer.key);
    } else {
      queue_.failed(worker, answer.key);
    }
  }

  void count_done(size_t worker, const std::string& key) {
    ++done_;
    has_advanced_ = true;
    frames_left_ -= std::min(frames_left_, by_key_.at(key)->frames);
    queue_.finished(worker, key);
  }

  void count_given_up(const std::string& key) {
    frames_left_ -= std::min(frames_left_, by_key_.at(key)->frames);
    given_up_.push_back(key);
    idle_ends_ = 0;
    say(fmt::format("{} is given up", shard_text(key)));
  }

  std::string shard_text(const std::string& key) const {
    const PlannedShard& shard = *by_key_.at(key);
    const std::string& name = plan_.videos[shard.video].name;
    if (plan_.is_whole(shard)) return name;
    return fmt::format("{} from {:.3f} s", name, static_cast<double>(shard.start_ns) * 1e-9);
  }

  Status look_at_workers() {
    for (size_t i = 0; i < workers_.size(); ++i) {
      Worker& worker = workers_[i];
      if (!worker.process) continue;
      if (!worker.process->has_ended()) {
        watch(worker);
        continue;
      }
      const std::unique_ptr<WorkerProcess> ended = std::move(worker.process);
      HET_TRY(take_end(i, *ended));
    }
    return {};
  }

  /// What a worker itself notices it tells; this is for one that does not even tell its progress.
  void watch(Worker& worker) {
    if (worker.was_killed_for_silence || stopped_since_) return;
    if (seconds_since(worker.process->last_heard()) < kMostSilentS + settings_.stall_s) return;
    say("a worker has said nothing for too long and is killed");
    worker.was_killed_for_silence = true;
    worker.process->signal(SIGKILL);
  }

  Status take_end(size_t index, const WorkerProcess& ended) {
    const std::optional<int> status = ended.exit_status();
    if (stopped_since_) {
      queue_.returned(index);
      return {};
    }
    if (status == kWorkerCannotWrite) {
      return error(StatusCode::Internal,
                   "a worker cannot write in '{}'; free room or rights there, then run this again",
                   folder_.path().string());
    }
    if (status == 0 && queue_.under_way(index).empty()) return {};
    const bool had_work = !queue_.under_way(index).empty();
    // By itself it goes for what it has told of, a shard that stood still, or to be stopped.
    if (status == kWorkerStalled || status == kWorkerLeft) {
      queue_.returned(index);
    } else {
      HET_TRY(take_crash(index, ended));
    }
    if (++idle_ends_ > kMostIdleEnds && (!had_work || idle_ends_ > kMostIdleEnds * 4)) {
      return error(StatusCode::Internal, "workers end again and again ({}); what they say is above",
                   ended.end_text());
    }
    return {};
  }

  Status take_crash(size_t index, const WorkerProcess& ended) {
    const size_t together = queue_.under_way(index).size();
    const std::string guilty = queue_.crashed(index);
    say(fmt::format(
        "a worker has ended with {}{}", ended.end_text(),
        together > 1 ? fmt::format("; its {} shards are done one by one", together) : ""));
    if (guilty.empty()) return {};
    has_advanced_ = true;
    const bool is_stall = workers_[index].was_killed_for_silence;
    const auto failures =
        add_failure(folder_, guilty, is_stall ? FailureKind::Stall : FailureKind::Crash,
                    fmt::format("its process ended with {}", ended.end_text()), settings_.tries);
    if (!failures) {
      return Failure(failures.error().with_context("cannot note a failure"));
    }
    if (failures->given_up) {
      count_given_up(guilty);
    } else {
      queue_.suspect(guilty);
    }
    return {};
  }

  void stop_workers() {
    if (!stopped_since_) {
      stopped_since_ = Clock::now();
      stops_seen_ = settings_.stops();
      say("stopping; what is under way is dropped");
      for (Worker& worker : workers_) {
        if (worker.process) worker.process->signal(SIGTERM);
      }
    }
    // A terminal and a scheduler may send two signals for one wish.
    const auto since = Clock::now() - *stopped_since_;
    const bool is_urged = settings_.stops() > stops_seen_ && since > std::chrono::milliseconds(500);
    if (since < kMostStop && !is_urged) return;
    for (Worker& worker : workers_) {
      if (worker.process) worker.process->signal(SIGKILL);
    }
  }

  RunProgress progress() const {
    RunProgress progress;
    progress.shards = settings_.shards.size();
    progress.done = done_;
    progress.given_up = given_up_.size();
    progress.frames = frames_;
    progress.frames_left = frames_left_;
    progress.worked = worked_;
    progress.seconds = seconds_since(begin_);
    progress.frames_per_s_of_video = video_rate_;
    return progress;
  }

  void tell_progress() {
    if (seconds_since(last_line_) < line_every_s_) return;
    last_line_ = Clock::now();
    say(progress().text());
  }

  const ArchiveFolder& folder_;
  const ArchivePlan& plan_;
  const RunSettings& settings_;
  std::map<std::string, const PlannedShard*, std::less<>> by_key_;
  size_t done_ = 0;
  std::vector<std::string> given_up_;
  uint64_t frames_ = 0;
  uint64_t frames_left_ = 0;
  uint64_t worked_ = 0;
  double video_rate_ = 0;
  ShardQueue queue_;
  std::vector<Worker> workers_;
  size_t idle_ends_ = 0;
  bool has_advanced_ = false;
  double line_every_s_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_line_ = Clock::now();
  std::optional<Clock::time_point> stopped_since_;
  int stops_seen_ = 0;
};

}  // namespace

Result<RunOutcome> run_archive(const ArchiveFolder& folder, const ArchivePlan& plan,
                               const RunSettings& settings) {
  return ArchiveRun(folder, plan, settings).run();
}

}  // namespace het::archive
