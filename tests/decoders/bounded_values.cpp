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

TEST(BoundedTail, SumsWithZerosAndTheirLastValues) {
  // What exports of torch.full_like(x, 0) + cat(...) are, and then x[..., 5:].
  ModelMaker maker;
  Value* raw = maker.op("Mul", {maker.input({1, 2, 5}), maker.input({1})});
  Value* scores = maker.op("Sigmoid", {maker.input({1, 2, 2})});
  Value* zeros = maker.constant(Tensor::from<float>({1, 2, 7}, std::vector<float>(14, 0.0f)));
  Value* sum = maker.op("Add", {zeros, joined(maker, {raw, scores}, 2)});
  EXPECT_EQ(tail(maker, sum, 2), 2);
  for (const auto& [first, last, count] : {std::tuple{4, 7, 2}, {6, 1 << 20, 1}}) {
    ModelMaker cut;
    Value* mixed = joined(cut,
                          {cut.op("Mul", {cut.input({1, 2, 5}), cut.input({1})}),
                           cut.op("Sigmoid", {cut.input({1, 2, 2})})},
                          2);
    EXPECT_EQ(
        tail(cut, cut.op("Slice", {mixed, cut.ints({first}), cut.ints({last}), cut.ints({2})}), 2),
        count);
  }
  ModelMaker inner;
  Value* mixed = joined(inner,
                        {inner.op("Mul", {inner.input({1, 2, 5}), inner.input({1})}),
                         inner.op("Sigmoid", {inner.input({1, 2, 2})})},
                        2);
  EXPECT_EQ(
      tail(inner, inner.op("Slice", {mixed, inner.ints({4}), inner.ints({6}), inner.ints({2})}), 2),
      std::nullopt);
}

TEST(BoundedTail, AReshapeOfWhatIsAllAlike) {
  for (const bool bounded : {false, true}) {
    ModelMaker maker;
    const auto part = [&] {
      return bounded ? maker.op("Sigmoid", {maker.input({1, 6, 2, 2})})
                     : maker.conv(maker.input({1, 3, 2, 2}), 3, 6);
    };
    Value* both = joined(maker, {part(), part()}, 1);
    Value* rows = maker.op("Transpose", {maker.op("Reshape", {both, maker.ints({1, 3, 4, 2, 2})})},
                           make_attributes({{"perm", Ints{0, 1, 3, 4, 2}}}));
    EXPECT_EQ(tail(maker, rows, 4), bounded ? 4 : 0);
  }
}

TEST(BoundedTail, PlacesThatAreScatteredIntoRawValues) {
  ModelMaker maker;
  Value* raw = maker.op("Mul", {maker.input({1, 2, 6}), maker.input({1})});
  Value* places = maker.input({1, 2, 2, 3}, ElementType::Int64);
  EXPECT_EQ(tail(maker, maker.op("ScatterND", {raw, places, maker.input({1, 2, 2})}), 2), 0);
}

TEST(BoundedTail, WhatIsNotKnown) {
  ModelMaker maker;
  EXPECT_EQ(tail(maker, maker.op("Relu", {maker.input({1, 6, 84})}), 1), std::nullopt);
}

}  // namespace
}  // namespace het
