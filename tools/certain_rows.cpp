#include "tools/certain_rows.h"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace het {
namespace {

constexpr size_t kDetectionWidth = 7;
constexpr size_t kDetectionScore = 2;
constexpr double kSurelyMore = 1.5;

/// An output of the rows, with what differences are measured in.
struct RowOutput {
  OutputValues* output;
  size_t width;
  std::vector<double> ranges;  ///< per column
};

RowOutput rows_of(OutputValues& output, size_t count) {
  RowOutput rows{&output, output.expected.size() / count, {}};
  for (size_t k = 0; k < rows.width; ++k) {
    double low = std::numeric_limits<double>::max();
    double high = std::numeric_limits<double>::lowest();
    for (size_t i = k; i < output.expected.size(); i += rows.width) {
      low = std::min(low, output.expected[i]);
      high = std::max(high, output.expected[i]);
    }
    rows.ranges.push_back(high > low ? high - low : 1.0);
  }
  return rows;
}

double distance(const std::vector<RowOutput>& outputs, size_t actual, size_t expected) {
  double sum = 0.0;
  for (const RowOutput& rows : outputs) {
    for (size_t k = 0; k < rows.width; ++k) {
      const double difference = (rows.output->actual[actual * rows.width + k] -
                                 rows.output->expected[expected * rows.width + k]) /
                                rows.ranges[k];
      sum += difference * difference;
    }
  }
  return sum;
}

constexpr size_t kNone = std::numeric_limits<size_t>::max();

/// Rows that are compared: of the device and of the reference; kNone: there is none.
struct Pair {
  size_t actual;
  size_t expected;
};

std::vector<Pair> pairs_of(const std::vector<RowOutput>& outputs,
                           const std::vector<double>& actual_scores,
                           const std::vector<double>& expected_scores, double least) {
  std::vector<Pair> pairs;
  std::vector<bool> is_used(actual_scores.size(), false);
  for (size_t e = 0; e < expected_scores.size(); ++e) {
    if (expected_scores[e] < least) continue;
    size_t nearest = kNone;
    double best = std::numeric_limits<double>::max();
    for (size_t a = 0; a < actual_scores.size(); ++a) {
      const double now = is_used[a] ? best : distance(outputs, a, e);
      if (now >= best) continue;
      best = now;
      nearest = a;
    }
    if (nearest != kNone) is_used[nearest] = true;
    pairs.push_back({nearest, e});
  }
  for (size_t a = 0; a < actual_scores.size(); ++a) {
    if (!is_used[a] && actual_scores[a] >= kSurelyMore * least) pairs.push_back({a, kNone});
  }
  return pairs;
}

void keep(const RowOutput& rows, const std::vector<Pair>& pairs) {
  std::vector<double> actual;
  std::vector<double> expected;
  for (const Pair& pair : pairs) {
    for (size_t k = 0; k < rows.width; ++k) {
      actual.push_back(pair.actual == kNone ? 0.0
                                            : rows.output->actual[pair.actual * rows.width + k]);
      expected.push_back(
          pair.expected == kNone ? 0.0 : rows.output->expected[pair.expected * rows.width + k]);
    }
  }
  rows.output->actual = std::move(actual);
  rows.output->expected = std::move(expected);
}

void keep_detections(OutputValues& output, double least) {
  const size_t count = output.expected.size() / kDetectionWidth;
  const std::vector<RowOutput> rows = {rows_of(output, count)};
  std::vector<double> actual;
  std::vector<double> expected;
  for (size_t i = 0; i < count; ++i) {
    // A row without a picture (-1) ends the list; its score is nothing.
    const auto score = [&](const std::vector<double>& values) {
      const size_t row = i * kDetectionWidth;
      return values[row] < 0 ? 0.0 : values[row + kDetectionScore];
    };
    actual.push_back(score(output.actual));
    expected.push_back(score(output.expected));
  }
  keep(rows[0], pairs_of(rows, actual, expected, least));
}

}  // namespace

void keep_certain_rows(std::vector<OutputValues>& outputs, double least) {
  for (OutputValues& output : outputs) {
    const Shape& shape = output.shape;
    if (shape.size() == 4 && shape[0] == 1 && shape[1] == 1 && shape[3] == kDetectionWidth &&
        output.actual.size() == output.expected.size()) {
      keep_detections(output, least);
    }
  }
  const auto ranking = std::find_if(outputs.begin(), outputs.end(), is_ranking);
  if (ranking == outputs.end()) return;
  const std::vector<double> actual = ranking->actual;
  const std::vector<double> expected = ranking->expected;
  std::vector<RowOutput> rows;
  for (OutputValues& output : outputs) {
    if (has_rows_of(output, expected.size())) rows.push_back(rows_of(output, expected.size()));
  }
  const std::vector<Pair> pairs = pairs_of(rows, actual, expected, least);
  for (const RowOutput& one : rows) keep(one, pairs);
}

}  // namespace het
