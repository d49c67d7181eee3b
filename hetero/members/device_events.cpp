#include "hetero/members/device_events.h"

#include <utility>

#include "inference/base/log.h"

namespace het::hetero {

void DeviceEvents::add(DeviceEvent event) {
  if (event.cause.empty()) {
    log(LogLevel::Info, "model '{}' on {} uses {} again", model_, device_, event.device);
  } else {
    log(LogLevel::Warning, "model '{}' on {} runs without {}: {}", model_, device_, event.device,
        event.cause);
  }
  list_.add(std::move(event));
}

}  // namespace het::hetero
