#include "serving/archive/worker/shard_worker.h"

#include <fcntl.h>
#include <glib-unix.h>
#include <gst/gst.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "devices/register_devices.h"
#include "inference/core.h"
#include "serving/archive/records/shard_key.h"
#include "serving/archive/worker/model_keeper.h"
#include "serving/archive/worker/shard_messages.h"
#include "serving/archive/worker/shard_run.h"
#include "serving/launch/instance/bus_text.h"
#include "serving/launch/instance/stop_signals.h"
#include "serving/launch/supervise/line_buffer.h"

namespace het::archive {
namespace {

using Clock = std::chrono::steady_clock;
/// A pipeline that stood still may never stop.
constexpr auto kMostStop = std::chrono::seconds(5);
/// Compiling a model comes before the first frame.
constexpr double kStartFactor = 10;
/// Behind a pipeline that reads no more frames may be under way; of a video that cannot be parsed
/// hardly any.
constexpr double kWordlessS = 20;
constexpr double kWordlessKnownS = 3;
/// With less, what went wrong may have gone wrong for that.
constexpr uint64_t kLeastRoom = uint64_t{64} << 10;

/// Standard output for answers alone: whatever else is printed there goes to standard error.
Result<int> take_standard_output() {
  std::fflush(stdout);
  const int fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (fd < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
    return error(StatusCode::Internal, "cannot take standard output: {}", std::strerror(errno));
  }
  return fd;
}

class ShardWorker {
 public:
  ShardWorker(const ArchiveFolder& folder, ArchivePlan plan, const WorkerSettings& settings,
              int answers)
      : folder_(folder), settings_(settings), answers_(answers), plan_(std::move(plan)) {
    for (const PlannedShard& shard : plan_.shards) shards_[shard.key] = &shard;
  }

  int run() {
    loop_ = g_main_loop_new(nullptr, FALSE);
    const serving::StopSignals signals([this] { drop_all(); }, [] { ::_exit(kWorkerLeft); });
    ::fcntl(STDIN_FILENO, F_SETFL, ::fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
    input_ = g_unix_fd_add(STDIN_FILENO, static_cast<GIOCondition>(G_IO_IN | G_IO_HUP | G_IO_ERR),
                           on_input, this);
    const guint timer = g_timeout_add(1000, on_second, this);
    g_main_loop_run(loop_);
    g_source_remove(timer);
    if (input_ != 0) g_source_remove(input_);
    runs_.clear();
    keeper_.release();
    g_main_loop_unref(loop_);
    return exit_status_;
  }

 private:
  struct UnderWay {
    std::unique_ptr<ShardRun> run;
    uint64_t frames = 0;
    Clock::time_point moved = Clock::now();
    std::optional<Clock::time_point> stall;  ///< when it was told to stop for that
    bool has_slot = true;                    ///< its pipeline is not in NULL yet
  };

  static gboolean on_input(gint, GIOCondition, gpointer user) {
    return static_cast<ShardWorker*>(user)->read_input();
  }

  gboolean read_input() {
    const auto take = [this](std::string_view line) { take_order(line); };
    std::array<char, 4096> bytes;
    while (true) {
      const ssize_t count = ::read(STDIN_FILENO, bytes.data(), bytes.size());
      if (count > 0) {
        lines_.append({bytes.data(), static_cast<size_t>(count)}, take);
      } else if (count < 0 && errno == EINTR) {
        continue;
      } else if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        break;
      } else {
        lines_.finish(take);
        input_ = 0;
        is_input_over_ = true;
        break;
      }
    }
    start_waiting();
    return is_input_over_ ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
  }

  void take_order(std::string_view line) {
    const Result<std::string> key = parse_order(line);
    if (!key) return answer_failed("", key.error().message(), FailureKind::Error, false);
    if (!shards_.contains(*key)) {
      return answer_failed(
          *key, fmt::format("the plan in '{}' has no shard '{}'", folder_.path().string(), *key),
          FailureKind::Error, false);
    }
    waiting_.push_back(*key);
  }

  size_t slots_in_use() const {
    return static_cast<size_t>(std::ranges::count_if(
        runs_, [](const auto& under_way) { return under_way.second.has_slot; }));
  }

