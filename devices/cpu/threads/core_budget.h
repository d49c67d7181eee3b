#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace het::cpu {

/// Threads that may compute at the same time in all compiled models of a device, so that several
/// models do not slow each other down by more threads than there are cores. Thread-safe.
class CoreBudget {
 public:
  /// `threads` of at least 1.
  explicit CoreBudget(size_t threads);
  CoreBudget(const CoreBudget&) = delete;
  CoreBudget& operator=(const CoreBudget&) = delete;

  /// Waits, first come first served, until this many threads are free (at most all of them). Takes
  /// no lock while there are enough for everybody.
  void acquire(size_t threads);
  /// Gives back what acquire() took with the same number.
  void release(size_t threads);

  size_t threads() const { return static_cast<size_t>(all_); }

 private:
  int64_t cut(size_t threads) const;
  bool try_take(int64_t threads);

  const int64_t all_;
  std::atomic<int64_t> free_;
  std::atomic<int64_t> waiting_{0};
  std::mutex mutex_;  ///< protects the turns; taken alone
  std::condition_variable changed_;
  uint64_t next_turn_ = 0;
  uint64_t served_turn_ = 0;
};

/// A share of the budget while a request is executed.
class CoreLease {
 public:
  CoreLease(CoreBudget& budget, size_t threads) : budget_(budget), threads_(threads) {
    budget_.acquire(threads_);
  }
  ~CoreLease() { budget_.release(threads_); }
  CoreLease(const CoreLease&) = delete;
  CoreLease& operator=(const CoreLease&) = delete;

 private:
  CoreBudget& budget_;
  size_t threads_;
};

}  // namespace het::cpu
