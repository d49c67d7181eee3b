#pragma once

#include <vector>

#include "tools/ranked_rows.h"

namespace het {

/// For devices of less precision: which rows of detections are compared, and which with which.
/// Rows are those of a DetectionOutput ([1,1,N,7], the third value is the score) or of ranked
/// outputs (align_tied_rows()). The order of rows, and which of those with small scores there are,
/// is a matter of rounding, so rows of the reference whose score is at least `least` are compared
/// with the nearest of the others, each once; rows that only the device has count where their
/// score is half as much more. Other outputs stay.
void keep_certain_rows(std::vector<OutputValues>& outputs, double least);

}  // namespace het
