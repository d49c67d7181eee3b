#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "inference/base/profiler_task.h"
#include "inference/base/visibility.h"

namespace het {

/// The parts of a frame's way, in their order. A frame with several regions, or on several devices,
/// has some of them more than once.
enum class FramePart : uint8_t {
  Wait,        ///< for an idle request, and for the stream's turn
  Queue,       ///< of the device: started, not begun
  Preprocess,  ///< pictures into tensors, where the host does it
  Infer,       ///< from then to the end of the execution
  Order,       ///< ended, but frames before it have not left yet
  Decode,      ///< tensors into results
  Attach,      ///< results into metadata
  Push,        ///< in the hands of what comes after the element
};

/// "wait", "queue" ...
HET_API std::string_view to_string(FramePart part);

using SpanTime = std::chrono::steady_clock::time_point;

/// One part of one frame's way. `frame` is the number that its requests were given (InferRequest::
/// set_frame()), `where` the device, or what else did it, `model` what ran on a device: a model, or
/// the part of one.
struct FrameSpan {
  FramePart part = FramePart::Wait;
  std::string_view where;
  uint64_t frame = 0;
  SpanTime begin;
  SpanTime end;
  std::string_view model = {};
};

/// Learns of spans when they have ended, from any thread, one at a time.
class HET_API FrameSpanSink {
 public:
  virtual ~FrameSpanSink();
  /// Short; must not report spans itself.
  virtual void take(const FrameSpan& span) = 0;
};

/// Spans go to `sink`, too, from now on; one that has them already, or null, changes nothing.
HET_API void add_frame_span_sink(std::shared_ptr<FrameSpanSink> sink);
/// No more go to this one; after the return it is in no use. One that is unknown changes nothing.
HET_API void remove_frame_span_sink(const FrameSpanSink* sink);

namespace span_internal {
extern HET_API std::atomic<bool> has_sink;
/// The semaphore of the static probe "hetero:frame_span": not 0 while a tracing tool has it.
HET_API bool is_probed();
}  // namespace span_internal

/// True while somebody listens, so that nobody takes times for nothing.
inline bool frame_spans_wanted() {
  return span_internal::has_sink.load(std::memory_order_relaxed) || span_internal::is_probed();
}

/// To the sink and to the static probe hetero:frame_span(part, where, frame, begin, end), C strings
/// and ns of the steady clock. Frame 0 is nobody's and is left out.
HET_API void report_frame_span(const FrameSpan& span);

/// Who does something to frames, an element for example.
class HET_API FrameWorker {
 public:
  explicit FrameWorker(std::string name);
  const std::string& name() const { return name_; }

 private:
  friend class FrameSpanScope;
  const ProfilerTask& task(FramePart part) const;

  const std::string name_;
  const std::array<ProfilerTask, 3> tasks_;  ///< of Decode, Attach and Push
};

/// What a worker does to a frame until the end of a scope, on one thread: Decode, Attach or Push.
/// Also a task of profilers, which do not say whether somebody listens.
class HET_API FrameSpanScope {
 public:
  /// `worker` outlives the scope.
  FrameSpanScope(FramePart part, const FrameWorker& worker, uint64_t frame);
  ~FrameSpanScope();
  FrameSpanScope(const FrameSpanScope&) = delete;
  FrameSpanScope& operator=(const FrameSpanScope&) = delete;

 private:
  const ProfilerTask& task_;
  FrameSpan span_;
  bool is_wanted_;
};

}  // namespace het
