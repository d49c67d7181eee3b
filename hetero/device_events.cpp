#include "hetero/device_events.h"

#include <algorithm>
#include <utility>

#include "inference/log.h"

namespace het::hetero {

void DeviceEvents::add(DeviceEvent event) {
  if (event.cause.empty()) {
    log(LogLevel::Info, "model '{}' on {} uses {} again", model_, device_, event.device);
  } else {
    log(LogLevel::Warning, "model '{}' on {} runs without {}: {}", model_, device_, event.device,
        event.cause);
  }
  std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  if (events_.size() > kKept) events_.pop_front();
  ++count_;
}

std::vector<DeviceEvent> DeviceEvents::since(uint64_t& next) const {
  if (count_ <= next) return {};
  std::lock_guard lock(mutex_);
  const auto wanted = static_cast<ptrdiff_t>(std::min<uint64_t>(count_ - next, events_.size()));
  next = count_;
  return {events_.end() - wanted, events_.end()};
}

}  // namespace het::hetero
