#pragma once

#include <gst/gst.h>

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

#include "inference/base/status.h"

namespace het::gst {

/// Something of a stream in a batch: the place of an event or of a frame, which may be replaced.
struct BatchObject {
  GstEvent** event = nullptr;  ///< one of the two
  GstBuffer** frame = nullptr;
  bool is_sticky = false;  ///< an event that holds before everything else
};

/// A batch of frames from several streams (GstAnalyticsBatchMeta, from GStreamer 1.28 on), open to
/// have its frames replaced: who takes one out of its place puts it back, or another one. Places
/// may be used by different threads. A batch that is not closed is thrown away.
class FrameBatch {
 public:
  /// Takes the buffer over, which is copied where others hold it, too; its frames are not. Fails
  /// with InvalidArgument where it is no batch of as many streams.
  static Result<std::shared_ptr<FrameBatch>> open(GstBuffer* buffer, size_t streams);
  ~FrameBatch();
  FrameBatch(const FrameBatch&) = delete;
  FrameBatch& operator=(const FrameBatch&) = delete;

  /// Everything of a stream in its order; the frames of a buffer list one by one. Ask once.
  std::vector<BatchObject> objects(size_t stream);
  std::chrono::steady_clock::time_point arrived() const { return arrived_; }
  /// The buffer, which is the caller's. All frames are in their places.
  GstBuffer* close();

 private:
  /// A buffer list that was taken apart.
  struct OpenList {
    GstMiniObject** place;
    std::vector<GstBuffer*> frames;
  };

  explicit FrameBatch(GstBuffer* buffer) : buffer_(buffer) {}
  void open_list(GstMiniObject** place, std::vector<BatchObject>& objects);

  GstBuffer* buffer_;  ///< null: closed
  std::deque<OpenList> lists_;
  const std::chrono::steady_clock::time_point arrived_ = std::chrono::steady_clock::now();
};

}  // namespace het::gst
