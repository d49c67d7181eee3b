#include "devices/cpu/threads/core_budget.h"

#include <algorithm>
#include <utility>

namespace het::cpu {

CoreBudget::CoreBudget(size_t threads, Kind kind)
    : kind_(kind),
      all_(std::max<int64_t>(static_cast<int64_t>(threads), 1) + (kind == Kind::Filled ? 1 : 0)),
      free_(all_) {}

int64_t CoreBudget::cut(size_t threads) const {
  return std::clamp<int64_t>(static_cast<int64_t>(threads), 1, all_);
}

bool CoreBudget::try_take(int64_t threads) {
  if (free_ < (kind_ == Kind::Strict ? threads : 1)) return false;
  free_ -= threads;
  return true;
}

void CoreBudget::acquire(size_t threads) {
  Waiter waiter;
  waiter.threads = cut(threads);
  std::unique_lock lock(mutex_);
  // Nobody passes those that wait already.
  if (first_ == nullptr && try_take(waiter.threads)) return;
  (first_ == nullptr ? first_ : last_->next) = &waiter;
  last_ = &waiter;
  waiter.changed.wait(lock, [&] { return waiter.has_them; });
}

void CoreBudget::release(size_t threads) {
  const std::lock_guard lock(mutex_);
  free_ += cut(threads);
  while (first_ != nullptr && try_take(first_->threads)) {
    Waiter& waiter = *std::exchange(first_, first_->next);
    waiter.has_them = true;
    // Under the lock: the waiter goes as soon as it sees that it has them.
    waiter.changed.notify_one();
  }
}

CoreBudget* CoreBudgets::sparing(size_t cores) {
  if (cores == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const size_t left = all_.threads() - std::min(cores, all_.threads() - 1);
  return &sparing_.try_emplace(cores, left, CoreBudget::Kind::Strict).first->second;
}

}  // namespace het::cpu
