#pragma once

#include <string>
#include <vector>

#include "serving/density/search/stream_search.h"
#include "serving/density/search/verdict.h"
#include "serving/density/trial_report.h"

namespace het::density {

/// A trial as far as results show it.
struct TrialRecord {
  Verdict verdict;
  std::vector<ElementTime> elements;
  double at_s = 0;  ///< when it began, since the command did
  double took_s = 0;
  double other_cpus = 0;  ///< processors that other processes kept busy
};

/// What one device string carries.
struct DeviceResult {
  std::string device;  ///< empty: as the pipeline says
  SearchResult search;
  std::vector<TrialRecord> trials;  ///< in order
  std::string error;                ///< the search ended by it

  std::string label() const { return device.empty() ? "as given" : device; }
  /// The trials with so many streams.
  std::vector<const TrialRecord*> with(size_t streams) const;
};

struct DensityResults {
  Goal goal;
  double window_s = 0;
  double warmup_s = 0;
  size_t confirm = 0;
  std::string line;  ///< pipeline or program
  std::string processor;
  std::vector<DeviceResult> devices;
  std::vector<std::string> notes;
  double elapsed_s = 0;
  bool was_stopped = false;
};

/// For reading: a table and a line that says what is behind each number.
std::string results_text(const DensityResults& results);
/// One object of JSON (../README.md).
std::string results_json(const DensityResults& results);

}  // namespace het::density
