#include "inference/decoders/bounded_values.h"

#include <gtest/gtest.h>

#include "inference/passes/infer_shapes.h"
#include "tests/devices/device_testing.h"

namespace het {
namespace {

using device_testing::Ints;
using device_testing::make_attributes;
using device_testing::ModelMaker;

Value* joined(ModelMaker& maker, const std::vector<Value*>& parts, int64_t axis) {
  return maker.op("Concat", parts, make_attributes({{"axis", axis}}));
}

std::optional<int64_t> tail(ModelMaker& maker, Value* value, size_t axis) {
  maker.output(value);
  EXPECT_TRUE(infer_shapes(maker.model()).ok());
  return bounded_tail(*maker.model().outputs().front().value, axis);
}

TEST(BoundedTail, ColumnsOfBoxesAndScores) {
  ModelMaker maker;
  Value* box = maker.op("Mul", {maker.input({1, 4, 84}), maker.input({1})});
  Value* scores = maker.op("Sigmoid", {maker.input({1, 80, 84})});
  EXPECT_EQ(tail(maker, joined(maker, {box, scores}, 1), 1), 80);
}

TEST(BoundedTail, PointsBehindScoresAreNotBounded) {
  ModelMaker maker;
  Value* box = maker.op("Mul", {maker.input({1, 4, 84}), maker.input({1})});
  Value* scores = maker.op("Sigmoid", {maker.input({1, 1, 84})});
  Value* points = maker.op("Add", {maker.input({1, 10, 84}), maker.input({1})});
  EXPECT_EQ(tail(maker, joined(maker, {box, scores, points}, 1), 1), 0);
}

TEST(BoundedTail, RowsOfLevelsThatWereTurned) {
  // Two levels: [1, 6, n] with objectness and one class behind the box, turned and joined.
  ModelMaker maker;
  std::vector<Value*> levels;
  for (const int64_t cells : {16, 4}) {
    Value* box = maker.op("Exp", {maker.input({1, 4, cells})});
    Value* scores = maker.op("Sigmoid", {maker.input({1, 2, cells})});
    levels.push_back(maker.op("Transpose", {joined(maker, {box, scores}, 1)},
                              make_attributes({{"perm", Ints{0, 2, 1}}})));
  }
  EXPECT_EQ(tail(maker, joined(maker, levels, 1), 2), 2);
}

TEST(BoundedTail, ACutOfSigmoidsIsBounded) {
  ModelMaker maker;
  Value* all = maker.op("Sigmoid", {maker.input({1, 3, 2, 2, 9})});
  const std::vector<Value*> parts = maker.split("Split", {all, maker.ints({2, 2, 5})}, 3,
                                                make_attributes({{"axis", int64_t{4}}}));
  Value* place = maker.op("Mul", {parts[0], maker.input({1})});
  Value* size = maker.op("Mul", {parts[1], maker.input({1})});
  Value* rows =
      maker.op("Reshape", {joined(maker, {place, size, parts[2]}, 4), maker.ints({1, -1, 9})});
  EXPECT_EQ(tail(maker, rows, 2), 5);
}

TEST(BoundedTail, WhatIsNotKnown) {
  ModelMaker maker;
  EXPECT_EQ(tail(maker, maker.op("Relu", {maker.input({1, 6, 84})}), 1), std::nullopt);
}

}  // namespace
}  // namespace het
