#pragma once

#include <gst/gst.h>

#include <chrono>
#include <cstdint>
#include <mutex>

#include "gst/metadata/object_classes.h"

namespace het::gst {

/// Counters of one inference element from start to stop. Thread-safe.
class InferenceStats {
 public:
  void frame_passed(bool analysed, std::chrono::nanoseconds in_element, int objects);
  void frame_came();
  void frame_dropped();
  void region_analysed(std::chrono::nanoseconds run_time);
  void region_skipped();
  void frame_late();
  void frame_carried();
  /// Mean time between arrival and departure of analysed frames; 0 before the first.
  std::chrono::nanoseconds mean_frame_time() const;

  /// Counts objects by their labels.
  ObjectClasses& classes() { return classes_; }

  /// "heteroinference-stats": frames-in, frames, frames-analysed, frames-in-flight, regions,
  /// regions-skipped, objects, requests, requests-busy, frames-late, frames-dropped, frames-carried
  /// (counts), inference-time-mean, inference-time-max, frame-time-mean (ns) and objects-by-class
  /// (ObjectClasses). The caller frees it.
  GstStructure* to_structure(uint64_t requests, uint64_t requests_busy,
                             uint64_t frames_in_flight) const;

 private:
  mutable std::mutex mutex_;  ///< protects everything below; taken alone
  uint64_t frames_in_ = 0;
  uint64_t frames_ = 0;
  uint64_t frames_analysed_ = 0;
  uint64_t regions_ = 0;
  uint64_t regions_skipped_ = 0;
  uint64_t objects_ = 0;
  uint64_t frames_late_ = 0;
  uint64_t frames_dropped_ = 0;
  uint64_t frames_carried_ = 0;
  uint64_t inference_ns_ = 0;
  uint64_t inference_max_ns_ = 0;
  uint64_t frame_ns_ = 0;  ///< of analysed frames
  ObjectClasses classes_;  ///< protects itself
};

}  // namespace het::gst
