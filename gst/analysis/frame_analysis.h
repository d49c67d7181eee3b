#pragma once

#include <gst/video/video.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "class_thresholds.h"
#include "gst/frames/picture_source.h"
#include "gst/measuring/frame_trace.h"
#include "gst/metadata/metadata.h"
#include "gst/metadata/region_meta.h"
#include "inference/base/status.h"
#include "inference/core.h"
#include "inference/vision_model.h"
#include "inference_settings.h"
#include "inference_stats.h"
#include "latency_bound.h"
#include "output_queue.h"
#include "request_pool.h"
#include "stream_memory.h"

namespace het::gst {

/// How one frame is to be analysed.
struct FramePlan {
  bool analyse = true;         ///< false: the frame passes without results
  bool finds_objects = false;  ///< a detector: what passes is marked as not analysed
  bool carry_results = true;   ///< ... or with those of the last analysed one
  bool is_still = false;       ///< marked so: if it is not analysed, it gets those in any case
  bool after_gap = false;      ///< frames before this one were dropped: it leaves as DISCONT
  size_t stream = 0;           ///< among those of a batch
  InferenceRegion region = kInferenceRegionFullFrame;
  std::vector<std::string> object_classes;  ///< of the regions; empty: all
  float threshold = 0.0f;                   ///< 0: the decoder's own
  guint reclassify_interval = 1;            ///< see ClassificationHistory::is_due()
  bool skip_raw_tensors = false;
  std::optional<std::chrono::milliseconds> latency_budget;  ///< from its arrival to its results
  /// Running time in ns, to compare with frames of other streams.
  uint64_t running_time = kNoFrameTime;
};

/// What an inference element holds between start and stop: the model, its requests and the frames
/// in flight. take() belongs to the streaming thread, finish() to the source task; close() may
/// come from any thread.
class FrameAnalysis {
 public:
  /// Loads the model as `model_settings` say (those of another element may), makes the requests.
  /// `element` is its name, `display` what the pipeline shares, for devices that read its
  /// surfaces; it stays open.
  static Result<std::unique_ptr<FrameAnalysis>> start(std::string element,
                                                      const InferenceSettings& settings,
                                                      const InferenceSettings& model_settings,
                                                      const SharedDisplay& display);
  ~FrameAnalysis();
  FrameAnalysis(const FrameAnalysis&) = delete;
  FrameAnalysis& operator=(const FrameAnalysis&) = delete;

  OutputQueue& queue() { return *queue_; }
  InferenceStats& stats() { return stats_; }
  const InferenceStats& stats() const { return stats_; }
  PictureSource& pictures() { return *pictures_; }
  /// What the property `stats` has. The caller frees it.
  GstStructure* statistics();
  /// Of this element among those that share the model.
  void set_weight(double weight) { pool_->set_weight(weight); }
  size_t request_count() const { return pool_->size(); }
  /// False: the next frame has to wait for a request.
  bool has_idle_request() const { return pool_->has_idle(); }
  LatencyBound& latency() { return latency_; }

  void open();
  /// Both sides stop; GST_FLOW_FLUSHING also cancels what runs.
  void close(GstFlowReturn reason);
  /// See OutputQueue::clear(); a model with state begins anew.
  void clear(GstPad* source_pad);

  /// Queues the frame (taken over; one marked as a discontinuity resets the model's state) and
  /// starts a request for each of its regions; blocks while all are busy. When the queue is
  /// closed the frame is dropped; queue().flow() says why. With a place the frame is of a batch.
  Status take(GstBuffer* buffer, const GstVideoInfo& info, const FramePlan& plan,
              BatchPlace place = {});
  /// Waits for the requests of the frame in front and attaches what they found. False: the queue
  /// was closed meanwhile.
  Result<bool> finish(QueuedFrame& frame);
  /// Another segment or stream begins: nothing is carried into it. Of the source task.
  void forget_results();
  /// True once after the bound has grown. Of the source task.
  bool latency_grew() { return std::exchange(latency_grew_, false); }
  /// Devices that the model lost and took back since the last call. Of the source task.
  std::vector<DeviceEvent> device_events() { return model_->device_events(event_); }
  /// A new stream begins: ids of objects mean others.
  void forget_objects();
  /// The same for one stream of batches.
  void forget_objects(size_t stream) { memories_->of(stream).history.clear(); }
  /// A stream of batches was flushed.
  void restart_stream(size_t stream);
  const std::string& model_name() const { return model_->compiled().name(); }
  /// What decoders of others know the outputs by that frames carry; null: they carry none.
  const TensorGroup* tensor_group() const {
    return tells_tensors_ ? &model_->tensor_group() : nullptr;
  }
  /// To report that something is done to a frame, until the end of the result.
  FrameSpanScope span(FramePart part, const QueuedFrame& frame) const {
    return FrameSpanScope(part, worker_, traced_number(frame));
  }

 private:
  uint64_t traced_number(const QueuedFrame& frame) const {
    return frame_of_stream(trace_stream_, frame.number);
  }
  explicit FrameAnalysis(std::string element) : worker_(std::move(element)) {}
  struct Region {
    Rect rect;
    int index = -1;
  };
  /// What of the frame is analysed, into regions_.
  void find_regions(GstBuffer* buffer, const GstVideoInfo& info, const FramePlan& plan,
                    StreamMemory& stream);
  Status start_jobs(QueuedFrame& frame, const FramePlan& plan);
  void reset_state(const StreamMemory& stream);
  Result<Results> read_results(const RegionJob& job, const QueuedFrame& frame);
  /// Of one region, for decoders of others; nothing unless they are told.
  Result<std::vector<ExchangedTensor>> exchanged_tensors(const RegionJob& job,
                                                         const QueuedFrame& frame,
                                                         const Results& results) const;
  void keep_or_carry(const QueuedFrame& frame, std::vector<RegionResults>& found);

  const FrameWorker worker_;
  const uint64_t trace_stream_ = next_trace_stream();
  /// Closes after everything that was made in it.
  std::shared_ptr<GstObject> display_;
  std::shared_ptr<Core> core_;  ///< keeps devices alive for the model
  std::shared_ptr<VisionModel> model_;
  MetadataForm metadata_form_ = MetadataForm::RegionOfInterest;
  bool tells_tensors_ = false;  ///< outputs are for decoders of others, too
  std::unique_ptr<StreamMemories> memories_;
  std::unique_ptr<PictureSource> pictures_;
  std::unique_ptr<RequestPool> pool_;
  std::unique_ptr<OutputQueue> queue_;
  InferenceStats stats_;
  ClassThresholds class_thresholds_;
  uint64_t frame_number_ = 0;         ///< streaming thread
  std::vector<Region> regions_;       ///< of the frame that is taken, streaming thread
  std::vector<RegionResults> found_;  ///< in the frame that is finished, source task
  LatencyBound latency_;
  bool latency_grew_ = false;  ///< of the source task
  uint64_t event_ = 0;         ///< the next of the model's
  std::atomic<bool> warned_of_empty_region_ = false;
};

}  // namespace het::gst
