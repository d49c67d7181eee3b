#include "hetero/members/device_gate.h"

#include <utility>

namespace het::hetero {

void DeviceGate::enter(GateVisitor& visitor, uint64_t frame) {
  std::unique_lock lock(mutex_);
  visitor.frame_ = frame;
  GateVisitor** place = &first_;
  while (*place != nullptr && (*place)->frame_ <= frame) place = &(*place)->next_;
  visitor.next_ = std::exchange(*place, &visitor);
  let_pass(lock);
}

void DeviceGate::leave() {
  std::unique_lock lock(mutex_);
  --inside_;
  let_pass(lock);
}

void DeviceGate::let_pass(std::unique_lock<std::mutex>& lock) {
  while (first_ != nullptr && inside_ < limit_) {
    GateVisitor& next = *first_;
    first_ = std::exchange(next.next_, nullptr);
    ++inside_;
    lock.unlock();
    next.pass();
    lock.lock();
  }
}

}  // namespace het::hetero
