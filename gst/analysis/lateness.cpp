#include "lateness.h"

namespace het::gst {
namespace {

GstClockTime shifted(GstClockTime time, GstClockTimeDiff diff) {
  if (diff >= 0) return time + static_cast<GstClockTime>(diff);
  const auto back = static_cast<GstClockTime>(-diff);
  return time > back ? time - back : 0;
}

}  // namespace

void Lateness::observe(GstQOSType type, double proportion, GstClockTimeDiff diff,
                       GstClockTime timestamp) {
  if (!GST_CLOCK_TIME_IS_VALID(timestamp)) return;
  std::lock_guard lock(mutex_);
  proportion_ = proportion;
  (type == GST_QOS_TYPE_THROTTLE ? throttled_until_ : earliest_) = shifted(timestamp, diff);
}

Lateness::Verdict Lateness::judge(GstClockTime running_time) const {
  std::lock_guard lock(mutex_);
  Verdict verdict{.proportion = proportion_};
  if (!GST_CLOCK_TIME_IS_VALID(running_time)) return verdict;
  GstClockTime until = running_time;
  if (GST_CLOCK_TIME_IS_VALID(earliest_) && running_time <= earliest_) {
    verdict.is_late = true;
    until = earliest_;
  }
  if (GST_CLOCK_TIME_IS_VALID(throttled_until_) && running_time < throttled_until_) {
    verdict.is_late = true;
    until = MAX(until, throttled_until_);
  }
  verdict.jitter = GST_CLOCK_DIFF(running_time, until);
  return verdict;
}

void Lateness::reset() {
  std::lock_guard lock(mutex_);
  earliest_ = GST_CLOCK_TIME_NONE;
  throttled_until_ = GST_CLOCK_TIME_NONE;
  proportion_ = 1.0;
}

}  // namespace het::gst
