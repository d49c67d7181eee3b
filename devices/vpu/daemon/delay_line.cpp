#include "devices/vpu/daemon/delay_line.h"

#include <algorithm>
#include <utility>

namespace het::vpu {

DelayLine::DelayLine(const SimulatedSpeed& speed) : speed_(speed) {
  if (speed_.link_delay.count() > 0 || speed_.link_bytes_per_second > 0) {
    thread_ = std::thread([this] { work(); });
  }
}

DelayLine::~DelayLine() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void DelayLine::send(uint64_t bytes, std::function<void()> arrive) {
  if (!thread_.joinable()) return arrive();
  {
    std::lock_guard lock(mutex_);
    free_from_ = std::max(free_from_, Clock::now());
    if (speed_.link_bytes_per_second > 0) {
      const double seconds =
          static_cast<double>(bytes) / static_cast<double>(speed_.link_bytes_per_second);
      free_from_ +=
          std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    items_.push_back({free_from_ + speed_.link_delay, std::move(arrive)});
  }
  changed_.notify_one();
}

void DelayLine::work() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (items_.empty()) {
      changed_.wait(lock);
    } else if (Clock::now() < items_.front().when) {
      changed_.wait_until(lock, items_.front().when);
    } else {
      const std::function<void()> arrive = std::move(items_.front().arrive);
      items_.pop_front();
      lock.unlock();
      arrive();
      lock.lock();
    }
  }
}

}  // namespace het::vpu
