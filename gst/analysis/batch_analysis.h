#pragma once

#include <gst/video/video.h>

#include <deque>
#include <memory>
#include <string>

#include "analysis_interval.h"
#include "frame_analysis.h"
#include "gst/metadata/batch_meta.h"

namespace het::gst {

/// How batches of frames from several streams get into an analysis: which frames of each stream are
/// due, what its events say. Of the streaming thread.
class BatchAnalysis {
 public:
  /// Of the batches that come now. Fails with InvalidArgument where they do not say their streams,
  /// or where a stream is no raw video in system memory.
  Status take_caps(const GstCaps* caps);
  /// From one frame to the next of any stream on average, in ns; 0: unknown.
  GstClockTime frame_distance() const;
  /// A stream is.
  bool is_interlaced() const;
  /// The next frame of each stream is due.
  void start_anew();
  /// Queues every frame of the batch (taken over), then the batch. Frames are analysed as `plan`
  /// says, of each stream one in `interval`; with a group their caps say that they carry it. Fails
  /// as FrameAnalysis::take(), and with InvalidArgument where the batch is not what its caps say.
  Status take(GstBuffer* buffer, FrameAnalysis& analysis, const FramePlan& plan, guint interval,
              const TensorGroup* group);

 private:
  struct EventUnref {
    void operator()(GstEvent* event) const { gst_event_unref(event); }
  };
  /// A reference to an event.
  using KeptEvent = std::unique_ptr<GstEvent, EventUnref>;

  struct Stream {
    std::string name;  ///< for messages
    bool has_caps = false;
    GstVideoInfo info = {};
    GstSegment segment = {};
    AnalysisInterval interval;
    // The last ones; sticky events come with every batch.
    KeptEvent stream_start;
    KeptEvent segment_event;
    KeptEvent caps;
    KeptEvent told_caps;  ///< the same with tensors
  };

  Status take_caps_of(Stream& stream, const GstCaps* caps);
  Status take_event(size_t index, const BatchObject& object, FrameAnalysis& analysis,
                    const TensorGroup* group);
  Status take_caps_event(Stream& stream, GstEvent** place, const TensorGroup* group);
  Status take_frame(size_t index, const std::shared_ptr<FrameBatch>& batch, GstBuffer** place,
                    FrameAnalysis& analysis, FramePlan& plan, guint interval);

  std::deque<Stream> streams_;
};

}  // namespace het::gst
