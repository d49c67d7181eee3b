#pragma once

#include <gst/video/video.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "gst/frames/frame_memory.h"
#include "gst/metadata/batch_meta.h"
#include "inference/tensors/image.h"
#include "inference/vision_model.h"
#include "request_pool.h"
#include "stream_memory.h"

namespace het::gst {

/// A region of a frame in analysis; `index` as in RegionResults.
struct RegionJob {
  TimedRequest* request = nullptr;
  const VisionModel* model = nullptr;  ///< whose request it is
  Rect roi;
  int index = -1;
};

/// Where the frame of a batch belongs.
struct BatchPlace {
  std::shared_ptr<FrameBatch> batch;  ///< null: a frame of its own
  GstBuffer** frame = nullptr;
};

/// A frame between the sink pad and the source pad. The streaming thread adds jobs until it ends
/// the frame; the source task takes them, in order.
struct QueuedFrame {
  GstBuffer* buffer = nullptr;  ///< owned
  GstVideoInfo info;
  BatchPlace place;
  std::chrono::steady_clock::time_point arrived;
  float threshold = 0.0f;  ///< minimum confidence; 0: the decoder's own
  uint64_t number = 0;     ///< counts the frames of an analysis
  StreamMemory* stream = nullptr;
  uint64_t stream_number = 0;    ///< counts the frames of the stream
  bool reclassify_every = true;  ///< false: tracked objects may keep their last results
  bool skip_raw_tensors = false;
  bool is_analysed = true;
  bool carries_results = false;  ///< of the last analysed frame, when it is not analysed itself
  bool is_still = false;         ///< its regions are those of that frame
  bool is_discontinuity = false;
  std::chrono::steady_clock::time_point started;  ///< of the first job

  std::pmr::deque<RegionJob> jobs{&frame_memory()};  ///< protected by the queue
  bool ended = false;                                ///< protected by the queue
};

/// What leaves through the source pad, in the order in which it came: frames with their running
/// requests, batches behind their frames, serialized events and queries. One streaming thread fills
/// it, one source task empties it; close() may come from any thread. Thread-safe.
class OutputQueue {
 public:
  /// One of the four is set.
  struct Item {
    std::shared_ptr<QueuedFrame> frame;
    GstEvent* event = nullptr;
    GstQuery* query = nullptr;
    std::shared_ptr<FrameBatch> batch;
  };

  explicit OutputQueue(size_t frame_limit) : frame_limit_(frame_limit) {}
  ~OutputQueue();
  OutputQueue(const OutputQueue&) = delete;
  OutputQueue& operator=(const OutputQueue&) = delete;

  size_t frame_limit() const;
  /// Lets more frames in; a smaller limit changes nothing.
  void raise_frame_limit(size_t limit);
  /// OK while open, else why it was closed.
  GstFlowReturn flow() const;
  /// Lets everything pass again after close().
  void open();
  /// Wakes both sides; their calls return nothing until open(). Flushing wins over other reasons,
  /// otherwise the first reason stays.
  void close(GstFlowReturn reason);
  /// Asks the executions of all queued frames to end early.
  void cancel_jobs();
  /// Throws the content away and gives its requests back. Sticky events (but SEGMENT and EOS) are
  /// kept on `source_pad` when it is not null. Call it while neither side is active.
  void clear(RequestPool& pool, GstPad* source_pad);

  // Streaming thread.
  /// Appends a frame (the buffer is taken over); blocks while the limit is reached. Null: closed.
  std::shared_ptr<QueuedFrame> begin_frame(GstBuffer* buffer, const GstVideoInfo& info);
  void add_job(QueuedFrame& frame, const RegionJob& job);
  void end_frame(QueuedFrame& frame);
  /// Appends the batch of the frames before; counts as a frame, too. False: closed.
  bool push_batch(std::shared_ptr<FrameBatch> batch);
  /// Appends an event (taken over). False: closed.
  bool push_event(GstEvent* event);
  /// Appends a query and waits for the answer. False: refused or closed.
  bool run_query(GstQuery* query);

  // Source task.
  /// Blocks for the next item; it stays in the queue until pop(). Empty: closed.
  std::optional<Item> front();
  /// Blocks for the next job of the frame in front. Empty: all jobs are taken, or closed. Call
  /// job_done() when its request has ended.
  std::optional<RegionJob> next_job(QueuedFrame& frame);
  void job_done();
  /// Takes the front item out; empty when closed meanwhile. The caller owns what is in it.
  std::optional<Item> pop();
  /// Ends run_query() of the query in front.
  void answer_query(bool accepted);
  size_t frames() const;

 private:
  /// Under mutex_.
  void wait_for_room(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;  ///< protects everything below and the queued frames; taken alone
  std::condition_variable changed_;
  std::pmr::deque<Item> items_{&frame_memory()};
  size_t frame_limit_;
  size_t frames_ = 0;
  size_t batches_ = 0;
  GstFlowReturn flow_ = GST_FLOW_OK;
  TimedRequest* awaited_ = nullptr;  ///< the source task waits for its end
  bool query_running_ = false;       ///< the source side uses the query in front
  bool query_answered_ = false;
  bool query_accepted_ = false;
};

}  // namespace het::gst
