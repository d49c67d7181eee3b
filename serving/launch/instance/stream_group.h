#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <vector>

#include "serving/launch/instance/stop_signals.h"
#include "serving/launch/instance/stream.h"
#include "serving/launch/job.h"
#include "serving/launch/report_writer.h"

namespace het::serving {

/// The pipelines of a job's streams, in its order. Says on standard error which cannot be made, and
/// returns none then.
std::vector<ElementRef> parse_pipelines(const Job& job);

/// All streams of an instance in one main loop, from start to the last one's end.
class StreamGroup {
 public:
  /// Job and writer are borrowed and outlive this. `changed` is called after each change of a
  /// stream's state, `prepare` and `looped` as in StreamOptions; all may be empty.
  StreamGroup(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports,
              std::function<void(GstElement*)> prepare, std::function<void()> changed,
              std::function<void()> looped = nullptr);
  ~StreamGroup();
  StreamGroup(const StreamGroup&) = delete;
  StreamGroup& operator=(const StreamGroup&) = delete;

  /// Returns when every stream has ended, failed for good or was cut off. A first signal sends EOS;
  /// the job's stop_timeout_s later, or at a second one, streams are cut off. What then does not
  /// let go ends the process with kInstanceKilled.
  void run();
  /// Cuts all streams off; elements get that long to let go (x264enc ends what it has begun).
  void cut(double give_up_s);

  const std::vector<std::unique_ptr<Stream>>& streams() const { return streams_; }
  bool was_stopped() const { return was_stopped_; }  ///< by a signal
  /// As report.h says, by how the streams went.
  int exit_code() const;

 private:
  void stop();
  void on_changed();

  const Job& job_;
  ReportWriter& reports_;
  std::function<void()> changed_;
  StreamOptions options_;
  std::vector<std::unique_ptr<Stream>> streams_;
  GMainLoop* loop_;
  StopSignals signals_;
  guint stop_timer_ = 0;
  guint give_up_timer_ = 0;
  bool was_stopped_ = false;
};

}  // namespace het::serving
