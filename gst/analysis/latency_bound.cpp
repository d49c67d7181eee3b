#include "latency_bound.h"

#include <utility>

namespace het::gst {

bool LatencyBound::promise(GstClockTime time) {
  std::lock_guard lock(mutex_);
  if (std::exchange(promised_, time) == time) return false;
  return std::exchange(bound_, time) != time;
}

bool LatencyBound::measure(GstClockTime time) {
  std::lock_guard lock(mutex_);
  if (time <= bound_) return false;
  bound_ = time + time / 4;
  return true;
}

GstClockTime LatencyBound::bound() const {
  std::lock_guard lock(mutex_);
  return bound_;
}

}  // namespace het::gst