  void start_waiting() {
    while (!is_dropping_ && !waiting_.empty() && slots_in_use() < settings_.at_once) {
      // One that was answered and ordered again waits until its run is gone.
      const auto next = std::ranges::find_if(
          waiting_, [this](const std::string& key) { return !runs_.contains(key); });
      if (next == waiting_.end()) break;
      const std::string key = *next;
      waiting_.erase(next);
      if (!is_answered_already(key)) start(*shards_.at(key));
    }
    if (runs_.empty() && (is_dropping_ || (is_input_over_ && waiting_.empty()))) {
      g_main_loop_quit(loop_);
    }
  }

  /// By what is in the folder: somebody else may have done it.
  bool is_answered_already(const std::string& key) {
    if (const auto note = done_note(folder_, key)) {
      WorkerAnswer done{WorkerAnswer::Kind::Done, key};
      done.frames = note->frames;
      done.seconds = note->seconds;
      answer(done);
      return true;
    }
    const auto failures = read_failures(folder_, key);
    if (!failures || !failures->given_up) return false;
    const FailedTry& last = failures->tries.back();
    answer_failed(key, last.error, last.kind, true);
    return true;
  }

  void start(const PlannedShard& shard) {
    ShardRun::Listener listener;
    listener.stopped = [this](ShardRun& run) { on_stopped(run.shard().key); };
    listener.over = [this](ShardRun& run, Result<ShardNote> note) {
      on_over(run.shard().key, run.failure_kind(), std::move(note));
    };
    auto run = std::make_unique<ShardRun>(folder_, plan_, shard, settings_.decoder_threads, keeper_,
                                          std::move(listener));
    if (const Status status = run->start(); !status.ok()) {
      return note_failure(shard.key, FailureKind::Error, status.message());
    }
    runs_[shard.key].run = std::move(run);
  }

  void on_stopped(const std::string& key) {
    const auto found = runs_.find(key);
    if (found == runs_.end()) return;
    found->second.has_slot = false;
    frames_before_ += found->second.run->frames();
    if (!is_dropping_) return later();
    forget_later(key);
  }

  void on_over(const std::string& key, FailureKind kind, Result<ShardNote> note) {
    if (note) {
      WorkerAnswer done{WorkerAnswer::Kind::Done, key};
      done.frames = note->frames;
      done.seconds = note->seconds;
      answer(done);
    } else {
      note_failure(key, kind, note.error().message());
    }
    forget_later(key);
  }

  void note_failure(const std::string& key, FailureKind kind, const std::string& reason) {
    Result<ShardFailures> failures = check_room();
    if (failures) failures = add_failure(folder_, key, kind, reason, settings_.tries);
    if (!failures) {
      // Not the shard's fault: no room, no right to write. Nothing is counted against it.
      serving::print_line("error", "", failures.error().message());
      answer_failed(key, reason, kind, false);
      exit_status_ = kWorkerCannotWrite;
      return drop_all();
    }
    answer_failed(key, reason, kind, failures->given_up);
  }

  Result<ShardFailures> check_room() const {
    struct statvfs system = {};
    const bool is_full = ::statvfs(folder_.path().c_str(), &system) == 0 && system.f_blocks > 0 &&
                         system.f_bavail * system.f_frsize < kLeastRoom;
    if (!is_full) return ShardFailures{};
    return error(StatusCode::OutOfMemory, "there is no room left in '{}'", folder_.path().string());
  }

  void answer_failed(const std::string& key, const std::string& reason, FailureKind kind,
                     bool given_up) {
    WorkerAnswer failed{WorkerAnswer::Kind::Failed, key};
    failed.error = reason;
    failed.failure = kind;
    failed.given_up = given_up;
    answer(failed);
  }

  /// Blocks while the reader does not read.
  void answer(const WorkerAnswer& answer) {
    const std::string line = answer.to_line();
    size_t written = 0;
    while (written < line.size()) {
      const ssize_t count = ::write(answers_, line.data() + written, line.size() - written);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return drop_all();  // nobody listens
      written += static_cast<size_t>(count);
    }
  }

  /// A run is not destroyed by what it calls.
  void forget_later(const std::string& key) {
    gone_.push_back(key);
    later();
  }

  void later() {
    const auto call = [](gpointer user) -> gboolean {
      auto& self = *static_cast<ShardWorker*>(user);
      for (const std::string& key : self.gone_) self.runs_.erase(key);
      self.gone_.clear();
      self.start_waiting();
      return G_SOURCE_REMOVE;
    };
    g_idle_add_full(G_PRIORITY_DEFAULT, call, this, nullptr);
  }

