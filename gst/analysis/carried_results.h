#pragma once

#include <gst/video/video.h>

#include <string_view>
#include <vector>

#include "gst/metadata/metadata.h"

namespace het::gst {

/// The results of the last analysed frame, for the frames after it that are not analysed. Only what
/// was found in whole pictures: regions of another frame are other objects. Thread-bound.
class CarriedResults {
 public:
  /// Those of another frame are forgotten.
  void keep(const GstBuffer* buffer, const GstVideoInfo& info,
            const std::vector<RegionResults>& found);
  void forget();
  /// Attaches them, with their age, to the frame that comes next in order; the buffer is replaced
  /// by a writable one where that is needed. Frames of another size or format get none, and they
  /// end the carrying. Returns the number of objects; -1 when there was nothing to attach.
  int attach(GstBuffer** buffer, const GstVideoInfo& info, std::string_view model_name,
             MetadataForm form);

 private:
  std::vector<RegionResults> found_;
  GstVideoInfo info_;  ///< of the frame they were found in; valid while found_ is not empty
  GstClockTime time_ = GST_CLOCK_TIME_NONE;
  guint frames_ = 0;  ///< since then
};

}  // namespace het::gst
