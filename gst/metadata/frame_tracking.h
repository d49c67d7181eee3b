#pragma once

#include <gst/video/video.h>

#include <memory>

#include "inference/tracking/tracker.h"
#include "metadata.h"

namespace het::gst {

/// A tracker of one stream on frames' metadata: reads the objects, writes who they are. One thread
/// at a time.
class FrameTracking {
 public:
  FrameTracking(const tracking::TrackerSettings& settings)
      : settings_(settings), tracker_(tracking::create_tracker(settings)) {}

  /// Gives the objects of a writable buffer their ids and adds regions for supposed ones, whose
  /// params have the age of the last observations (see attach_results()). What the tracker rejects
  /// is taken off the buffer.
  void track(GstBuffer* buffer, const GstVideoInfo& info);
  void reset();
  /// Objects so far that had no feature vector though the tracker looks for them.
  uint64_t without_feature() const { return without_feature_; }
  /// Objects so far that were given an id, each on each frame.
  uint64_t tracked() const { return tracked_; }
  /// Different ids given so far.
  uint64_t ids() const { return ids_; }

 private:
  void give_id(GstBuffer* buffer, int region, int id);
  /// Of what is supposed in the next frame that nobody looked into.
  ResultAge supposed_age(const GstBuffer* buffer);

  tracking::TrackerSettings settings_;
  std::unique_ptr<tracking::Tracker> tracker_;
  MetadataForm form_ = default_metadata_form();  ///< in which regions came last
  uint64_t without_feature_ = 0;
  uint64_t tracked_ = 0;
  uint64_t ids_ = 0;
  int highest_id_ = 0;  ///< since the last reset; trackers count
  GstClockTime supposed_since_ = GST_CLOCK_TIME_NONE;
  guint supposed_frames_ = 0;
};

}  // namespace het::gst
