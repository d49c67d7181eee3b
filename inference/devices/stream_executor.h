#pragma once

#include <sys/types.h>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// Work for a stream. The queue links jobs through themselves, so submitting allocates nothing:
/// a job belongs to its request, lives until run() has returned and is queued once at a time.
class HET_API StreamJob {
 public:
  /// Does the work on the thread of stream `stream`, or in its place; must not throw. It may submit
  /// jobs, itself included.
  virtual void run(size_t stream) = 0;

 protected:
  virtual ~StreamJob() = default;

 private:
  friend class StreamExecutor;
  StreamJob* next_ = nullptr;
};

/// How a StreamExecutor is set up.
struct StreamExecutorOptions {
  size_t streams = 1;
  /// Shown by debuggers as "<name>.<stream>", cut to 15 characters by the kernel.
  std::string thread_name = "stream";
  /// Runs once on every stream's thread before its first job: pins the thread, sizes its team.
  std::function<void(size_t stream)> on_thread_start;
  /// Calls `work` on a thread that is none of the executor's, with what on_thread_start has given
  /// stream `stream`; false, without calling it, where that cannot be. Empty: run_here() never
  /// does.
  std::function<bool(size_t stream, const std::function<void()>& work)> as_guest;
};

/// The streams of a device: long-lived threads that take jobs from one queue, first come first
/// served, one job per thread at a time. Thread-safe. The destructor runs the jobs that are still
/// queued and joins the threads; in a child after fork() it only forgets them.
class HET_API StreamExecutor {
 public:
  /// Starts the threads; on_thread_start has returned on all of them when this returns. Fails with
  /// InvalidArgument for no streams, OutOfMemory when the system gives no more threads.
  static Result<std::unique_ptr<StreamExecutor>> create(const StreamExecutorOptions& options);
  ~StreamExecutor();
  StreamExecutor(const StreamExecutor&) = delete;
  StreamExecutor& operator=(const StreamExecutor&) = delete;

  size_t stream_count() const { return threads_.size(); }
  /// Queues the job for the next free stream and returns. The job must outlive its run.
  void submit(StreamJob& job);
  /// Runs the job on the calling thread, in the place of a stream that has nothing to do, and
  /// returns when it is done: nobody has to wake up for it. False, and nothing was done, where no
  /// stream is free.
  bool run_here(StreamJob& job);

 private:
  struct State;
  StreamExecutor();
  static void work(const std::shared_ptr<State>& state, const StreamExecutorOptions& options,
                   size_t stream);

  std::shared_ptr<State> state_;
  std::vector<std::thread> threads_;
  pid_t process_;
};

}  // namespace het
