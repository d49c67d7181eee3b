#include "serving/launch/instance/stream_group.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "serving/launch/instance/bus_text.h"
#include "serving/launch/instance/parsed_pipeline.h"

namespace het::serving {
namespace {

/// For elements that are cut off because a user wants the end.
constexpr double kGiveUpS = 2;

guint milliseconds(double seconds) {
  return static_cast<guint>(std::lround(std::clamp(seconds, 0.0, 1e6) * 1000));
}

}  // namespace

std::vector<ElementRef> parse_pipelines(const Job& job) {
  std::vector<ElementRef> pipelines;
  bool all_made = true;
  for (const StreamJob& stream : job.streams) {
    Result<ElementRef> pipeline = parse_pipeline(stream);
    if (pipeline) {
      pipelines.push_back(std::move(*pipeline));
    } else {
      print_line("error", "", pipeline.error().message());
      all_made = false;
    }
  }
  if (!all_made) pipelines.clear();
  return pipelines;
}

StreamGroup::StreamGroup(const Job& job, std::vector<ElementRef> pipelines, ReportWriter& reports,
                         std::function<void(GstElement*)> prepare, std::function<void()> changed,
                         std::function<void()> looped)
    : job_(job),
      reports_(reports),
      changed_(std::move(changed)),
      loop_(g_main_loop_new(nullptr, FALSE)),
      signals_([this] { stop(); }, [this] { cut(kGiveUpS); }) {
  options_.back_off = job.back_off;
  options_.prepare = std::move(prepare);
  options_.says_names = job.streams.size() > 1;
  options_.report = [this](const Report& report) { reports_.write(report); };
  options_.changed = [this] { on_changed(); };
  options_.looped = std::move(looped);
  for (size_t i = 0; i < job.streams.size(); ++i) {
    streams_.push_back(std::make_unique<Stream>(job.streams[i], std::move(pipelines[i]), options_));
  }
}

StreamGroup::~StreamGroup() {
  for (const guint timer : {stop_timer_, give_up_timer_}) {
    if (timer != 0) g_source_remove(timer);
  }
  g_main_loop_unref(loop_);
}

void StreamGroup::run() {
  for (const auto& stream : streams_) stream->start();
  if (!streams_.empty()) g_main_loop_run(loop_);
}

void StreamGroup::on_changed() {
  if (changed_) changed_();
  const bool all_final = std::all_of(streams_.begin(), streams_.end(),
                                     [](const auto& stream) { return stream->is_final(); });
  if (all_final) g_main_loop_quit(loop_);
}

void StreamGroup::stop() {
  was_stopped_ = true;
  const auto too_late = [](gpointer user) -> gboolean {
    auto& self = *static_cast<StreamGroup*>(user);
    self.stop_timer_ = 0;
    for (const auto& stream : self.streams_) {
      if (stream->is_final()) continue;
      print_line("error", self.options_.says_names ? stream->name() : "",
                 fmt::format("did not end within {:g} s and is cut off; files may be incomplete",
                             self.job_.stop_timeout_s));
    }
    self.cut(kGiveUpS);
    return G_SOURCE_REMOVE;
  };
  stop_timer_ = g_timeout_add(milliseconds(job_.stop_timeout_s), too_late, this);
  for (const auto& stream : streams_) stream->end();
}

void StreamGroup::cut(double give_up_s) {
  // A later wish may be a shorter one.
  if (give_up_timer_ != 0) g_source_remove(give_up_timer_);
  // An element that does not come back from its change of state would hold up everything.
  const auto give_up = [](gpointer user) -> gboolean {
    auto& self = *static_cast<StreamGroup*>(user);
    self.reports_.close(0.1);
    std::fflush(nullptr);
    _exit(kInstanceKilled);
  };
  give_up_timer_ = g_timeout_add(milliseconds(give_up_s), give_up, this);
  for (const auto& stream : streams_) stream->cut();
}

int StreamGroup::exit_code() const {
  const auto any = [&](auto&& is_so) {
    return std::any_of(streams_.begin(), streams_.end(),
                       [&](const auto& stream) { return is_so(*stream); });
  };
  if (any([](const Stream& stream) { return stream.was_cut(); })) return kInstanceKilled;
  if (!any([](const Stream& stream) { return stream.state() == Stream::State::Failed; })) {
    return kInstanceDone;
  }
  return any([](const Stream& stream) { return stream.has_played(); }) ? kInstanceFailed
                                                                       : kInstanceUnusable;
}

}  // namespace het::serving
