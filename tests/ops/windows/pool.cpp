#include "inference/ops/windows/pool.h"

#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

template <class T>
class MaxPoolTypes : public ::testing::Test {};
using Pooled = ::testing::Types<float, double, Float16, BFloat16, int8_t, uint8_t>;
TYPED_TEST_SUITE(MaxPoolTypes, Pooled);

TYPED_TEST(MaxPoolTypes, TakesTheLargestAndItsIndex) {
  const Tensor x =
      make_tensor<TypeParam>({1, 2, 2, 4}, {1, 5, 2, 2, 3, 4, 9, 2, 7, 7, 0, 1, 7, 6, 1, 1});
  const auto y =
      run_op_ok({"MaxPool",
                 {x},
                 make_attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}),
                 2});
  expect_values<TypeParam>(y[0], {1, 2, 1, 2}, {5, 9, 7, 1});
  expect_values<int64_t>(y[1], {1, 2, 1, 2}, {1, 6, 8, 11});
}

TEST(MaxPool, NegativeValuesBeatThePadding) {
  const Tensor x = make_tensor<float>({1, 1, 2}, {-3, -2});
  const Attributes attributes = make_attributes({{"kernel_shape", Ints{2}}, {"pads", Ints{1, 1}}});
  expect_values<float>(run_op_single({"MaxPool", {x}, attributes}), {1, 1, 3}, {-3, -2, -2});
  const Tensor bytes = make_tensor<int8_t>({1, 1, 2}, {-3, -2});
  expect_values<int8_t>(run_op_single({"MaxPool", {bytes}, attributes}), {1, 1, 3}, {-3, -2, -2});
}

TEST(MaxPool, DilationsStridesAndCeilMode) {
  const Tensor x = make_tensor<float>({1, 1, 7}, {1, 9, 2, 3, 8, 0, 4});
  const auto run = [&](int64_t ceil_mode) {
    return run_op_single({"MaxPool",
                          {x},
                          make_attributes({{"kernel_shape", Ints{2}},
                                           {"dilations", Ints{2}},
                                           {"strides", Ints{3}},
                                           {"ceil_mode", ceil_mode}})});
  };
  expect_values<float>(run(0), {1, 1, 2}, {2, 3});
  expect_values<float>(run(1), {1, 1, 3}, {2, 3, 4});
}

TEST(MaxPool, CeilModeDropsAWindowThatStartsInThePadding) {
  const Tensor x = make_ramp<float>({1, 1, 4});
  // ceil((4 + 1 - 1) / 2) + 1 = 3 windows at 0, 2, 4; the last one lies in the padding only.
  const Attributes attributes = make_attributes(
      {{"kernel_shape", Ints{1}}, {"strides", Ints{2}}, {"pads", Ints{0, 1}}, {"ceil_mode", 1}});
  expect_values<float>(run_op_single({"MaxPool", {x}, attributes}), {1, 1, 2}, {0, 2});
}

TEST(MaxPool, CeilModeTakesAWindowThatIsLargerThanTheInput) {
  const Tensor x = make_ramp<float>({1, 1, 4});
  const auto call = [&](int64_t ceil_mode) -> OpCall {
    return {"MaxPool",
            {x},
            make_attributes(
                {{"kernel_shape", Ints{6}}, {"strides", Ints{3}}, {"ceil_mode", ceil_mode}})};
  };
  expect_values<float>(run_op_single(call(1)), {1, 1, 1}, {3});
  expect_op_error(call(0), "the window spans 6 elements");
}

TEST(MaxPool, StorageOrderCountsColumnsFirst) {
  const Tensor x = make_tensor<float>({1, 2, 2, 3}, {1, 2, 3, 4, 5, 9, 0, 7, 0, 0, 0, 0});
  const auto y = run_op_ok(
      {"MaxPool", {x}, make_attributes({{"kernel_shape", Ints{2, 3}}, {"storage_order", 1}}), 2});
  expect_values<int64_t>(y[1], {1, 2, 1, 1}, {5, 6 + 2});
}

TEST(MaxPool, NanWinsAndInfinityIsAValue) {
  const Attributes attributes = make_attributes({{"kernel_shape", Ints{2}}});
  expect_values<float>(
      run_op_single({"MaxPool", {make_tensor<float>({1, 1, 4}, {1, kNaN, 2, -kInf})}, attributes}),
      {1, 1, 3}, {kNaN, kNaN, 2});
}

TEST(MaxPool, AutoPadIsLikeThatOfConv) {
  const Tensor x = make_ramp<float>({1, 1, 4}, 1);
  const auto run = [&](const char* auto_pad) {
    return run_op_single(
        {"MaxPool", {x}, make_attributes({{"kernel_shape", Ints{2}}, {"auto_pad", auto_pad}})});
  };
  expect_values<float>(run("SAME_UPPER"), {1, 1, 4}, {2, 3, 4, 4});
  expect_values<float>(run("SAME_LOWER"), {1, 1, 4}, {1, 2, 3, 4});
  expect_values<float>(run("VALID"), {1, 1, 3}, {2, 3, 4});
}

