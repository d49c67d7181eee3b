#include "inference/base/frame_span.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "inference/base/frame_span_probe.h"

namespace het {
namespace {

struct Listeners {
  std::mutex mutex;  ///< protects sinks and their take()
  std::vector<std::shared_ptr<FrameSpanSink>> sinks;
};

/// Made by the first listener, for as long as the process lives.
Listeners& listeners() {
  static auto* const made = new Listeners();
  return *made;
}

ProfilerTask task_of(const std::string& worker, FramePart part) {
  return {TaskDomain::Element, worker + " " + std::string(to_string(part))};
}

}  // namespace

namespace span_internal {
std::atomic<bool> has_sink = false;

bool is_probed() {
  return probe_is_wanted();
}
}  // namespace span_internal

FrameSpanSink::~FrameSpanSink() = default;

std::string_view to_string(FramePart part) {
  constexpr std::array<std::string_view, 8> kNames = {"wait",  "queue",  "preprocess", "infer",
                                                      "order", "decode", "attach",     "push"};
  return kNames[static_cast<size_t>(part)];
}

void add_frame_span_sink(std::shared_ptr<FrameSpanSink> sink) {
  if (!sink) return;
  Listeners& all = listeners();
  std::lock_guard lock(all.mutex);
  if (std::ranges::find(all.sinks, sink) != all.sinks.end()) return;
  all.sinks.push_back(std::move(sink));
  span_internal::has_sink.store(true, std::memory_order_relaxed);
}

void remove_frame_span_sink(const FrameSpanSink* sink) {
  Listeners& all = listeners();
  std::shared_ptr<FrameSpanSink> removed;  // its end comes without the lock
  std::lock_guard lock(all.mutex);
  const auto found = std::ranges::find(all.sinks, sink, &std::shared_ptr<FrameSpanSink>::get);
  if (found == all.sinks.end()) return;
  removed = std::move(*found);
  all.sinks.erase(found);
  span_internal::has_sink.store(!all.sinks.empty(), std::memory_order_relaxed);
}

void report_frame_span(const FrameSpan& span) {
  if (span.frame == 0) return;
  fire_probe(span);
  if (!span_internal::has_sink.load(std::memory_order_relaxed)) return;
  Listeners& all = listeners();
  std::lock_guard lock(all.mutex);
  for (const auto& sink : all.sinks) sink->take(span);
}

FrameWorker::FrameWorker(std::string name)
    : name_(std::move(name)),
      tasks_{task_of(name_, FramePart::Decode), task_of(name_, FramePart::Attach),
             task_of(name_, FramePart::Push)} {}

const ProfilerTask& FrameWorker::task(FramePart part) const {
  assert(part >= FramePart::Decode && part <= FramePart::Push);
  return tasks_[static_cast<size_t>(part) - static_cast<size_t>(FramePart::Decode)];
}

FrameSpanScope::FrameSpanScope(FramePart part, const FrameWorker& worker, uint64_t frame)
    : task_(worker.task(part)),
      span_{part, worker.name_, frame, {}, {}, {}},
      is_wanted_(frame_spans_wanted()) {
  if (is_wanted_) span_.begin = std::chrono::steady_clock::now();
  task_.begin();
}

FrameSpanScope::~FrameSpanScope() {
  task_.end();
  if (!is_wanted_) return;
  span_.end = std::chrono::steady_clock::now();
  report_frame_span(span_);
}

}  // namespace het
