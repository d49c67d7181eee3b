#include "tools/accuracy/scores.h"

namespace het {

std::optional<double> mean_of(const std::vector<std::optional<double>>& values) {
  double sum = 0.0;
  size_t count = 0;
  for (const std::optional<double>& value : values) {
    if (!value) continue;
    sum += *value;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

}  // namespace het
