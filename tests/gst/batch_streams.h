#pragma once

#include <gst/gst.h>

#include <string>
#include <vector>

namespace het::gst_test {

#define HET_NEEDS_BATCHES()                                                     \
  if (!GST_CHECK_VERSION(1, 28, 0))                                             \
  GTEST_SKIP() << "GStreamer " << GST_VERSION_MAJOR << "." << GST_VERSION_MINOR \
               << " has no batches (1.28 does)"

/// Caps of batches whose streams have these.
std::string batch_caps(const std::vector<std::string>& streams);

/// Makes batches of frames from several streams, as analyticscombiner does. Streams have the sticky
/// events STREAM_START ("stream-0" ...), CAPS and a SEGMENT of TIME at first.
class BatchStreams {
 public:
  /// One stream for each of these caps.
  explicit BatchStreams(std::vector<std::string> caps);
  ~BatchStreams();
  BatchStreams(const BatchStreams&) = delete;
  BatchStreams& operator=(const BatchStreams&) = delete;

  std::string caps() const { return batch_caps(caps_); }
  /// A frame of a stream filled with `value`, whose PTS is number * 40 ms.
  GstMiniObject* frame(size_t stream, int number, int value) const;
  /// From now on batches have this sticky event (taken over) instead of that of its type; another
  /// type is added.
  void set_sticky(size_t stream, GstEvent* event);
  /// A buffer whose PTS is number * 40 ms, with these objects (taken over) of each stream.
  GstBuffer* batch(int number, const std::vector<std::vector<GstMiniObject*>>& objects) const;

 private:
  std::vector<std::string> caps_;
  std::vector<std::vector<GstEvent*>> sticky_;
};

/// A serialized event for between frames.
GstMiniObject* batch_marker(int number);

/// What a stream of a batch has; borrowed.
std::vector<GstMiniObject*> batch_objects(GstBuffer* batch, size_t stream);
/// Null where there is none.
GstEvent* batch_sticky(GstBuffer* batch, size_t stream, GstEventType type);

/// The objects of a stream: "frame 3", with what was found in it ("frame 3 car 4,5,6,7"; "age 2"
/// behind results of frames before), "marker 1", "list(frame 0, frame 1)", other events by name.
std::vector<std::string> batch_texts(GstBuffer* batch, size_t stream);
/// The same for one frame.
std::string frame_text(GstBuffer* buffer);

}  // namespace het::gst_test
