#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/base/frame_span.h"
#include "serving/metrics/exposition/metric_text.h"

namespace het::metrics {

/// The time in which at least one of some intervals lasted. They may come in any order, but one may
/// not begin long before others that have come. Not thread-safe.
class CoveredTime {
 public:
  void take(SpanTime begin, SpanTime end);
  double seconds() const { return seconds_; }

 private:
  /// Apart from each other, in their order; older ones are forgotten.
  std::vector<std::pair<SpanTime, SpanTime>> intervals_;
  double seconds_ = 0;
};

/// Histograms of the parts of frames' ways, and what devices execute. Thread-safe.
class SpanCounts final : public FrameSpanSink {
 public:
  void take(const FrameSpan& span) override;
  void write(MetricText& text) const;
  /// That have executed something.
  std::vector<std::string> devices() const;
  /// An element of this name has ended.
  void forget(const std::string& element);

 private:
  using Parts = std::map<FramePart, TimeHistogram>;
  struct Executions {
    CoveredTime busy;
    uint64_t count = 0;
    uint64_t frames = 0;
    std::deque<std::pair<std::string, SpanTime>> recent;  ///< model and begin, the last ones
  };

  mutable std::mutex mutex_;  ///< protects everything below; taken alone
  std::map<std::string, Parts, std::less<>> elements_;
  std::map<std::string, Parts, std::less<>> devices_;
  std::map<std::string, Executions, std::less<>> executions_;
};

}  // namespace het::metrics
