#include "tools/ranked_rows.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace het {
namespace {

constexpr double kTie = 1e-5;       ///< of the largest score
constexpr double kRowError = 1e-3;  ///< of an output's range: rows this close are the same

/// An output whose rows follow the ranking.
struct RankedOutput {
  OutputValues* output;
  size_t width;    ///< values a row
  double allowed;  ///< difference up to which two rows are the same
};

bool same_row(const RankedOutput& ranked, size_t actual_row, size_t expected_row) {
  for (size_t k = 0; k < ranked.width; ++k) {
    const double a = ranked.output->actual[actual_row * ranked.width + k];
    const double e = ranked.output->expected[expected_row * ranked.width + k];
    if (!(std::abs(a - e) <= ranked.allowed)) return false;
  }
  return true;
}

}  // namespace

bool is_ranking(const OutputValues& output) {
  const std::vector<double>& scores = output.expected;
  const bool one_row = !output.shape.empty() &&
                       static_cast<size_t>(output.shape.back()) == scores.size() &&
                       output.shape.size() <= 2 && scores.size() >= 2;
  return one_row && scores.front() > scores.back() &&
         std::is_sorted(scores.begin(), scores.end(), [](double a, double b) { return a > b; });
}

bool has_rows_of(const OutputValues& output, size_t count) {
  if (output.actual.size() != output.expected.size() || output.expected.empty()) return false;
  const Shape& shape = output.shape;
  const auto rows = static_cast<int64_t>(count);
  const bool leading = !shape.empty() && shape[0] == rows;
  const bool second = shape.size() > 1 && shape[0] == 1 && shape[1] == rows;
  return leading || second;
}

void align_tied_rows(std::vector<OutputValues>& outputs) {
  const auto ranking = std::find_if(outputs.begin(), outputs.end(), is_ranking);
  if (ranking == outputs.end()) return;
  const std::vector<double> scores = ranking->expected;
  std::vector<RankedOutput> ranked;
  for (OutputValues& output : outputs) {
    if (!has_rows_of(output, scores.size())) continue;
    const auto [low, high] = std::minmax_element(output.expected.begin(), output.expected.end());
    ranked.push_back({&output, output.expected.size() / scores.size(), kRowError * (*high - *low)});
  }
  const auto same = [&](size_t actual_row, size_t expected_row) {
    return std::all_of(ranked.begin(), ranked.end(), [&](const RankedOutput& r) {
      return same_row(r, actual_row, expected_row);
    });
  };
  const double tie = kTie * scores.front();
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = i; j < scores.size() && scores[i] - scores[j] <= tie; ++j) {
      if (!same(j, i)) continue;
      if (j == i) break;
      for (const RankedOutput& r : ranked) {
        const auto row = r.output->actual.begin();
        const auto width = static_cast<std::ptrdiff_t>(r.width);
        std::swap_ranges(row + static_cast<std::ptrdiff_t>(i) * width,
                         row + static_cast<std::ptrdiff_t>(i + 1) * width,
                         row + static_cast<std::ptrdiff_t>(j) * width);
      }
      break;
    }
  }
}

}  // namespace het
