#pragma once

#include <sys/types.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// Something that waits in a DeadlineCollector, which links items through themselves, so that
/// adding allocates nothing. It belongs to its owner, lives until it was handed out and is in one
/// collector, once at a time.
class HET_API CollectedItem {
 protected:
  ~CollectedItem() = default;

 private:
  friend class DeadlineCollector;
  CollectedItem* next_ = nullptr;
  CollectedItem* previous_ = nullptr;
  std::chrono::steady_clock::time_point arrival_;
  std::chrono::steady_clock::time_point deadline_;
  bool is_waiting_ = false;
};

/// Why items leave a DeadlineCollector.
enum class HandOut : uint8_t {
  Full,       ///< as many as make a batch have arrived
  Deadline,   ///< one of the items has waited for as long as it may
  Flushed,    ///< flush() was called
  Withdrawn,  ///< withdraw() was called for each of them
  Closed,     ///< the collector ends
};

/// Makes batches of items that arrive one by one: hands them out, the oldest first, when `batch` of
/// them wait or when one has waited for the timeout or to its own deadline. Thread-safe. The
/// destructor hands out what still waits and joins the thread; in a child after fork() it only
/// forgets both.
class HET_API DeadlineCollector {
 public:
  /// Takes 1 to `batch` items, exactly `batch` with HandOut::Full. Called on the collector's
  /// thread, one call at a time, so it should be short; must not throw nor destroy the collector.
  /// Items may be added again as soon as they are handed out.
  using Receiver = std::function<void(std::span<CollectedItem* const> items, HandOut cause)>;
  struct Options {
    size_t batch = 1;
    std::chrono::microseconds timeout{0};  ///< 0: whatever waits is handed out at once
    std::string thread_name = "batch";     ///< cut to 15 characters by the kernel
    Receiver receive;
  };

  /// Starts the thread. Fails with InvalidArgument for a batch of 0, OutOfMemory when the system
  /// gives no more threads.
  static Result<std::unique_ptr<DeadlineCollector>> create(Options options);
  ~DeadlineCollector();
  DeadlineCollector(const DeadlineCollector&) = delete;
  DeadlineCollector& operator=(const DeadlineCollector&) = delete;

  using Time = std::chrono::steady_clock::time_point;
  /// The item, and with it those that came before, waits no longer than to `deadline`, whatever the
  /// timeout is. Never waits for the receiver.
  void add(CollectedItem& item, Time deadline = Time::max());
  /// The item leaves the others and is handed out next, with HandOut::Withdrawn. False when it does
  /// not wait (any more): then nothing happens.
  bool withdraw(CollectedItem& item);
  /// What waits now is handed out without waiting for more.
  void flush();
  /// Counts for items that wait already, too.
  void set_timeout(std::chrono::microseconds timeout);
  std::chrono::microseconds timeout() const;

 private:
  struct State;
  explicit DeadlineCollector(Options options);
  static void work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
  std::thread thread_;
  pid_t process_;
};

}  // namespace het
