#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace het::cpu {

/// Threads that may compute at the same time in all compiled models of a device, so that several
/// models do not slow each other down by many more threads than there are cores. Thread-safe.
class CoreBudget {
 public:
  /// `threads` of at least 1. Strict: never more. Otherwise one more, and whoever finds one thread
  /// free gets all that it asks for: at a change from one model to another the kernel has a thread
  /// at hand, where the next one would have to wake first, and cores that a team leaves idle are
  /// used.
  enum class Kind : uint8_t { Strict, Filled };
  CoreBudget(size_t threads, Kind kind);
  CoreBudget(const CoreBudget&) = delete;
  CoreBudget& operator=(const CoreBudget&) = delete;

  /// Waits, first come first served, until there are threads for so many (at most all of them).
  void acquire(size_t threads);
  /// Gives back what acquire() took with the same number.
  void release(size_t threads);

  /// All but the one more.
  size_t threads() const { return static_cast<size_t>(all_ - (kind_ == Kind::Filled ? 1 : 0)); }

 private:
  struct Waiter {
    int64_t threads = 0;
    bool has_them = false;
    std::condition_variable changed;
    Waiter* next = nullptr;  ///< in turn
  };

  int64_t cut(size_t threads) const;
  /// Under mutex_.
  bool try_take(int64_t threads);

  const Kind kind_;
  const int64_t all_;
  std::mutex mutex_;  ///< protects the members below; taken alone
  int64_t free_;
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

/// What the models of a device draw on: a budget for all, and one for those that leave the same
/// number of cores to others (SPARE_CORES), since each of them alone would leave the same cores.
/// Thread-safe.
class CoreBudgets {
 public:
  /// `threads` of at least 1.
  explicit CoreBudgets(size_t threads) : all_(threads, CoreBudget::Kind::Filled) {}

  CoreBudget& all() { return all_; }
  /// For as long as this lives; null where no core is left to others.
  CoreBudget* sparing(size_t cores);

 private:
  CoreBudget all_;
  std::mutex mutex_;                      ///< protects the map; taken alone
  std::map<size_t, CoreBudget> sparing_;  ///< by the cores that are left
};

/// A share of a budget, or of two, while a request is executed.
class CoreLease {
 public:
  CoreLease(CoreBudget& budget, size_t threads) : CoreLease(nullptr, budget, threads) {}
  /// `sparing` may be null. It comes first: nobody waits for it with a share of `all`.
  CoreLease(CoreBudget* sparing, CoreBudget& all, size_t threads)
      : sparing_(sparing), all_(all), threads_(threads) {
    if (sparing_ != nullptr) sparing_->acquire(threads_);
    all_.acquire(threads_);
  }
  ~CoreLease() {
    all_.release(threads_);
    if (sparing_ != nullptr) sparing_->release(threads_);
  }
  CoreLease(const CoreLease&) = delete;
  CoreLease& operator=(const CoreLease&) = delete;

 private:
  CoreBudget* const sparing_;
  CoreBudget& all_;
  const size_t threads_;
};

}  // namespace het::cpu