  void drop_all() {
    if (is_dropping_) return;
    is_dropping_ = true;
    drop_since_ = Clock::now();
    if (exit_status_ == 0 && !(waiting_.empty() && runs_.empty())) exit_status_ = kWorkerLeft;
    waiting_.clear();
    for (auto& [key, under_way] : runs_) {
      under_way.run->drop();
      if (!under_way.has_slot) forget_later(key);
    }
    later();
  }

  static gboolean on_second(gpointer user) {
    auto& self = *static_cast<ShardWorker*>(user);
    self.watch();
    return G_SOURCE_CONTINUE;
  }

  void watch() {
    const auto now = Clock::now();
    if (is_dropping_ && now - drop_since_ > kMostStop) leave_at_once();
    uint64_t frames = frames_before_;
    for (auto& [key, under_way] : runs_) {
      if (!under_way.has_slot) continue;
      const uint64_t count = under_way.run->frames();
      frames += count;
      if (count != under_way.frames) under_way.moved = now;
      under_way.frames = count;
      if (under_way.stall) {
        if (now - *under_way.stall > kMostStop) give_way(key);
        continue;
      }
      if (!is_dropping_ && !under_way.run->is_stopping()) watch_frames(under_way, now);
    }
    if (settings_.tells_progress) {
      WorkerAnswer progress;
      progress.frames = frames;
      answer(progress);
    }
  }

  void watch_frames(UnderWay& under_way, Clock::time_point now) {
    const uint64_t count = under_way.frames;
    const double quiet = std::chrono::duration<double>(now - under_way.moved).count();
    const std::optional<std::string>& known = plan_.videos[under_way.run->shard().video].error;
    const double most_wordless = std::min(known ? kWordlessKnownS : kWordlessS, settings_.stall_s);
    if (quiet > most_wordless && under_way.run->has_stopped_reading()) {
      under_way.stall = now;
      return under_way.run->fail(
          FailureKind::Error,
          Status(StatusCode::Internal,
                 fmt::format("GStreamer has stopped without a reason after {} frames{}", count,
                             known ? "; when it was planned: " + *known : "")));
    }
    const double most = settings_.stall_s * (count > 0 || known ? 1 : kStartFactor);
    if (quiet <= most) return;
    under_way.stall = now;
    under_way.run->fail(
        FailureKind::Stall,
        Status(StatusCode::TimedOut,
               fmt::format("no frame came for {:.0f} s, after {} frames", quiet, count)));
  }

  /// A pipeline that does not stop: the process ends, others of its shards have no fault.
  void give_way(const std::string& key) {
    const Status reason(StatusCode::TimedOut,
                        "no frame came, and its pipeline could not be stopped");
    note_failure(key, FailureKind::Stall, reason.message());
    exit_status_ = kWorkerStalled;
    leave_at_once();
  }

  [[noreturn]] void leave_at_once() {
    for (const PlannedShard& shard : plan_.shards) {
      if (runs_.contains(shard.key)) const ShardParts removed(folder_, shard.key);
    }
    ::_exit(exit_status_);
  }

  const ArchiveFolder& folder_;
  const WorkerSettings& settings_;
  int answers_;
  ArchivePlan plan_;
  std::map<std::string, const PlannedShard*, std::less<>> shards_;
  GMainLoop* loop_ = nullptr;
  guint input_ = 0;
  bool is_input_over_ = false;
  serving::LineBuffer lines_;
  std::deque<std::string> waiting_;
  ModelKeeper keeper_;
  std::map<std::string, UnderWay> runs_;
  std::vector<std::string> gone_;
  uint64_t frames_before_ = 0;
  bool is_dropping_ = false;
  Clock::time_point drop_since_;
  int exit_status_ = 0;
};

}  // namespace

Result<int> run_worker(const ArchiveFolder& folder, const WorkerSettings& settings) {
  ::signal(SIGPIPE, SIG_IGN);
  HET_ASSIGN(ArchivePlan plan, read_plan(folder));
  HET_TRY(check_keys(plan));
  HET_ASSIGN(const int answers, take_standard_output());
  const std::shared_ptr<Core> core = het::core();
  for (const auto& [device, properties] : settings.defaults) {
    HET_TRY(core->set_property(device, properties)
                .with_context(fmt::format("cannot set defaults of {}", device)));
  }
  ShardWorker worker(folder, std::move(plan), settings, answers);
  return worker.run();
}

}  // namespace het::archive
