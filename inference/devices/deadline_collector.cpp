#include "inference/devices/deadline_collector.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <utility>
#include <vector>

namespace het {

/// Shared with the thread, so that it still finds its lists in whatever order things end.
struct DeadlineCollector::State {
  struct List {
    CollectedItem* first = nullptr;
    CollectedItem* last = nullptr;
    size_t size = 0;

    void push(CollectedItem& item) {
      item.next_ = nullptr;
      item.previous_ = last;
      (last ? last->next_ : first) = &item;
      last = &item;
      ++size;
    }
    void remove(CollectedItem& item) {
      (item.previous_ ? item.previous_->next_ : first) = item.next_;
      (item.next_ ? item.next_->previous_ : last) = item.previous_;
      --size;
    }
    /// Moves the first items, `count` at most, to `taken`.
    void take(size_t count, std::vector<CollectedItem*>& taken) {
      for (taken.clear(); first != nullptr && taken.size() < count;) {
        taken.push_back(first);
        first->is_waiting_ = false;
        remove(*first);
      }
    }
  };

  explicit State(Options wanted) : options(std::move(wanted)), timeout(options.timeout) {}
  /// Fills `taken` when something is to be handed out now.
  bool choose(std::vector<CollectedItem*>& taken, HandOut& cause);
  /// Of the items that wait, of which there is one.
  Time deadline() const {
    Time earliest = waiting.first->arrival_ + timeout;
    for (const CollectedItem* item = waiting.first; item; item = item->next_)
      earliest = std::min(earliest, item->deadline_);
    return earliest;
  }

  const Options options;
  std::mutex mutex;  ///< protects everything below and the items' members; taken alone
  std::condition_variable changed;
  List waiting;
  List withdrawn;
  size_t flushed = 0;  ///< of `waiting`, the oldest ones
  std::chrono::microseconds timeout;
  bool stopping = false;
};

bool DeadlineCollector::State::choose(std::vector<CollectedItem*>& taken, HandOut& cause) {
  if (withdrawn.size > 0) {
    cause = HandOut::Withdrawn;
    withdrawn.take(options.batch, taken);
    return true;
  }
  if (waiting.size == 0) return false;
  if (waiting.size >= options.batch) {
    cause = HandOut::Full;
  } else if (flushed > 0) {
    cause = HandOut::Flushed;
  } else if (stopping) {
    cause = HandOut::Closed;
  } else if (std::chrono::steady_clock::now() >= deadline()) {
    cause = HandOut::Deadline;
  } else {
    return false;
  }
  const size_t count = cause == HandOut::Flushed ? flushed : options.batch;
  waiting.take(count, taken);
  flushed -= std::min(flushed, taken.size());
  return true;
}

DeadlineCollector::DeadlineCollector(Options options)
    : state_(std::make_shared<State>(std::move(options))), process_(getpid()) {}

Result<std::unique_ptr<DeadlineCollector>> DeadlineCollector::create(Options options) {
  if (options.batch == 0) {
    return error(StatusCode::InvalidArgument, "cannot collect batches of 0 items in '{}'",
                 options.thread_name);
  }
  std::unique_ptr<DeadlineCollector> collector(new DeadlineCollector(std::move(options)));
  try {
    collector->thread_ = std::thread([state = collector->state_] { work(state); });
  } catch (const std::system_error& failure) {
    return error(StatusCode::OutOfMemory, "cannot start the thread of '{}': {}",
                 collector->state_->options.thread_name, failure.what());
  }
  return collector;
}

DeadlineCollector::~DeadlineCollector() {
  if (!thread_.joinable()) return;
  if (getpid() != process_) {
    // The thread did not survive fork() and may have held the mutex.
    thread_.detach();
    new std::shared_ptr<State>(state_);
    return;
  }
  {
    std::lock_guard lock(state_->mutex);
    state_->stopping = true;
  }
  state_->changed.notify_one();
  thread_.join();
}

void DeadlineCollector::add(CollectedItem& item, Time deadline) {
  {
    std::lock_guard lock(state_->mutex);
    assert(!item.is_waiting_);
    item.is_waiting_ = true;
    item.arrival_ = std::chrono::steady_clock::now();
    item.deadline_ = deadline;
    const bool is_first = state_->waiting.size == 0;
    const bool is_earlier = is_first || deadline < state_->deadline();
    state_->waiting.push(item);
    // The thread sleeps until the earliest deadline already, unless the batch is full.
    if (!is_earlier && state_->waiting.size < state_->options.batch) return;
  }
  state_->changed.notify_one();
}

bool DeadlineCollector::withdraw(CollectedItem& item) {
  {
    std::lock_guard lock(state_->mutex);
    if (!item.is_waiting_) return false;
    item.is_waiting_ = false;
    size_t place = 0;
    for (const CollectedItem* it = state_->waiting.first; it != &item; it = it->next_) ++place;
    if (place < state_->flushed) --state_->flushed;
    state_->waiting.remove(item);
    state_->withdrawn.push(item);
  }
  state_->changed.notify_one();
  return true;
}

void DeadlineCollector::flush() {
  {
    std::lock_guard lock(state_->mutex);
    state_->flushed = state_->waiting.size;
  }
  state_->changed.notify_one();
}

void DeadlineCollector::set_timeout(std::chrono::microseconds timeout) {
  {
    std::lock_guard lock(state_->mutex);
    state_->timeout = timeout;
  }
  state_->changed.notify_one();
}

std::chrono::microseconds DeadlineCollector::timeout() const {
  std::lock_guard lock(state_->mutex);
  return state_->timeout;
}

void DeadlineCollector::work(const std::shared_ptr<State>& state) {
  pthread_setname_np(pthread_self(), state->options.thread_name.substr(0, 15).c_str());
  std::vector<CollectedItem*> taken;
  taken.reserve(state->options.batch);
  HandOut cause = HandOut::Full;
  std::unique_lock lock(state->mutex);
  while (true) {
    if (state->choose(taken, cause)) {
      lock.unlock();
      state->options.receive(taken, cause);
      lock.lock();
    } else if (state->stopping) {
      return;
    } else if (state->waiting.size > 0) {
      state->changed.wait_until(lock, state->deadline());
    } else {
      state->changed.wait(lock);
    }
  }
}

}  // namespace het
