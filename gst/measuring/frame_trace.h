#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/frame_span.h"
#include "inference/base/status.h"

namespace het::gst {

/// Frames of inference elements count from 1 in each analysis; in spans they have the number of the
/// analysis above that.
constexpr int kFrameNumberBits = 40;

/// The number of one more analysis in this process, from 1 on. Thread-safe.
uint64_t next_trace_stream();
constexpr uint64_t frame_of_stream(uint64_t stream, uint64_t number) {
  return stream << kFrameNumberBits | number;
}

/// Keeps the spans of frames and writes them as Chrome's trace events: a process per element, a
/// thread per frame in flight, on it a bar per frame with the parts of its way inside. Thread-safe.
class FrameTrace final : public FrameSpanSink {
 public:
  /// What comes after `limit` spans is only counted.
  explicit FrameTrace(size_t limit) : limit_(limit) {}

  void take(const FrameSpan& span) override;
  /// What was kept so far. Fails when the file cannot be written.
  Status write(const std::string& path);
  size_t kept() const;
  size_t dropped() const;

 private:
  struct Record {
    uint64_t frame;
    SpanTime begin;
    SpanTime end;
    uint32_t where;
    uint32_t model;
    FramePart part;
  };
  uint32_t number_of(std::string_view name);

  const size_t limit_;
  mutable std::mutex mutex_;  ///< protects everything below; taken alone
  std::vector<Record> records_;
  std::vector<std::string> names_;  ///< of devices, elements, models
  size_t dropped_ = 0;
};

}  // namespace het::gst
