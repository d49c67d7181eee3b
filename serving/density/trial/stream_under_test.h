#pragma once

#include <functional>
#include <memory>
#include <string>

#include "serving/density/trial/frame_times.h"
#include "serving/density/trial/stream_pads.h"
#include "serving/launch/instance/pipeline_run.h"

namespace het::density {

/// One of a trial's streams: its pipeline, from start to stop. Thread-bound to the default main
/// context, except for what its members do on streaming threads.
class StreamUnderTest {
 public:
  /// `prepare` sees each element, after what a measurement needs has been done with it.
  StreamUnderTest(serving::ElementRef pipeline, double fps, const std::string& sink,
                  std::string label, std::function<void(GstElement*)> prepare,
                  std::function<void(std::string)> note);
  ~StreamUnderTest();
  StreamUnderTest(const StreamUnderTest&) = delete;
  StreamUnderTest& operator=(const StreamUnderTest&) = delete;

  void start();
  void stop();
  bool is_stopped() const { return is_stopped_; }

  FrameTimes& times() { return times_; }
  const FrameTimes& times() const { return times_; }
  bool has_arrived() const { return pads_.has_arrived(); }
  size_t loops() const { return pads_.loops(); }
  std::string pacing_place() const { return pads_.pacing_place(); }
  /// Why it cannot be measured; empty: it can.
  std::string problem() const;
  GstElement* pipeline() const { return pipeline_; }

 private:
  FrameTimes times_;
  StreamPads pads_;
  serving::ElementRef waiting_;  ///< until start()
  GstElement* pipeline_;         ///< borrowed from `waiting_` or `run_`
  std::string label_;
  std::function<void(GstElement*)> prepare_;
  std::function<void(std::string)> note_;
  std::shared_ptr<serving::PipelineRun> run_;
  std::string failure_;
  bool is_stopped_ = false;
};

}  // namespace het::density
