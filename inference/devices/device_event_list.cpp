#include "inference/devices/device_event_list.h"

#include <algorithm>
#include <utility>

namespace het {

void DeviceEventList::add(DeviceEvent event) {
  std::lock_guard lock(mutex_);
  events_.push_back(std::move(event));
  if (events_.size() > kKept) events_.pop_front();
  ++count_;
}

std::vector<DeviceEvent> DeviceEventList::since(uint64_t& next) const {
  if (count_ <= next) return {};
  std::lock_guard lock(mutex_);
  const auto wanted = static_cast<ptrdiff_t>(std::min<uint64_t>(count_ - next, events_.size()));
  next = count_;
  return {events_.end() - wanted, events_.end()};
}

void JoinedDeviceEvents::watch(const std::shared_ptr<const CompiledModel>& model) {
  std::lock_guard lock(mutex_);
  watched_.push_back({model});
}

void JoinedDeviceEvents::collect() {
  std::lock_guard lock(mutex_);
  ask_models();
}

std::vector<DeviceEvent> JoinedDeviceEvents::since(uint64_t& next) {
  std::lock_guard lock(mutex_);
  ask_models();
  return events_.since(next);
}

void JoinedDeviceEvents::ask_models() {
  forget_ended();
  for (Watched& watched : watched_) {
    const std::shared_ptr<const CompiledModel> model = watched.model.lock();
    if (model == nullptr) continue;
    for (DeviceEvent& event : model->device_events(watched.next)) {
      bool is_new = false;
      if (event.cause.empty()) {
        watched.lost.erase(event.device);
        is_new = lost_.erase(event.device) > 0;
      } else {
        watched.lost.insert(event.device);
        is_new = lost_.insert(event.device).second;
      }
      if (is_new) events_.add(std::move(event));
    }
  }
}

void JoinedDeviceEvents::forget_ended() {
  const auto has_ended = [](const Watched& watched) { return watched.model.expired(); };
  if (std::erase_if(watched_, has_ended) == 0) return;
  std::erase_if(lost_, [this](const std::string& device) {
    return std::ranges::none_of(
        watched_, [&](const Watched& watched) { return watched.lost.contains(device); });
  });
}

}  // namespace het
