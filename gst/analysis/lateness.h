#pragma once

#include <gst/gst.h>

#include <mutex>

namespace het::gst {

/// What QoS events of a source pad say about frames to come. All times are running times.
/// Thread-safe.
class Lateness {
 public:
  struct Verdict {
    bool is_late = false;
    GstClockTimeDiff jitter = 0;  ///< how much too late the frame is, in ns; 0 when in time
    double proportion = 1.0;      ///< of the last event: ideal rate over the real one
  };

  /// An event: the frame of `timestamp` was `diff` ns late (negative: early). The next one that is
  /// in time comes after the sum of both, as in GstBaseTransform. With GST_QOS_TYPE_THROTTLE `diff`
  /// is the wanted distance of frames, and other events do not shorten it.
  void observe(GstQOSType type, double proportion, GstClockTimeDiff diff, GstClockTime timestamp);
  /// A frame without a running time (GST_CLOCK_TIME_NONE) is never late.
  Verdict judge(GstClockTime running_time) const;
  /// After a flush or at a segment nothing is known.
  void reset();

 private:
  mutable std::mutex mutex_;  ///< protects everything below; taken alone
  GstClockTime earliest_ = GST_CLOCK_TIME_NONE;
  GstClockTime throttled_until_ = GST_CLOCK_TIME_NONE;
  double proportion_ = 1.0;
};

}  // namespace het::gst
