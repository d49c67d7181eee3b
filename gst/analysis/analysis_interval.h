#pragma once

#include <gst/gst.h>

#include <algorithm>

namespace het::gst {

/// Which frames of a stream are analysed: one in `interval`, which may change from frame to frame,
/// and none that is still, once there are results that it can have. Of the streaming thread.
class AnalysisInterval {
 public:
  /// The next frame is due.
  void restart() {
    left_ = 0;
    has_results_ = false;
  }
  bool is_due(guint interval, bool still) {
    left_ = std::min(left_, interval - 1);
    return left_ == 0 && !(still && has_results_);
  }
  /// A frame that is due and is not analysed leaves its turn to the next one.
  void pass(bool analysed, guint interval) {
    if (analysed) {
      left_ = interval;
      has_results_ = true;
    }
    if (left_ > 0) --left_;
  }

 private:
  guint left_ = 0;            ///< frames that pass before the next one is analysed
  bool has_results_ = false;  ///< of a frame since the last restart
};

}  // namespace het::gst
