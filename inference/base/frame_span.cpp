#include "inference/base/frame_span.h"

#include <array>
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

FrameSpanScope::FrameSpanScope(FramePart part, std::string_view where, uint64_t frame)
    : span_{part, where, frame, {}, {}, {}}, is_wanted_(frame_spans_wanted()) {
  if (is_wanted_) span_.begin = std::chrono::steady_clock::now();
  begin_task(part);
}

FrameSpanScope::~FrameSpanScope() {
  end_task();
  if (!is_wanted_) return;
  span_.end = std::chrono::steady_clock::now();
  report_frame_span(span_);
}

}  // namespace het
