#pragma once

#include <string>
#include <vector>

namespace het {

/// Places of an axis from 0 to `most` (positive) that are 1, 2 or 5 times a power of ten apart: 4
/// to 10 of them, the last at or beyond `most`.
std::vector<double> linear_ticks(double most);

/// Places 1, 2 and 5 times powers of ten from at or below `least` to at or beyond `most` (both
/// positive).
std::vector<double> log_ticks(double least, double most);

/// "0.05", "2.5", "1000": without zeros behind the point.
std::string tick_text(double value);

}  // namespace het
