#include "inference_stats.h"

#include <algorithm>

namespace het::gst {

void InferenceStats::frame_passed(bool analysed, std::chrono::nanoseconds in_element, int objects) {
  std::lock_guard lock(mutex_);
  ++frames_;
  objects_ += static_cast<uint64_t>(objects);
  if (!analysed) return;
  ++frames_analysed_;
  frame_ns_ += static_cast<uint64_t>(in_element.count());
}

void InferenceStats::frame_came() {
  std::lock_guard lock(mutex_);
  ++frames_in_;
}

void InferenceStats::frame_dropped() {
  std::lock_guard lock(mutex_);
  ++frames_dropped_;
}

void InferenceStats::region_analysed(std::chrono::nanoseconds run_time) {
  std::lock_guard lock(mutex_);
  const auto ns = static_cast<uint64_t>(run_time.count());
  ++regions_;
  inference_ns_ += ns;
  inference_max_ns_ = std::max(inference_max_ns_, ns);
}

void InferenceStats::region_skipped() {
  std::lock_guard lock(mutex_);
  ++regions_skipped_;
}

void InferenceStats::frame_late() {
  std::lock_guard lock(mutex_);
  ++frames_late_;
}

void InferenceStats::frame_carried() {
  std::lock_guard lock(mutex_);
  ++frames_carried_;
}

std::chrono::nanoseconds InferenceStats::mean_frame_time() const {
  std::lock_guard lock(mutex_);
  return std::chrono::nanoseconds(frames_analysed_ ? frame_ns_ / frames_analysed_ : 0);
}

GstStructure* InferenceStats::to_structure(uint64_t requests, uint64_t requests_busy,
                                           uint64_t frames_in_flight) const {
  std::unique_lock lock(mutex_);
  GstStructure* stats = gst_structure_new(
      "heteroinference-stats", "frames-in", G_TYPE_UINT64, frames_in_, "frames", G_TYPE_UINT64,
      frames_, "frames-analysed", G_TYPE_UINT64, frames_analysed_, "frames-in-flight",
      G_TYPE_UINT64, frames_in_flight, "regions", G_TYPE_UINT64, regions_, "regions-skipped",
      G_TYPE_UINT64, regions_skipped_, "objects", G_TYPE_UINT64, objects_, "requests",
      G_TYPE_UINT64, requests, "requests-busy", G_TYPE_UINT64, requests_busy, "frames-late",
      G_TYPE_UINT64, frames_late_, "frames-dropped", G_TYPE_UINT64, frames_dropped_,
      "frames-carried", G_TYPE_UINT64, frames_carried_, "inference-time-mean", G_TYPE_UINT64,
      regions_ ? inference_ns_ / regions_ : 0, "inference-time-max", G_TYPE_UINT64,
      inference_max_ns_, "frame-time-mean", G_TYPE_UINT64,
      frames_analysed_ ? frame_ns_ / frames_analysed_ : 0, nullptr);
  lock.unlock();
  classes_.add_to(stats, "objects-by-class");
  return stats;
}

}  // namespace het::gst
