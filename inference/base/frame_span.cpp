#include "inference/base/frame_span.h"

#include <array>
#include <cassert>
#include <cstring>
#include <mutex>
#include <utility>

#include "inference/base/frame_span_probe.h"

namespace het {
namespace {

struct Listener {
  std::mutex mutex;  ///< protects sink and its take()
  std::shared_ptr<FrameSpanSink> sink;
};

/// Made by the first listener, for as long as the process lives.
Listener& listener() {
  static auto* const made = new Listener();
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

void set_frame_span_sink(std::shared_ptr<FrameSpanSink> sink) {
  Listener& all = listener();
  std::lock_guard lock(all.mutex);
  span_internal::has_sink.store(sink != nullptr, std::memory_order_relaxed);
  all.sink = std::move(sink);
}

void report_frame_span(const FrameSpan& span) {
  if (span.frame == 0) return;
  fire_probe(span);
  if (!span_internal::has_sink.load(std::memory_order_relaxed)) return;
  Listener& all = listener();
  std::lock_guard lock(all.mutex);
  if (all.sink) all.sink->take(span);
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
