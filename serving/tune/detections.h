#pragma once

#include <map>
#include <string>
#include <vector>

#include "serving/launch/report.h"

namespace het::serving {

/// What was found frame by frame, of each inference element by its name.
using Recording = std::map<std::string, std::vector<std::vector<RecordedFrame::Object>>>;

/// Two recordings of the same frames; shares and means from 0 to 1.
struct DetectionDifference {
  size_t frames = 0;
  size_t objects = 0;     ///< of both together
  double unmatched = 0;   ///< share of objects without partner
  double box = 0;         ///< mean of 1 - IoU
  double confidence = 0;  ///< mean
  double attributes = 0;  ///< share of pairs of whom something else is said

  bool exceeds(double bound) const;
  /// "3.1 % of 512 objects without partner, boxes 0.4 %, confidence 0.2 %, attributes 0 %".
  std::string text() const;
};

/// Partners have the same label and the largest IoU, 0.5 at least. Every `step`-th frame counts,
/// and no more of an element than both recordings have.
DetectionDifference compare_recordings(const Recording& given, const Recording& other,
                                       size_t step = 1);

size_t objects_of(const Recording& recording);

}  // namespace het::serving
