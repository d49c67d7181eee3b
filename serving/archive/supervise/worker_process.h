#pragma once

#include <poll.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/archive/worker/shard_messages.h"
#include "serving/launch/supervise/child_process.h"
#include "serving/launch/supervise/line_buffer.h"

namespace het::archive {

/// A `hetero-archive worker` in a process of its own: orders go in, answers come out, and what it
/// says goes to this one's standard error. Thread-bound; the process must have a single thread.
class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;
  using TakeAnswer = std::function<void(const WorkerAnswer&)>;

  /// `arguments` behind the program's name.
  static Result<std::unique_ptr<WorkerProcess>> start(const std::vector<std::string>& arguments,
                                                      const serving::ChildPlace& place,
                                                      TakeAnswer take_answer);
  /// Kills what still runs.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void order(const std::string& key);
  /// No more orders: it ends when all are answered.
  void end_input();
  void signal(int number) const;
  void add_to(std::vector<pollfd>& polled) const;
  /// Takes what can be read and writes what can be written at once.
  void serve();
  /// Whether the process has ended; takes what it left in its pipes.
  bool has_ended();

  bool is_running() const { return !status_; }
  Clock::time_point last_heard() const { return last_heard_; }
  /// Of a process that has ended by itself.
  std::optional<int> exit_status() const;
  /// "exit status 1", "signal 9 (Killed)".
  std::string end_text() const;

 private:
  WorkerProcess(serving::ChildProcess child, TakeAnswer take_answer);

  serving::ChildProcess child_;
  TakeAnswer take_answer_;
  serving::LineBuffer answers_;
  serving::LineBuffer errors_;
  std::string orders_;  ///< not written yet
  bool ends_input_ = false;
  Clock::time_point last_heard_ = Clock::now();
  std::optional<int> status_;  ///< of waitpid()
};

}  // namespace het::archive
