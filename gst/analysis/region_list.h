#pragma once

#include <gst/video/video.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/decoders/results.h"
#include "inference/tensors/image.h"

namespace het::gst {

/// A region to attach: a plain rectangle, or an object with its box in 0..1 of the picture.
struct ListedRegion {
  Rect rect;
  std::string label;
  std::optional<Detection> detection;  ///< coordinates in 0..1 of the picture
  std::optional<int> object_id;
};

/// Regions for each frame, from a JSON array with gvametaconvert's keys: of each entry "timestamp"
/// and "objects", of these x, y, w, h, roi_type, id and detection. Immutable; thread-safe.
class RegionList {
 public:
  /// Fails with the path, and the entry where one is malformed; files above 64 MiB are refused.
  static Result<RegionList> read(const std::string& path, bool by_timestamp);

  size_t frame_count() const { return frames_.size(); }
  /// `frame` below frame_count().
  const std::vector<ListedRegion>& regions(size_t frame) const { return frames_[frame]; }
  /// Null where no entry has this timestamp.
  const std::vector<ListedRegion>* regions_at(uint64_t timestamp_ns) const;

 private:
  std::vector<std::vector<ListedRegion>> frames_;
  std::map<uint64_t, size_t> by_timestamp_;
};

/// "x_top_left,y_top_left,x_bottom_right,y_bottom_right" in pixels.
Result<Rect> parse_region(const std::string& text);

/// Attaches regions to a writable buffer; what has no pixel in the picture is left out.
void attach_regions(GstBuffer* buffer, const GstVideoInfo& info,
                    const std::vector<ListedRegion>& regions);

}  // namespace het::gst
