#include "fps_meter.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace het::gst {
namespace {

double seconds_between(FpsMeter::Time from, FpsMeter::Time to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

std::shared_ptr<FpsMeter> FpsMeter::shared(unsigned interval_s, unsigned starting_frame,
                                           FpsExtras extras) {
  // Process-wide, because the counters of several pipelines report together. Holds no meter itself.
  static std::mutex mutex;
  static std::map<std::tuple<unsigned, unsigned, FpsExtras>, std::weak_ptr<FpsMeter>> meters;
  std::lock_guard lock(mutex);
  std::weak_ptr<FpsMeter>& known = meters[{interval_s, starting_frame, extras}];
  std::shared_ptr<FpsMeter> meter = known.lock();
  if (!meter) known = meter = std::make_shared<FpsMeter>(interval_s, starting_frame, extras);
  return meter;
}

void FpsMeter::Spread::add(double value) {
  ++count;
  sum += value;
  squares += value * value;
}

void FpsMeter::Spread::add(const Spread& other) {
  count += other.count;
  sum += other.sum;
  squares += other.squares;
}

double FpsMeter::Spread::deviation() const {
  if (count == 0) return 0.0;
  return std::sqrt(std::max(squares / static_cast<double>(count) - mean() * mean(), 0.0));
}

std::optional<std::string> FpsMeter::frame(const std::string& name, Time now,
                                           std::optional<double> age_ms) {
  std::lock_guard lock(mutex_);
  Stream& stream = streams_[name];
  if (stream.seen++ < starting_frame_) return std::nullopt;
  if (stream.counted++ == 0) stream.first = now;
  for (Spreads* spreads : {&stream.of_interval, &stream.of_run}) {
    if (stream.counted > 1) spreads->distances.add(1e3 * seconds_between(stream.last, now));
    if (age_ms) spreads->ages.add(*age_ms);
  }
  stream.last = now;
  if (!begin_) {
    begin_ = interval_begin_ = now;
    return std::nullopt;  // a rate needs the time between two frames
  }
  ++stream.in_interval;
  if (now - interval_begin_ < interval_) return std::nullopt;
  std::string text = line(Span::Interval, seconds_between(interval_begin_, now));
  interval_begin_ = now;
  for (auto& [key, value] : streams_) {
    value.in_interval = 0;
    value.of_interval = {};
  }
  return text;
}

std::optional<std::string> FpsMeter::end(const std::string& name, Time now) {
  std::lock_guard lock(mutex_);
  const auto stream = streams_.find(name);
  if (stream == streams_.end() || stream->second.ended) return std::nullopt;
  stream->second.ended = true;
  const bool all = std::all_of(streams_.begin(), streams_.end(),
                               [](const auto& entry) { return entry.second.ended; });
  if (!all) return std::nullopt;
  std::optional<std::string> text;
  if (begin_) text = line(Span::Overall, seconds_between(*begin_, now));
  streams_.clear();
  begin_.reset();
  return text;
}

double FpsMeter::average_fps(const std::string& name, Time now) const {
  std::lock_guard lock(mutex_);
  const auto stream = streams_.find(name);
  if (stream == streams_.end() || stream->second.counted < 2) return 0.0;
  const double seconds = seconds_between(stream->second.first, now);
  return seconds > 0.0 ? static_cast<double>(stream->second.counted - 1) / seconds : 0.0;
}

std::string FpsMeter::line(Span span, double seconds) const {
  const auto frames = [span](const Stream& stream) {
    return static_cast<double>(span == Span::Interval ? stream.in_interval : stream.counted);
  };
  seconds = std::max(seconds, 1e-9);
  double total = 0.0;
  std::string each;
  for (const auto& [name, stream] : streams_) {
    total += frames(stream);
    each += fmt::format("{}{:.2f}", each.empty() ? "" : ", ", frames(stream) / seconds);
  }
  std::string text = fmt::format(
      "FpsCounter({} {:.2f}sec): total={:.2f} fps, number-streams={}, per-stream={:.2f} fps",
      span == Span::Interval ? "last" : "overall", seconds, total / seconds, streams_.size(),
      total / seconds / static_cast<double>(streams_.size()));
  if (streams_.size() > 1) text += fmt::format(" ({})", each);
  if (extras_.deviation)
    text += extra_line("std dev interval", span, &Spreads::distances, &Spread::deviation);
  if (extras_.latency) text += extra_line("latency", span, &Spreads::ages, &Spread::mean);
  return text;
}

std::string FpsMeter::extra_line(const std::string& title, Span span, Spread Spreads::*spread,
                                 double (Spread::*value)() const) const {
  Spread all;
  std::string each;
  for (const auto& [name, stream] : streams_) {
    const Spread& own = (span == Span::Interval ? stream.of_interval : stream.of_run).*spread;
    all.add(own);
    each += fmt::format("{}{:.2f}", each.empty() ? "" : ", ", (own.*value)());
  }
  if (all.count == 0) return "";
  std::string text = fmt::format("\n{}: {:.2f}ms", title, (all.*value)());
  if (streams_.size() > 1) text += fmt::format(" ({})", each);
  return text;
}

}  // namespace het::gst
