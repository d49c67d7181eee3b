#include "devices/vpu/daemon/unit_queue.h"

#include <utility>

namespace het::vpu {

UnitQueue::UnitQueue(uint32_t units) {
  for (uint32_t unit = 0; unit < units; ++unit) {
    threads_.emplace_back([this, unit] { work(unit); });
  }
}

UnitQueue::~UnitQueue() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void UnitQueue::add(Job job) {
  {
    std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  changed_.notify_one();
}

void UnitQueue::work(uint32_t unit) {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    const Job job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    job(unit);
    lock.lock();
  }
}

}  // namespace het::vpu
