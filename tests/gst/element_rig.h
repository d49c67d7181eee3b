#pragma once

#include <gst/video/video.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

namespace het::gst_test {

/// One element between two pads of our own: pushes what a test wants in, notes what comes out and
/// in which order.
class ElementRig {
 public:
  /// `properties` as gst-launch takes them. An element that does not exist throws.
  ElementRig(const std::string& factory, const std::string& properties);
  ~ElementRig();
  ElementRig(const ElementRig&) = delete;
  ElementRig& operator=(const ElementRig&) = delete;

  GstElement* element() const { return element_; }
  GstPad* source() const { return source_; }
  /// PLAYING, then STREAM_START, CAPS and a TIME SEGMENT. False when the state change fails.
  bool start(const std::string& caps);
  void stop();
  bool set_caps(const std::string& caps);
  /// A frame of the current caps filled with `value`, whose PTS is number * 40 ms.
  GstBuffer* frame(int number, int value = 0) const;
  GstFlowReturn push(GstBuffer* buffer) { return gst_pad_push(source_, buffer); }
  bool event(GstEvent* event) { return gst_pad_push_event(source_, event); }
  /// A serialized event of ours, noted as "marker <number>".
  bool marker(int number);

  /// What came out: "buffer <pts in ms / 40>", "caps 64x48", "segment", "marker 3", "eos" ...
  std::vector<std::string> arrived();
  /// Waits until `entry` has come out.
  bool wait_for(const std::string& entry, unsigned limit_s = 20);
  /// Decides the flow for each buffer that comes out; called on the element's source task.
  std::function<GstFlowReturn(GstBuffer*)> on_buffer;
  /// Error messages that were posted since the last call.
  std::vector<std::string> errors();

 private:
  static GstFlowReturn chain(GstPad* pad, GstObject* parent, GstBuffer* buffer);
  static gboolean sink_event(GstPad* pad, GstObject* parent, GstEvent* event);
  void note(const std::string& entry);

  GstElement* element_ = nullptr;
  GstPad* source_ = nullptr;
  GstPad* sink_ = nullptr;
  GstBus* bus_ = nullptr;
  GstVideoInfo info_ = {};
  std::mutex mutex_;  ///< protects arrived_
  std::condition_variable noted_;
  std::vector<std::string> arrived_;
};

}  // namespace het::gst_test
