#include "tools/certain_rows.h"

#include <gtest/gtest.h>

namespace het {
namespace {

/// Picture, label, score and box of four detections; the last rows are noise of other values.
OutputValues detections() {
  return {{1, 1, 4, 7},
          {0, 1, 0.79, 0.5, 0.5, 0.6, 0.6, 0,  1, 0.8, 0.1, 0.1, 0.2, 0.2,
           0, 1, 0.02, 0.9, 0.1, 1.0, 0.3, -1, 0, 0,   0,   0,   0,   0},
          {0, 1, 0.8,  0.1, 0.1, 0.2, 0.2, 0, 1, 0.8,  0.5, 0.5, 0.6, 0.6,
           0, 1, 0.03, 0.3, 0.3, 0.4, 0.4, 0, 1, 0.02, 0.9, 0.1, 1.0, 0.3}};
}

TEST(CertainRows, DetectionsAreComparedWithTheNearestOnes) {
  std::vector<OutputValues> outputs = {detections()};
  keep_certain_rows(outputs, 0.1);
  ASSERT_EQ(outputs[0].actual.size(), 14u);
  EXPECT_EQ(outputs[0].actual[2], 0.8);
  EXPECT_EQ(outputs[0].actual[9], 0.79);
  EXPECT_EQ(outputs[0].expected[10], 0.5);
  EXPECT_EQ(outputs[0].actual[10], 0.5);
}

TEST(CertainRows, WhatIsMissingOrTooMuchIsSeen) {
  OutputValues more = detections();
  more.actual[16] = 0.9;  // the third
  std::vector<OutputValues> outputs = {more};
  keep_certain_rows(outputs, 0.1);
  ASSERT_EQ(outputs[0].actual.size(), 21u);
  EXPECT_EQ(outputs[0].expected[16], 0.0);
  OutputValues other = detections();
  other.actual[9] = 0.01;  // of the two one is found only
  outputs = {other};
  keep_certain_rows(outputs, 0.1);
  EXPECT_NE(outputs[0].actual, outputs[0].expected);
  OutputValues none = detections();
  for (const size_t i : {2, 9}) none.expected[i] = 0.05;
  outputs = {none};
  keep_certain_rows(outputs, 0.1);
  EXPECT_EQ(outputs[0].actual.size(), 14u) << "two that nobody asked for";
}

TEST(CertainRows, RankedOutputsGoTogether) {
  std::vector<OutputValues> outputs = {{{1, 3}, {7, 5, 9}, {5, 7, 2}},
                                       {{1, 3}, {0.81, 0.8, 0.01}, {0.8, 0.79, 0.02}},
                                       {{2}, {1, 2}, {3, 4}}};
  keep_certain_rows(outputs, 0.1);
  EXPECT_EQ(outputs[0].actual, (std::vector<double>{5, 7}));
  EXPECT_EQ(outputs[0].expected, (std::vector<double>{5, 7}));
  EXPECT_EQ(outputs[1].actual, (std::vector<double>{0.8, 0.81}));
  EXPECT_EQ(outputs[2].actual, (std::vector<double>{1, 2})) << "another output";
}

}  // namespace
}  // namespace het
