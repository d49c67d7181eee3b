#include "hetero/batch/reshape.h"

#include <gtest/gtest.h>

#include "tests/devices/device_testing.h"

namespace het::hetero {
namespace {

using device_testing::Ints;
using device_testing::make_attributes;
using device_testing::ModelMaker;

void expect_refused(Model& model, std::string_view part) {
  const auto reshaped = reshape_to_batch(model, 4);
  ASSERT_FALSE(reshaped);
  EXPECT_NE(reshaped.error().message().find(part), std::string::npos) << reshaped.error().message();
}

TEST(BatchReshape, EveryInputGrows) {
  ModelMaker maker;
  Value* x = maker.input({1, 3, 8, 8});
  Value* y = maker.input({1, 5});
  maker.output(maker.conv(x, 3, 5, 3));
  maker.output(maker.op("Relu", {y}));
  const auto reshaped = reshape_to_batch(maker.model(), 4);
  ASSERT_TRUE(reshaped) << reshaped.error().message();
  EXPECT_EQ(reshaped->model->inputs()[0].value->desc().shape, (Shape{4, 3, 8, 8}));
  EXPECT_EQ(reshaped->model->inputs()[1].value->desc().shape, (Shape{4, 5}));
}

TEST(BatchReshape, TheBatchMayBeJoinedWithOtherDimensionsOnTheWay) {
  ModelMaker maker;
  Value* x = maker.input({1, 6, 4});
  Value* rows = maker.op("Reshape", {x, maker.ints({-1, 4})});
  Value* soft = maker.op("Softmax", {rows}, make_attributes({{"axis", int64_t{-1}}}));
  maker.output(maker.op("Reshape", {soft, maker.ints({-1, 6, 4})}));
  const auto reshaped = reshape_to_batch(maker.model(), 4);
  EXPECT_TRUE(reshaped) << reshaped.error().message();
}

TEST(BatchReshape, ShapesThatAreComputedFollow) {
  ModelMaker maker;
  Value* x = maker.input({1, 3, 2, 2});
  Value* batch = maker.op("Gather", {maker.op("Shape", {x}), maker.ints({0})});
  Value* shape =
      maker.op("Concat", {batch, maker.ints({-1})}, make_attributes({{"axis", int64_t{0}}}));
  maker.output(maker.op("Reshape", {x, shape}));
  const auto reshaped = reshape_to_batch(maker.model(), 4);
  EXPECT_TRUE(reshaped) << reshaped.error().message();
}

TEST(BatchReshape, InputsWithoutABatchAreNamed) {
  ModelMaker maker;
  maker.input({1, 2});
  maker.output(maker.op("Relu", {maker.input({3, 2})}));
  expect_refused(maker.model(), "input 'x1' float32[3,2] has no batch dimension");
  ModelMaker scalar;
  scalar.output(scalar.op("Relu", {scalar.input({})}));
  expect_refused(scalar.model(), "input 'x0'");
}

TEST(BatchReshape, OutputsThatDoNotGrowAreNamed) {
  ModelMaker joined;
  joined.output(joined.op("Reshape", {joined.input({1, 2, 3}), joined.ints({1, -1, 3})}));
  expect_refused(joined.model(), "output 'y0' float32[1,2,3] does not grow with the batch");
  ModelMaker constant;
  constant.output(constant.op("Relu", {constant.input({1, 2})}));
  constant.output(constant.random({1, 2}));
  expect_refused(constant.model(), "output 'y1' float32[1,2] does not grow");
}

TEST(BatchReshape, AFixedBatchInsideIsNamed) {
  ModelMaker maker;
  Value* flat = maker.op("Reshape", {maker.input({1, 2, 3}), maker.ints({1, 6})});
  maker.output(maker.op("Relu", {flat}));
  expect_refused(maker.model(), "with 4 at the inputs");
  expect_refused(maker.model(), "Reshape0");
}

TEST(BatchReshape, ABatchOfOneIsTakenAsItIs) {
  ModelMaker maker;
  maker.output(maker.op("ReduceSum", {maker.input({1, 2}), maker.ints({0})}));
  const auto reshaped = reshape_to_batch(maker.model(), 1);
  EXPECT_TRUE(reshaped) << reshaped.error().message();
  ModelMaker found;
  found.output(found.op("NonZero", {found.input({1, 4})}));
  const auto refused = reshape_to_batch(found.model(), 1);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("output 'y0'"), std::string::npos);
}

}  // namespace
}  // namespace het::hetero
