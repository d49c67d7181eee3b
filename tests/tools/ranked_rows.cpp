#include "tools/ranked_rows.h"

#include <gtest/gtest.h>

namespace het {
namespace {

/// Labels [1,4], boxes [1,4,2] and scores [1,4]; rows 1 and 2 of the reference are tied.
std::vector<OutputValues> swapped_ties() {
  return {{{1, 4}, {7, 5, 3, 1}, {7, 3, 5, 1}},
          {{1, 4, 2}, {0, 1, 40, 50, 20, 30, 60, 70}, {0, 1, 20, 30, 40, 50, 60, 70}},
          {{1, 4}, {0.9, 0.5000001, 0.5, 0.1}, {0.9, 0.5000001, 0.5, 0.1}}};
}

TEST(RankedRows, TiedRowsComeIntoTheReferencesOrder) {
  auto outputs = swapped_ties();
  align_tied_rows(outputs);
  EXPECT_EQ(outputs[0].actual, outputs[0].expected);
  EXPECT_EQ(outputs[1].actual, outputs[1].expected);
}

TEST(RankedRows, RowsOfDifferentScoresStay) {
  auto outputs = swapped_ties();
  outputs[2].actual = outputs[2].expected = {0.9, 0.6, 0.5, 0.1};
  const auto before = outputs[0].actual;
  align_tied_rows(outputs);
  EXPECT_EQ(outputs[0].actual, before);
}

TEST(RankedRows, AWrongRowIsNotHidden) {
  auto outputs = swapped_ties();
  outputs[0].actual[1] = 6;  // neither of the tied rows has this label
  align_tied_rows(outputs);
  EXPECT_NE(outputs[0].actual, outputs[0].expected);
}

TEST(RankedRows, OutputsWithoutARankingStay) {
  std::vector<OutputValues> outputs = {{{1, 3}, {2, 1, 3}, {1, 2, 3}}};
  align_tied_rows(outputs);
  EXPECT_EQ(outputs[0].actual, (std::vector<double>{2, 1, 3}));
}

}  // namespace
}  // namespace het
