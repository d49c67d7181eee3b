#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "serving/launch/back_off.h"
#include "serving/launch/instance/pipeline_run.h"
#include "serving/launch/job.h"
#include "serving/launch/report.h"

namespace het::serving {

/// What holds for all streams of an instance.
struct StreamOptions {
  BackOff back_off;
  /// Sees each element before it starts, on any thread; may be empty.
  std::function<void(GstElement*)> prepare;
  bool says_names = false;  ///< the stream's name before each message
  /// What the stream has to tell.
  std::function<void(const Report&)> report;
  std::function<void()> changed;  ///< its state has
  std::function<void()> looped;   ///< as in PipelineRun::Listener
};

/// A stream of an instance: runs of its pipeline until it has ended or failed for good.
/// Thread-bound to the default main context.
class Stream {
 public:
  enum class State { Starting, Playing, Waiting, Ended, Failed };

  /// `pipeline` is the first run's.
  Stream(StreamJob job, ElementRef pipeline, const StreamOptions& options);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  void start();
  /// EOS, and no further run.
  void end();
  /// To NULL at once, and no further run.
  void cut();

  const std::string& name() const { return job_.name; }
  State state() const { return state_; }
  /// Ended or failed for good, and the pipeline is in NULL.
  bool is_final() const;
  bool has_played() const { return has_played_; }
  bool was_cut() const { return was_cut_; }
  uint64_t frames() const { return frames_ + (run_ ? run_->frames() : 0); }
  Progress::Stream progress() const;

 private:
  void start_run(ElementRef pipeline);
  void start_again();
  void on_plays();
  void on_failed(const std::string& reason, bool may_pass);
  void on_stopped();
  void set_state(State state);
  void fail_for_good(const std::string& reason);
  std::string label() const { return options_.says_names ? job_.name : std::string(); }
  Status set_files_aside();

  StreamJob job_;
  const StreamOptions& options_;
  ElementRef first_pipeline_;
  Retry retry_;
  State state_ = State::Starting;
  std::shared_ptr<PipelineRun> run_;
  std::set<std::string> files_;  ///< that runs so far have written
  size_t runs_ = 0;
  uint64_t frames_ = 0;       ///< of runs that are over
  gint64 playing_since_ = 0;  ///< of this run, in GLib's monotonic time; 0: it has not played
  guint timer_ = 0;
  double wait_s_ = -1;
  bool has_played_ = false;
  bool end_wanted_ = false;
  bool was_cut_ = false;
};

/// "starting", "playing", "waiting", "ended", "failed".
const char* to_string(Stream::State state);

}  // namespace het::serving
