#include "inference/devices/stream_executor.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <system_error>

namespace het {

/// Shared with the threads, so that one that outlives the executor (see the destructor) still finds
/// its queue.
struct StreamExecutor::State {
  enum class Stream : uint8_t {
    Busy,
    Free,
    Lent,  ///< to run_here()
  };

  std::mutex mutex;  ///< protects everything below; taken alone
  std::condition_variable work_or_stop;
  std::condition_variable started;
  StreamJob* first = nullptr;
  StreamJob* last = nullptr;
  std::vector<Stream> streams;
  std::function<bool(size_t stream, const std::function<void()>& work)> as_guest;
  size_t started_threads = 0;
  bool stopping = false;
};

StreamExecutor::StreamExecutor() : state_(std::make_shared<State>()), process_(getpid()) {}

Result<std::unique_ptr<StreamExecutor>> StreamExecutor::create(
    const StreamExecutorOptions& options) {
  if (options.streams == 0)
    return error(StatusCode::InvalidArgument, "cannot start '{}' with 0 streams: use at least 1",
                 options.thread_name);
  std::unique_ptr<StreamExecutor> executor(new StreamExecutor);
  executor->state_->streams.assign(options.streams, State::Stream::Busy);
  executor->state_->as_guest = options.as_guest;
  executor->threads_.reserve(options.streams);
  for (size_t stream = 0; stream < options.streams; ++stream) {
    try {
      executor->threads_.emplace_back(
          [state = executor->state_, options, stream] { work(state, options, stream); });
    } catch (const std::system_error& failure) {
      return error(StatusCode::OutOfMemory,
                   "cannot start thread {} of {} for '{}': {}; use fewer streams", stream + 1,
                   options.streams, options.thread_name, failure.what());
    }
  }
  std::unique_lock lock(executor->state_->mutex);
  executor->state_->started.wait(
      lock, [&] { return executor->state_->started_threads == options.streams; });
  return executor;
}

StreamExecutor::~StreamExecutor() {
  if (getpid() != process_) {
    // The threads did not survive fork() and one of them may have held the mutex.
    for (std::thread& thread : threads_) thread.detach();
    new std::shared_ptr<State>(state_);
    return;
  }
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->work_or_stop.notify_all();
  for (std::thread& thread : threads_) {
    // The last user may let go inside a job: that thread cannot join itself and ends on its own.
    if (thread.get_id() == std::this_thread::get_id()) {
      thread.detach();
    } else {
      thread.join();
    }
  }
}

bool StreamExecutor::run_here(StreamJob& job) {
  if (!state_->as_guest || getpid() != process_) return false;
  const std::shared_ptr<State> state = state_;
  size_t stream = 0;
  {
    const std::lock_guard lock(state->mutex);
    const auto free = std::ranges::find(state->streams, State::Stream::Free);
    if (state->first != nullptr || free == state->streams.end()) return false;
    *free = State::Stream::Lent;
    stream = static_cast<size_t>(free - state->streams.begin());
  }
  const bool done = state->as_guest(stream, [&] { job.run(stream); });
  {
    const std::lock_guard lock(state->mutex);
    state->streams[stream] = State::Stream::Free;
    if (state->first == nullptr && !state->stopping) return done;
  }
  // A thread that was woken for a job while its stream was lent has gone to sleep again.
  state->work_or_stop.notify_all();
  return done;
}

void StreamExecutor::submit(StreamJob& job) {
  {
    std::lock_guard lock(state_->mutex);
    job.next_ = nullptr;
    (state_->last ? state_->last->next_ : state_->first) = &job;
    state_->last = &job;
    if (std::ranges::count(state_->streams, State::Stream::Lent) == 0) {
      state_->work_or_stop.notify_one();
    } else {
      // The one that is woken may be that of a lent stream.
      state_->work_or_stop.notify_all();
    }
  }
}

void StreamExecutor::work(const std::shared_ptr<State>& state, const StreamExecutorOptions& options,
                          size_t stream) {
  const std::string name = fmt::format("{}.{}", options.thread_name, stream).substr(0, 15);
  pthread_setname_np(pthread_self(), name.c_str());
  if (options.on_thread_start) options.on_thread_start(stream);

  std::unique_lock lock(state->mutex);
  ++state->started_threads;
  state->started.notify_one();
  while (true) {
    state->streams[stream] = State::Stream::Free;
    state->work_or_stop.wait(lock, [&] {
      return state->streams[stream] != State::Stream::Lent &&
             (state->first != nullptr || state->stopping);
    });
    state->streams[stream] = State::Stream::Busy;
    StreamJob* job = state->first;
    if (job == nullptr) return;
    state->first = job->next_;
    if (state->first == nullptr) state->last = nullptr;
    lock.unlock();
    job->run(stream);
    lock.lock();
  }
}

}  // namespace het
