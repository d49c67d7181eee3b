#include "frame_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <utility>

#include "inference/base/chrome_trace.h"

namespace het::gst {
namespace {

/// Parts that overlap, as those of several regions, are put below each other; what does not fit
/// into this many rows is drawn over the last one.
constexpr size_t kMaxRowsOfFrame = 256;

bool is_of_device(FramePart part) {
  return part == FramePart::Queue || part == FramePart::Preprocess || part == FramePart::Infer;
}

/// The first of some rows that is free at a time; one more where none is.
size_t free_row(std::vector<SpanTime>& ends, SpanTime begin, size_t most) {
  const auto row = std::ranges::find_if(ends, [begin](SpanTime end) { return end <= begin; });
  if (row != ends.end()) return static_cast<size_t>(row - ends.begin());
  if (ends.size() == most) return most - 1;
  ends.emplace_back();
  return ends.size() - 1;
}

}  // namespace

uint64_t next_trace_stream() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

uint32_t FrameTrace::number_of(std::string_view name) {
  const auto number = static_cast<size_t>(std::ranges::find(names_, name) - names_.begin());
  if (number == names_.size()) names_.emplace_back(name);
  return static_cast<uint32_t>(number);
}

void FrameTrace::take(const FrameSpan& span) {
  std::lock_guard lock(mutex_);
  if (records_.size() == limit_) {
    ++dropped_;
    return;
  }
  const uint32_t where = number_of(span.where);
  records_.push_back({span.frame, span.begin, span.end, where, number_of(span.model), span.part});
}

size_t FrameTrace::kept() const {
  std::lock_guard lock(mutex_);
  return records_.size();
}

size_t FrameTrace::dropped() const {
  std::lock_guard lock(mutex_);
  return dropped_;
}

Status FrameTrace::write(const std::string& path) {
  std::lock_guard lock(mutex_);
  // The spans of a frame together, frames and spans by their begin.
  std::map<uint64_t, std::vector<const Record*>> spans_of;
  for (const Record& record : records_) spans_of[record.frame].push_back(&record);
  struct Frame {
    uint64_t number;
    SpanTime begin;
    SpanTime end;
    std::vector<const Record*> spans;
  };
  std::vector<Frame> frames;
  for (auto& [number, spans] : spans_of) {
    std::ranges::stable_sort(spans, {}, &Record::begin);
    const SpanTime end = (*std::ranges::max_element(spans, {}, &Record::end))->end;
    frames.push_back({number, spans.front()->begin, end, std::move(spans)});
  }
  std::ranges::stable_sort(frames, {}, &Frame::begin);

  ChromeTrace trace(path);
  const auto us = [&](SpanTime time) {
    return std::chrono::duration<double, std::micro>(time - frames.front().begin).count();
  };
  std::map<uint64_t, std::vector<SpanTime>> rows_of_stream;
  std::set<std::pair<int64_t, int64_t>> named_threads;
  for (const Frame& frame : frames) {
    const uint64_t stream = frame.number >> kFrameNumberBits;
    const auto number =
        static_cast<int64_t>(frame.number & ((uint64_t{1} << kFrameNumberBits) - 1));
    const auto process = static_cast<int64_t>(stream);
    const auto [of_stream, is_new] = rows_of_stream.try_emplace(stream);
    std::vector<SpanTime>& rows = of_stream->second;
    if (is_new) {
      const auto own = std::ranges::find_if(
          frame.spans, [](const Record* span) { return !is_of_device(span->part); });
      trace.name_process(process, own != frame.spans.end() ? names_[(*own)->where] : "");
    }
    const size_t row = free_row(rows, frame.begin, SIZE_MAX);
    rows[row] = frame.end;
    const auto thread = [&](size_t below) {
      const auto id = static_cast<int64_t>(row * kMaxRowsOfFrame + below);
      if (named_threads.emplace(process, id).second) {
        trace.name_thread(process, id, fmt::format("frame in flight {}", row + 1));
      }
      return id;
    };
    trace.bar(fmt::format("frame {}", number), "frame", process, thread(0), us(frame.begin),
              us(frame.end) - us(frame.begin), {{"frame", number}});
    std::vector<SpanTime> ends;
    for (const Record* span : frame.spans) {
      const std::string& where = names_[span->where];
      const std::string_view part = to_string(span->part);
      const size_t below = free_row(ends, span->begin, kMaxRowsOfFrame);
      ends[below] = span->end;
      trace.bar(is_of_device(span->part) ? fmt::format("{} {}", part, where) : std::string(part),
                part, process, thread(below), us(span->begin), us(span->end) - us(span->begin),
                {{"frame", number},
                 {"where", std::string_view(where)},
                 {"model", std::string_view(names_[span->model])}});
    }
  }
  return trace.close();
}

}  // namespace het::gst