TEST(AveragePool, CountsPaddingOnlyWhenAsked) {
  const Tensor x = make_tensor<float>({1, 1, 2, 2}, {1, 2, 3, 6});
  const auto run = [&](int64_t include) {
    return run_op_single({"AveragePool",
                          {x},
                          make_attributes({{"kernel_shape", Ints{2, 2}},
                                           {"strides", Ints{2, 2}},
                                           {"pads", Ints{1, 1, 1, 1}},
                                           {"count_include_pad", include}})});
  };
  expect_values<float>(run(0), {1, 1, 2, 2}, {1, 2, 3, 6});
  expect_values<float>(run(1), {1, 1, 2, 2}, {0.25, 0.5, 0.75, 1.5});
}

TEST(AveragePool, CeilModeCountsNothingBeyondThePadding) {
  const Tensor x = make_tensor<float>({1, 1, 4}, {1, 2, 3, 4});
  const auto run = [&](int64_t include) {
    return run_op_single({"AveragePool",
                          {x},
                          make_attributes({{"kernel_shape", Ints{3}},
                                           {"strides", Ints{3}},
                                           {"pads", Ints{0, 1}},
                                           {"ceil_mode", 1},
                                           {"count_include_pad", include}})});
  };
  expect_values<float>(run(0), {1, 1, 2}, {2, 4});
  expect_values<float>(run(1), {1, 1, 2}, {2, 2});  // 4 and one padding element
}

TEST(AveragePool, DilationsAndHalfTypes) {
  const Attributes attributes =
      make_attributes({{"kernel_shape", Ints{2}}, {"dilations", Ints{3}}});
  expect_values<Float16>(
      run_op_single({"AveragePool", {make_ramp<Float16>({1, 1, 5})}, attributes}), {1, 1, 2},
      {1.5, 2.5});
  expect_values<BFloat16>(
      run_op_single({"AveragePool", {make_ramp<BFloat16>({1, 1, 5})}, attributes}), {1, 1, 2},
      {1.5, 2.5});
}

TEST(LpPool, TakesTheNorm) {
  const Tensor x = make_tensor<float>({1, 1, 3}, {3, -4, 12});
  expect_values<float>(run_op_single({"LpPool", {x}, make_attributes({{"kernel_shape", Ints{2}}})}),
                       {1, 1, 2}, {5, 12.6491106});
  expect_values<float>(
      run_op_single({"LpPool", {x}, make_attributes({{"kernel_shape", Ints{3}}, {"p", 1}})}),
      {1, 1, 1}, {19});
  expect_op_error({"LpPool", {x}, make_attributes({{"kernel_shape", Ints{3}}, {"p", 0}})},
                  "p is 0");
}

TEST(GlobalPool, CoversAllSpatialDimensions) {
  const Tensor x = make_ramp<float>({2, 1, 2, 1, 2}, -1);
  expect_values<float>(run_op_single({"GlobalAveragePool", {x}}), {2, 1, 1, 1, 1}, {0.5, 4.5});
  expect_values<float>(run_op_single({"GlobalMaxPool", {x}}), {2, 1, 1, 1, 1}, {2, 6});
  expect_values<float>(run_op_single({"GlobalLpPool", {x}}), {2, 1, 1, 1, 1},
                       {2.44948974, 9.27361850});
  expect_op_error({"GlobalAveragePool", {make_ramp<float>({1, 2, 0, 3})}}, "cannot be pooled");
}

TEST(PoolAttributesOf, AreResolvedForKernels) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {1, 8, 9, 9}});
  const Node* node = model.add_node(
      "pool", "AveragePool", "", {x}, {"y"},
      make_attributes(
          {{"kernel_shape", Ints{3, 2}}, {"strides", Ints{2, 2}}, {"auto_pad", "SAME_LOWER"}}));
  const auto pool = pool_attributes(*node, x->desc().shape);
  ASSERT_TRUE(pool) << pool.error().message();
  EXPECT_EQ(pool->output_shape, (Shape{1, 8, 5, 5}));
  EXPECT_EQ(pool->pads_begin, (Ints{1, 1}));
  EXPECT_EQ(pool->pads_end, (Ints{1, 0}));
  EXPECT_EQ(pool->dilations, (Ints{1, 1}));
}

TEST(Pool, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({1, 2, 4, 4});
  const auto refuse = [&](std::initializer_list<std::pair<std::string_view, Attribute>> attributes,
                          std::string_view message) {
    expect_op_error({"MaxPool", {x}, make_attributes(attributes)}, message);
    expect_op_error({"AveragePool", {x}, make_attributes(attributes)}, message);
  };
  refuse({}, "attribute 'kernel_shape' is missing");
  refuse({{"kernel_shape", Ints{2}}}, "attribute 'kernel_shape' has 1 values");
  refuse({{"kernel_shape", Ints{2, 0}}}, "attribute 'kernel_shape' contains 0");
  refuse({{"kernel_shape", Ints{2, 5}}}, "the window spans 5 elements");
  refuse({{"kernel_shape", Ints{2, INT64_MAX}}}, "attribute 'kernel_shape' contains");
  refuse({{"kernel_shape", Ints{2, 2}}, {"auto_pad", "YES"}}, "auto_pad is 'YES'");
  expect_op_error(
      {"MaxPool", {make_ramp<float>({4, 4})}, make_attributes({{"kernel_shape", Ints{2}}})},
      "rank must be 3 to 5");
  expect_op_error(
      {"MaxPool", {make_ramp<int32_t>({1, 1, 4})}, make_attributes({{"kernel_shape", Ints{2}}})},
      "type int32 of input 0 'X'");
}

}  // namespace
}  // namespace het::op_testing
