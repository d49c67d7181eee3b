#pragma once

#include <gst/gst.h>

#include <mutex>

namespace het::gst {

/// The time that a frame spends in an element at most, as told to live pipelines. It begins with
/// what the settings promise and grows to 5/4 of a measured time that exceeds it, so that it
/// settles after a few changes; only other settings make it smaller. Thread-safe.
class LatencyBound {
 public:
  /// What the settings promise, in ns. True when the bound changes. The same promise again leaves
  /// it as it is.
  bool promise(GstClockTime time);
  /// A frame took this long. True when the bound changes.
  bool measure(GstClockTime time);
  GstClockTime bound() const;

 private:
  mutable std::mutex mutex_;  ///< protects everything below; taken alone
  GstClockTime promised_ = GST_CLOCK_TIME_NONE;
  GstClockTime bound_ = 0;
};

}  // namespace het::gst
