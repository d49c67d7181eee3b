#include "tools/pareto.h"

#include <gtest/gtest.h>

namespace het {
namespace {

using Indices = std::vector<size_t>;

TEST(Pareto, TheFrontIsWhatNothingBeatsInBoth) {
  // 1 has as much throughput as 0 but more latency, 3 is beaten in both, 4 is the same as 2.
  const std::vector<LoadPoint> points{{1, 100}, {2, 100}, {4, 300}, {5, 200}, {4, 300}, {9, 310}};
  EXPECT_EQ(pareto_front(points), (Indices{0, 2, 5}));
  EXPECT_EQ(pareto_front({}), Indices{});
  EXPECT_EQ(pareto_front({{3, 5}}), Indices{0});
  EXPECT_EQ(pareto_front({{3, 5}, {3, 7}, {1, 9}}), Indices{2});
}

/// Worked out by hand: scaled to [0, 1], (2, 180) is (0.1, 0.8) and (3, 190) is (0.2, 0.9), both
/// 0.7 above the diagonal; (2, 185) is 0.75.
TEST(Pareto, TheKneeLiesFarthestAboveTheDiagonalOfTheFront) {
  const std::vector<LoadPoint> points{{1, 100}, {2, 185}, {3, 190}, {11, 200}};
  EXPECT_EQ(knee_of(points, pareto_front(points)), std::optional<size_t>(1));
  // In other units it is the same one.
  std::vector<LoadPoint> scaled;
  for (const LoadPoint& point : points)
    scaled.push_back({point.latency_ms * 1e-3, point.throughput * 50});
  EXPECT_EQ(knee_of(scaled, pareto_front(scaled)), std::optional<size_t>(1));
}

TEST(Pareto, AFrontWithoutABendHasNoKnee) {
  for (const std::vector<LoadPoint>& points : {std::vector<LoadPoint>{{1, 1}},
                                               {{1, 1}, {2, 5}},
                                               {{1, 1}, {2, 2}, {3, 3}},
                                               {{1, 1}, {5, 2}, {6, 9}}}) {
    EXPECT_FALSE(knee_of(points, pareto_front(points)).has_value()) << points.size();
  }
}

}  // namespace
}  // namespace het
