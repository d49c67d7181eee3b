#pragma once

#include <gst/gst.h>

#include <functional>
#include <mutex>
#include <string>

namespace het::density {

/// Lets a video begin anew at its end: the source is sought back to its begin, and what comes after
/// the pad sees neither an end nor a flush, only a further segment whose running time goes on.
/// Thread-safe.
class VideoLoop {
 public:
  using Fail = std::function<void(std::string)>;

  /// Each frame and segment that comes to the pad. Takes the event and returns the one to go on.
  void note_frame(GstBuffer* buffer);
  GstEvent* take_segment(GstEvent* event);
  /// At the end of the video, on the streaming thread: false where it has been stopped. `fail`
  /// hears of a source that cannot begin anew.
  bool begin_anew(GstPad* pad, Fail fail);
  /// Between the end and the first segment.
  bool is_beginning() const;
  size_t loops() const;
  void stop();

 private:
  mutable std::mutex mutex_;  ///< protects all below; taken alone
  GstSegment segment_ = {};
  bool has_segment_ = false;
  GstClockTime running_end_ = 0;
  size_t frames_ = 0;  ///< since the last begin
  size_t loops_ = 0;
  bool is_beginning_ = false;
  bool is_stopped_ = false;
};

}  // namespace het::density
