#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/tune/pipeline_machine.h"
#include "serving/tune/search.h"

namespace het::serving {

/// Everything that there is to tell at the end.
struct TuneReport {
  std::vector<TuneSetting> settings;
  TuneResult result;
  std::string given_line;  ///< as a command
  std::string best_line;
  std::string not_compared;  ///< why results were not; empty: they were
  size_t compared_frames = 0;
  size_t compared_objects = 0;
  double bound = 0;
  double seconds = 0;  ///< that it took
  bool was_stopped = false;
};

/// "heterodetect#1 nireq 1 -> unset".
std::string attempt_text(const std::vector<TuneSetting>& settings, const TuneAttempt& attempt);
/// "1.52 [1.48 .. 1.60] of 6 pairs".
std::string ratio_text(const RatioInterval& ratio);
/// "taken", "no gain", "refused: detections differ by ...", "failed: ...", "not decided".
std::string decision_text(const TuneAttempt& attempt);

/// A table of what was tried and the line, with the reasons.
std::string report_text(const TuneReport& report);
std::string report_json(const TuneReport& report);

}  // namespace het::serving
