#include "inference/tracking/assignment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

namespace het::tracking {
namespace {

struct Total {
  int pairs = 0;
  double cost = 0.0;
  bool operator<(const Total& other) const {
    return pairs != other.pairs ? pairs > other.pairs : cost < other.cost;
  }
};

/// The least cost of pairs and left rows together; tries everything.
double least_cost(const CostMatrix& costs, size_t row, std::set<size_t>& used) {
  if (row == costs.rows) return 0.0;
  double best = static_cast<double>(*costs.leaving) + least_cost(costs, row + 1, used);
  for (size_t column = 0; column < costs.columns; ++column) {
    if (costs.at(row, column) == kForbidden || !used.insert(column).second) continue;
    best = std::min(best,
                    static_cast<double>(costs.at(row, column)) + least_cost(costs, row + 1, used));
    used.erase(column);
  }
  return best;
}

/// Tries everything.
Total best_of(const CostMatrix& costs, size_t row, std::set<size_t>& used) {
  if (row == costs.rows) return {};
  Total best = best_of(costs, row + 1, used);
  for (size_t column = 0; column < costs.columns; ++column) {
    if (costs.at(row, column) == kForbidden || !used.insert(column).second) continue;
    Total total = best_of(costs, row + 1, used);
    used.erase(column);
    total.cost += static_cast<double>(costs.at(row, column));
    ++total.pairs;
    if (total < best) best = total;
  }
  return best;
}

Total total_of(const CostMatrix& costs, const std::vector<size_t>& columns) {
  Total total;
  std::set<size_t> used;
  for (size_t row = 0; row < costs.rows; ++row) {
    if (columns[row] == kNoColumn) continue;
    EXPECT_NE(costs.at(row, columns[row]), kForbidden);
    EXPECT_TRUE(used.insert(columns[row]).second) << "column " << columns[row] << " is used twice";
    total.cost += static_cast<double>(costs.at(row, columns[row]));
    ++total.pairs;
  }
  return total;
}

TEST(Assignment, IsAsGoodAsTryingEverything) {
  std::minstd_rand random(11);
  std::uniform_int_distribution<size_t> sizes(0, 6);
  std::uniform_int_distribution<int> percents(0, 99);
  for (int round = 0; round < 400; ++round) {
    CostMatrix costs(sizes(random), sizes(random));
    const int forbidden = percents(random);
    for (float& cost : costs.values) {
      const int value = percents(random);
      // Few different values: many assignments are equally good.
      if (percents(random) >= forbidden) cost = static_cast<float>(value % 10) / 8.0f;
    }
    std::set<size_t> used;
    const Total best = best_of(costs, 0, used);
    const Total found = total_of(costs, assign(costs));
    EXPECT_EQ(found.pairs, best.pairs) << "round " << round;
    EXPECT_DOUBLE_EQ(found.cost, best.cost) << "round " << round;
  }
}

TEST(Assignment, ARowIsLeftWhereThatCostsLess) {
  CostMatrix costs(2, 2);
  costs.leaving = 0.7f;
  costs.at(0, 0) = 0.1f;
  costs.at(0, 1) = 0.6f;
  costs.at(1, 0) = 0.6f;
  EXPECT_EQ(assign(costs), (std::vector<size_t>{0, kNoColumn}));
  costs.leaving = 5.0f;
  EXPECT_EQ(assign(costs), (std::vector<size_t>{1, 0}));
  std::minstd_rand random(3);
  std::uniform_int_distribution<size_t> sizes(0, 5);
  std::uniform_int_distribution<int> percents(0, 99);
  for (int round = 0; round < 400; ++round) {
    const size_t columns = sizes(random);
    CostMatrix given(sizes(random), columns);
    given.leaving = static_cast<float>(percents(random)) / 64.0f;
    const int forbidden = percents(random);
    for (float& cost : given.values) {
      const int value = percents(random);
      if (percents(random) >= forbidden) cost = static_cast<float>(value) / 64.0f;
    }
    std::set<size_t> used;
    const Total found = total_of(given, assign(given));
    const double left = static_cast<double>(*given.leaving) *
                        static_cast<double>(given.rows - static_cast<size_t>(found.pairs));
    EXPECT_DOUBLE_EQ(found.cost + left, least_cost(given, 0, used)) << "round " << round;
  }
}

TEST(Assignment, MorePairsWinOverCheaperOnes) {
  CostMatrix costs(2, 2);
  costs.at(0, 0) = 0.0f;
  costs.at(0, 1) = 1000.0f;
  costs.at(1, 0) = 1000.0f;
  EXPECT_EQ(assign(costs), (std::vector<size_t>{1, 0}));
}

TEST(Assignment, HundredsOfRowsInOnePart) {
  // The diagonal is the one best assignment.
  constexpr size_t kCount = 300;
  CostMatrix costs(kCount, kCount);
  for (size_t row = 0; row < kCount; ++row) {
    for (size_t column = 0; column < kCount; ++column) {
      const auto away = static_cast<float>(row > column ? row - column : column - row);
      costs.at(row, column) = away * away;
    }
  }
  const std::vector<size_t> columns = assign(costs);
  for (size_t row = 0; row < kCount; ++row) EXPECT_EQ(columns[row], row);
}

}  // namespace
}  // namespace het::tracking
