#include "devices/cpu/threads/core_budget.h"

#include <algorithm>

namespace het::cpu {

CoreBudget::CoreBudget(size_t threads)
    : all_(std::max<int64_t>(static_cast<int64_t>(threads), 1)), free_(all_) {}

int64_t CoreBudget::cut(size_t threads) const {
  return std::clamp<int64_t>(static_cast<int64_t>(threads), 1, all_);
}

bool CoreBudget::try_take(int64_t threads) {
  int64_t free = free_.load();
  while (free >= threads) {
    if (free_.compare_exchange_weak(free, free - threads)) return true;
  }
  return false;
}

void CoreBudget::acquire(size_t threads) {
  const int64_t wanted = cut(threads);
  // Nobody passes those that wait already.
  if (waiting_.load() == 0 && try_take(wanted)) return;
  std::unique_lock lock(mutex_);
  // Before the check in wait(): a release() that comes after it sees that somebody waits.
  ++waiting_;
  const uint64_t turn = next_turn_++;
  changed_.wait(lock, [&] { return turn == served_turn_ && try_take(wanted); });
  ++served_turn_;
  --waiting_;
  lock.unlock();
  changed_.notify_all();
}

void CoreBudget::release(size_t threads) {
  free_ += cut(threads);
  if (waiting_.load() == 0) return;
  // The waiting one is either before its check or asleep, never in between.
  { const std::lock_guard lock(mutex_); }
  changed_.notify_all();
}

CoreBudget* CoreBudgets::sparing(size_t cores) {
  if (cores == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const size_t left = all_.threads() - std::min(cores, all_.threads() - 1);
  return &sparing_.try_emplace(cores, left).first->second;
}

}  // namespace het::cpu
