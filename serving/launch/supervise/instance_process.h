#pragma once

#include <poll.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/job.h"
#include "serving/launch/report.h"
#include "serving/launch/supervise/child_process.h"
#include "serving/launch/supervise/line_buffer.h"

namespace het::serving {

/// A process that runs a Job: its lines go to this process' output with a prefix, its reports to a
/// function. Thread-bound.
class InstanceProcess {
 public:
  using TakeReport = std::function<void(const Report&)>;
  using TakeLine = std::function<void(std::string_view)>;

  /// `prefix` is put in front of each line ("[0] "), `take_report` is called by read(), and
  /// `take_line`, where there is one, gets its lines, which nobody prints then. `program` is this
  /// one (/proc/self/exe).
  static Result<std::unique_ptr<InstanceProcess>> start(const Job& job, const ChildPlace& place,
                                                        std::string prefix, TakeReport take_report,
                                                        TakeLine take_line = nullptr);
  /// Kills what still runs.
  ~InstanceProcess();
  InstanceProcess(const InstanceProcess&) = delete;
  InstanceProcess& operator=(const InstanceProcess&) = delete;

  pid_t pid() const { return child_.pid; }
  bool is_running() const { return !status_; }
  /// Sends a signal, if it runs.
  void signal(int number) const;

  /// Descriptors to wait for.
  void add_to(std::vector<pollfd>& polled) const;
  /// Takes what can be read at once.
  void read();
  /// Whether the process has ended; takes what it left in its pipes.
  bool has_ended();

  /// Of a process that has ended: exited by itself with this status, if it did.
  std::optional<int> exit_status() const;
  /// "exit status 1", "signal 9 (Killed)".
  std::string end_text() const;

 private:
  InstanceProcess(ChildProcess child, std::string prefix, TakeReport take_report,
                  TakeLine take_line);

  ChildProcess child_;
  std::string prefix_;
  TakeReport take_report_;
  TakeLine take_line_;
  LineBuffer output_;
  LineBuffer errors_;
  LineBuffer reports_;
  std::optional<int> status_;  ///< of waitpid()
};

/// Waits until one of them has something to read, one has ended or `most_ms` are over, and takes
/// it. `also` is a descriptor of the caller's; true when it can be read. Negative: none.
bool wait_for_processes(const std::vector<InstanceProcess*>& processes, int most_ms, int also = -1);

}  // namespace het::serving
