#include "serving/metrics/watch/span_counts.h"

#include <algorithm>

namespace het::metrics {
namespace {

/// Elements, and devices, that are told apart; others are "_other".
constexpr size_t kMostNames = 256;
constexpr size_t kMostIntervals = 64;
constexpr size_t kMostRecent = 64;

bool is_of_device(FramePart part) {
  return part == FramePart::Queue || part == FramePart::Preprocess || part == FramePart::Infer;
}

double seconds_of(SpanTime begin, SpanTime end) {
  return std::chrono::duration<double>(end - begin).count();
}

template <class Value>
Value& value_of(std::map<std::string, Value, std::less<>>& values, std::string_view name) {
  const auto known = values.find(name);
  if (known != values.end()) return known->second;
  return values[values.size() < kMostNames ? std::string(name) : "_other"];
}

}  // namespace

void CoveredTime::take(SpanTime begin, SpanTime end) {
  if (end <= begin) return;
  double added = seconds_of(begin, end);
  std::pair<SpanTime, SpanTime> whole(begin, end);
  auto next =
      std::ranges::lower_bound(intervals_, begin, {}, &std::pair<SpanTime, SpanTime>::second);
  while (next != intervals_.end() && next->first <= end) {
    added -= std::max(0.0, seconds_of(std::max(begin, next->first), std::min(end, next->second)));
    whole = {std::min(whole.first, next->first), std::max(whole.second, next->second)};
    next = intervals_.erase(next);
  }
  intervals_.insert(next, whole);
  if (intervals_.size() > kMostIntervals) intervals_.erase(intervals_.begin());
  seconds_ += std::max(added, 0.0);
}

void SpanCounts::take(const FrameSpan& span) {
  std::lock_guard lock(mutex_);
  auto& names = is_of_device(span.part) ? devices_ : elements_;
  value_of(names, span.where)[span.part].take(seconds_of(span.begin, span.end));
  if (span.part != FramePart::Infer) return;
  Executions& executions = value_of(executions_, span.where);
  ++executions.frames;
  executions.busy.take(span.begin, span.end);
  // The frames of a batch tell of the same execution.
  const auto is_same = [&](const auto& one) {
    return one.second == span.begin && one.first == span.model;
  };
  if (std::ranges::any_of(executions.recent, is_same)) return;
  ++executions.count;
  executions.recent.emplace_back(span.model, span.begin);
  if (executions.recent.size() > kMostRecent) executions.recent.pop_front();
}

void SpanCounts::write(MetricText& text) const {
  std::lock_guard lock(mutex_);
  for (const auto& [element, parts] : elements_) {
    for (const auto& [part, values] : parts) {
      text.add("hetero_element_part_duration_seconds",
               {{"element", element}, {"part", to_string(part)}}, values);
    }
  }
  for (const auto& [device, parts] : devices_) {
    for (const auto& [part, values] : parts) {
      text.add("hetero_device_part_duration_seconds",
               {{"device", device}, {"part", to_string(part)}}, values);
    }
  }
  for (const auto& [device, executions] : executions_) {
    text.add("hetero_device_busy_seconds", {{"device", device}}, executions.busy.seconds());
    text.add("hetero_device_executions", {{"device", device}},
             static_cast<double>(executions.count));
    text.add("hetero_device_frames", {{"device", device}}, static_cast<double>(executions.frames));
  }
}

std::vector<std::string> SpanCounts::devices() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [device, executions] : executions_) names.push_back(device);
  return names;
}

void SpanCounts::forget(const std::string& element) {
  std::lock_guard lock(mutex_);
  elements_.erase(element);
}

}  // namespace het::metrics
