#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "serving/launch/instance/pipeline_elements.h"
#include "serving/launch/instance/sink_counter.h"

namespace het::serving {

/// One run of a pipeline: from NULL to PLAYING and back. Lives in the default main context, which
/// never waits for it: changes of state that may take long run on threads of GStreamer's. What
/// gst-launch-1.0 does with messages of the bus is done here. Thread-bound.
class PipelineRun : public std::enable_shared_from_this<PipelineRun> {
 public:
  /// Called from the main context. After `ended` or `failed`, of which one comes at most once, the
  /// owner calls stop().
  struct Listener {
    std::function<void()> plays;  ///< the first frame reached a sink
    std::function<void()> ended;  ///< EOS at all sinks
    /// Element, message, debug text; `may_pass`: a camera or an address that may come back.
    std::function<void(const std::string& reason, bool may_pass)> failed;
    std::function<void()> stopped;  ///< the pipeline is in NULL
    /// At EOS, where frames came since the last one: the run begins anew, and `ended` comes where
    /// it cannot. Empty: the first EOS is the end.
    std::function<void()> looped;
  };

  /// Takes a pipeline in NULL. `prepare` sees each element before it starts, those that appear
  /// later on a streaming thread. `label` goes before messages.
  static std::shared_ptr<PipelineRun> start(ElementRef pipeline, std::string label,
                                            std::function<void(GstElement*)> prepare,
                                            Listener listener);
  ~PipelineRun();

  /// Sends EOS through the pipeline as soon as it has started; `ended` follows.
  void end();
  /// To NULL; `stopped` follows, and nothing else.
  void stop();
  uint64_t frames() const { return counter_.frames(); }
  GstElement* pipeline() const { return pipeline_.get(); }

 private:
  PipelineRun(ElementRef pipeline, std::string label, std::function<void(GstElement*)> prepare,
              Listener listener);

  /// Does what may take long on another thread, then calls back here with the outcome.
  void on_other_thread(std::function<GstStateChangeReturn(GstElement*)> work,
                       void (PipelineRun::*done)(GstStateChangeReturn));
  void change_state(GstState state, void (PipelineRun::*done)(GstStateChangeReturn));
  void on_started(GstStateChangeReturn outcome);
  void on_stopped(GstStateChangeReturn outcome);
  void on_message(GstMessage* message);
  void on_buffering(GstMessage* message);
  void restart_clock();
  void fail(const std::string& reason, bool may_pass = false);
  void fail_by(GstMessage* message);
  void send_eos();
  void on_eos_sent(GstStateChangeReturn outcome);
  bool begins_anew();
  void on_sought(GstStateChangeReturn outcome);
  /// Not while it starts, nor once an EOS is on its way.
  bool may_change_state() const { return has_started_ && !end_wanted_; }

  ElementRef pipeline_;
  std::string label_;
  std::function<void(GstElement*)> prepare_;
  Listener listener_;
  SinkCounter counter_;
  guint bus_watch_ = 0;
  uint64_t frames_at_loop_ = 0;
  bool is_live_ = false;
  bool has_started_ = false;
  bool is_buffering_ = false;
  bool end_wanted_ = false;
  bool is_over_ = false;  ///< `ended` or `failed` was called
  bool is_sending_eos_ = false;
  bool stop_wanted_ = false;
};

}  // namespace het::serving
