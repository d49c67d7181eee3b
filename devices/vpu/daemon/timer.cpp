#include "devices/vpu/daemon/timer.h"

#include <utility>

namespace het::vpu {

Timer::~Timer() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Timer::at(Clock::time_point when, std::function<void()> what) {
  {
    std::lock_guard lock(mutex_);
    planned_.emplace(when, std::move(what));
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  }
  changed_.notify_one();
}

void Timer::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (planned_.empty()) {
      changed_.wait(lock);
    } else if (Clock::now() < planned_.begin()->first) {
      changed_.wait_until(lock, planned_.begin()->first);
    } else {
      auto next = planned_.extract(planned_.begin());
      lock.unlock();
      next.mapped()();
      next = {};
      lock.lock();
    }
  }
}

}  // namespace het::vpu
