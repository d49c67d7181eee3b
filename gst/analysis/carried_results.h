#pragma once

#include <gst/video/video.h>

#include <string>
#include <string_view>
#include <vector>

#include "gst/metadata/metadata.h"

namespace het::gst {

/// The results of the last analysed frame, for the frames after it that are not analysed. What was
/// found in regions is for still frames only: regions of another frame are other objects.
/// Thread-bound.
class CarriedResults {
 public:
  /// Those of another frame are forgotten.
  void keep(GstBuffer* buffer, const GstVideoInfo& info, const std::vector<RegionResults>& found);
  void forget();
  /// Attaches them, with their age, to the frame that comes next in order; the buffer is replaced
  /// by a writable one where that is needed. Frames of another size or format get none, and they
  /// end the carrying. Of a still frame `found` has the results that regions have already; null for
  /// others. `classes` may be null. Returns the number of objects; -1 when there was nothing to
  /// attach.
  int attach(GstBuffer** buffer, const GstVideoInfo& info, std::string_view model_name,
             MetadataForm form, const std::vector<RegionResults>* found, ObjectClasses* classes);

 private:
  /// What was found in a region, which the next frames have in the same place.
  struct OfRegion {
    Rect rect;
    std::string type;
    RegionResults part;
  };
  void add_of_regions(GstBuffer* buffer, const std::vector<RegionResults>& has,
                      std::vector<RegionResults>& parts) const;

  std::vector<RegionResults> found_;  ///< in the whole picture
  std::vector<OfRegion> in_regions_;
  GstVideoInfo info_;  ///< of the frame they were found in; valid while there are results
  GstClockTime time_ = GST_CLOCK_TIME_NONE;
  guint frames_ = 0;  ///< since then
};

}  // namespace het::gst
