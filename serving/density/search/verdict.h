#pragma once

#include <cstddef>
#include <string>

#include "serving/density/trial_report.h"

namespace het::density {

/// What every stream has to keep.
struct Goal {
  double fps = 15;
  double p99_ms = 200;
  double drop = 0.01;  ///< share of the frames that may be lost
  /// See TrialOrder.
  double lost_after_s() const;
  double hopeless_s() const;
};

/// Latencies of one stream or of all, by nearest rank; 0 where nothing arrived.
struct Latencies {
  double p50_ms = 0;
  double p90_ms = 0;
  double p99_ms = 0;
  double most_ms = 0;
};

enum class Limit { None, Latency, Rate, Drop };
const char* to_string(Limit limit);

/// A trial beside its goal. A stream fails when its p99 is above the goal's, when it gives fewer
/// frames than (1 - drop) x fps, or when more than `drop` of its frames are lost.
struct Verdict {
  size_t streams = 0;
  size_t failed_streams = 0;
  Limit limit = Limit::None;  ///< what the first stream that failed failed by
  Latencies all;              ///< of all streams' frames
  Latencies worst;            ///< of the stream with the largest p99
  double rate = 0;            ///< frames/s of the stream with the fewest
  double drop = 0;            ///< of the stream that lost the most
  double cpu_ms_per_frame = 0;
  double cpus = 0;  ///< processors kept busy
  double memory_mib = 0;
  bool ended_early = false;

  bool passes() const { return failed_streams == 0; }
  /// "p99 of 341 ms is above 200 ms"; empty where it passes.
  std::string reason(const Goal& goal) const;
};

Verdict judge(const TrialReport& report, const Goal& goal);

}  // namespace het::density
