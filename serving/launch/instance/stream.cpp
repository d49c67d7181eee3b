#include "serving/launch/instance/stream.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "serving/launch/instance/bus_text.h"
#include "serving/launch/instance/decoder_threads.h"
#include "serving/launch/instance/parsed_pipeline.h"
#include "serving/launch/instance/written_files.h"
#include "serving/launch/set_aside.h"

namespace het::serving {

const char* to_string(Stream::State state) {
  switch (state) {
    case Stream::State::Starting:
      return "starting";
    case Stream::State::Playing:
      return "playing";
    case Stream::State::Waiting:
      return "waiting";
    case Stream::State::Ended:
      return "ended";
    case Stream::State::Failed:
      break;
  }
  return "failed";
}

Stream::Stream(StreamJob job, ElementRef pipeline, const StreamOptions& options)
    : job_(std::move(job)),
      options_(options),
      first_pipeline_(std::move(pipeline)),
      retry_(options.back_off) {}

Stream::~Stream() {
  if (timer_ != 0) g_source_remove(timer_);
}

void Stream::start() {
  start_run(std::move(first_pipeline_));
}

void Stream::start_run(ElementRef pipeline) {
  ++runs_;
  playing_since_ = 0;
  set_state(State::Starting);
  for (const ElementRef& element : elements_of(pipeline.get())) {
    for (const std::string& file : written_files(element.get())) files_.insert(file);
  }
  PipelineRun::Listener listener;
  listener.plays = [this] { on_plays(); };
  listener.ended = [this] {
    set_state(State::Ended);
    run_->stop();
  };
  listener.failed = [this](const std::string& reason, bool may_pass) {
    on_failed(reason, may_pass);
  };
  listener.stopped = [this] { on_stopped(); };
  listener.looped = options_.looped;
  const auto prepare = [&options = options_, threads = job_.decoder_threads](GstElement* element) {
    set_decoder_threads(element, threads);
    if (options.prepare) options.prepare(element);
  };
  run_ = PipelineRun::start(std::move(pipeline), label(), prepare, std::move(listener));
}

void Stream::set_state(State state) {
  state_ = state;
  if (options_.changed) options_.changed();
}

void Stream::on_plays() {
  if (state_ != State::Starting) return;
  playing_since_ = g_get_monotonic_time();
  has_played_ = true;
  options_.report(Report{StreamPlays{job_.name, runs_}});
  set_state(State::Playing);
}

void Stream::on_failed(const std::string& reason, bool may_pass) {
  wait_s_ = -1;
  if ((has_played_ || may_pass) && !end_wanted_) {
    const gint64 played = playing_since_ == 0 ? 0 : g_get_monotonic_time() - playing_since_;
    retry_.succeeded_for(static_cast<double>(played) / G_USEC_PER_SEC);
    wait_s_ = retry_.next().value_or(-1);
  }
  if (wait_s_ < 0) {
    fail_for_good(reason);
  } else {
    print_line("error", label(), fmt::format("{}; starting again in {:g} s", reason, wait_s_));
    options_.report(Report{StreamFailed{job_.name, reason, wait_s_}});
    set_state(State::Waiting);
  }
  if (run_) run_->stop();
}

void Stream::fail_for_good(const std::string& reason) {
  print_line("error", label(), reason);
  options_.report(Report{StreamFailed{job_.name, reason, -1}});
  set_state(State::Failed);
}

void Stream::on_stopped() {
  frames_ += run_->frames();
  run_.reset();
  if (state_ == State::Ended) {
    options_.report(Report{StreamEnded{job_.name}});
  } else if (state_ == State::Waiting && !end_wanted_) {
    const auto again = [](gpointer user) -> gboolean {
      auto& self = *static_cast<Stream*>(user);
      self.timer_ = 0;
      self.start_again();
      return G_SOURCE_REMOVE;
    };
    timer_ =
        g_timeout_add(static_cast<guint>(std::lround(std::min(wait_s_, 1e6) * 1000)), again, this);
    return;
  } else if (state_ == State::Waiting) {
    state_ = State::Ended;
    options_.report(Report{StreamEnded{job_.name}});
  }
  if (options_.changed) options_.changed();
}

Status Stream::set_files_aside() {
  for (const std::string& file : files_) {
    HET_ASSIGN(const std::vector<std::string> kept, set_aside(file));
    for (const std::string& name : kept) {
      print_line("note", label(), fmt::format("what was written so far is in '{}'", name));
    }
  }
  return {};
}

void Stream::start_again() {
  if (const Status status = set_files_aside(); !status.ok()) {
    return fail_for_good(status.message());
  }
  Result<ElementRef> pipeline = parse_pipeline(job_);
  if (!pipeline) return fail_for_good(pipeline.error().message());
  start_run(std::move(*pipeline));
}

void Stream::end() {
  if (std::exchange(end_wanted_, true)) return;
  if (timer_ != 0) {
    g_source_remove(std::exchange(timer_, 0));
    set_state(State::Ended);
    options_.report(Report{StreamEnded{job_.name}});
  } else if (run_) {
    run_->end();
  }
}

void Stream::cut() {
  if (timer_ != 0) return end();
  end_wanted_ = true;
  if (!run_ || state_ == State::Ended || state_ == State::Failed) return;
  was_cut_ = true;
  set_state(State::Ended);
  run_->stop();
}

bool Stream::is_final() const {
  return !run_ && timer_ == 0 && (state_ == State::Ended || state_ == State::Failed);
}

Progress::Stream Stream::progress() const {
  return {job_.name, to_string(state_), frames(), runs_};
}

}  // namespace het::serving
