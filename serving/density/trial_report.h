#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"

namespace het::density {

/// A frame that became due in the window and arrived at its stream's sink.
struct Arrival {
  double due_s = 0;       ///< after the window's begin
  double latency_ms = 0;  ///< from the due time, whether or not the frame could start then
};

struct StreamTimes {
  uint64_t due = 0;  ///< frames that became due in the window
  std::vector<Arrival> arrivals;
};

/// Mean time of an element's frames, as it says itself.
struct ElementTime {
  std::string element;
  double mean_ms = 0;
};

/// What a program that measures writes to its standard output: one line of JSON (../README.md).
struct TrialReport {
  double window_s = 0;  ///< shorter than ordered where the trial ended early
  std::vector<StreamTimes> streams;
  double cpu_s = 0;          ///< processor time of the window
  double memory_mib = 0;     ///< resident at its end
  bool ended_early = false;  ///< hopeless
  std::vector<ElementTime> elements;
  std::vector<std::string> notes;  ///< what the user should know: a property that was changed
  std::string error;               ///< why nothing was measured; empty: it was

  /// One line of JSON, with its end.
  std::string to_line() const;
  /// Fails with ParseError. "elements", "notes", "ended_early" and "error" may be missing.
  static Result<TrialReport> parse(std::string_view line);
};

}  // namespace het::density
