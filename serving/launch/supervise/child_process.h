#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het::serving {

/// Exit status of a child that could not be bound or loaded, as shells have it.
inline constexpr int kCannotRunInstance = 126;

/// How a process has ended, by its status of waitpid(): "exit status 1", "signal 11 (...)".
std::string end_text(int wait_status);

/// Where a child and everything in it runs; empty lists: as its parent.
struct ChildPlace {
  std::vector<int> processors;
  std::vector<size_t> numa_nodes;
};

/// A file descriptor that closes with its owner.
class OwnedFd {
 public:
  explicit OwnedFd(int fd = -1) : fd_(fd) {}
  ~OwnedFd() { reset(); }
  OwnedFd(OwnedFd&& other) noexcept : fd_(other.release()) {}
  OwnedFd& operator=(OwnedFd&& other) noexcept;

  int get() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  int release();
  void reset();

 private:
  int fd_;
};

/// A running program with pipes from its output, bound to its place before it is loaded. A process
/// group of its own, so that Ctrl-C in a terminal reaches it through its parent only; it gets
/// SIGTERM when its parent dies. The parent must have a single thread. Not waited for by its
/// destructor.
struct ChildProcess {
  pid_t pid = -1;
  OwnedFd input;    ///< its standard input, not blocking; of start_with_input() only
  OwnedFd output;   ///< its standard output, not blocking
  OwnedFd errors;   ///< its standard error, not blocking
  OwnedFd reports;  ///< what it writes to the descriptor REPORT_FD, not blocking

  /// Runs `program --instance JOB_FD REPORT_FD`, where JOB_FD holds `job`. What cannot be bound is
  /// told on the child's standard error; without its processors it does not run
  /// (kCannotRunInstance).
  static Result<ChildProcess> start(const std::string& program, const std::string& job,
                                    const ChildPlace& place);

  /// Runs `program` with these arguments, of which the first is its name, in the same way; what it
  /// reads comes from `input`, and there are no reports.
  static Result<ChildProcess> start_with_input(const std::string& program,
                                               const std::vector<std::string>& arguments,
                                               const ChildPlace& place);
};

}  // namespace het::serving
