#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor k_of(int64_t k) {
  return int64_tensor({k});
}

TEST(TopK, SortsAndBreaksTiesByTheLowerIndex) {
  const Tensor x = make_tensor<float>({2, 4}, {3, 1, 3, 2, 0, 5, 5, 5});
  const auto y = run_op_ok({"TopK", {x, k_of(3)}, {}, 2});
  expect_values<float>(y[0], {2, 3}, {3, 3, 2, 5, 5, 5});
  expect_values<int64_t>(y[1], {2, 3}, {0, 2, 3, 1, 2, 3});
}

TEST(TopK, SmallestAlongAnyAxis) {
  const Tensor x = make_tensor<int32_t>({3, 2}, {4, 1, 2, 1, 3, -7});
  const auto y = run_op_ok(
      {"TopK", {x, k_of(2)}, make_attributes({{"axis", 0}, {"largest", 0}, {"sorted", 0}}), 2});
  expect_values<int32_t>(y[0], {2, 2}, {2, -7, 3, 1});
  expect_values<int64_t>(y[1], {2, 2}, {1, 2, 2, 0});
}

TEST(TopK, KeepsEveryDigitOfIntegers) {
  const int64_t big = (int64_t{1} << 53) + 1;
  const Tensor x = Tensor::from<int64_t>({2}, {big - 1, big});
  const auto y = run_op_ok({"TopK", {x, k_of(1)}, {}, 2});
  ASSERT_FALSE(y[0].empty());
  EXPECT_EQ(y[0].data<int64_t>()[0], big);
  expect_values<int64_t>(y[1], {1}, {1});
}

TEST(TopK, NanIsLargerThanInfinity) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = make_tensor<float>({4}, {1, infinity, nan, 2});
  expect_values<int64_t>(run_op_ok({"TopK", {x, k_of(4)}, {}, 2})[1], {4}, {2, 1, 3, 0});
  expect_values<int64_t>(run_op_ok({"TopK", {x, k_of(4)}, make_attributes({{"largest", 0}}), 2})[1],
                         {4}, {0, 3, 1, 2});
}

TEST(TopK, NothingOutOfSomethingAndNothing) {
  expect_values<float>(run_op_single({"TopK", {make_ramp<float>({2, 3}), k_of(0)}, {}, 2}), {2, 0},
                       {});
  expect_values<float>(run_op_single({"TopK", {make_ramp<float>({0, 3}), k_of(2)}, {}, 2}), {0, 2},
                       {});
}

TEST(TopK, ShapeWaitsForK) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2, 5}});
  Value* k = model.add_input("k", {ElementType::Int64, {1}});
  const Node* node = model.add_node("n", "TopK", "", {x, k}, {"v", "i"});
  const auto outputs = infer_node(*node, {&x->desc(), &k->desc()}, {nullptr, nullptr});
  ASSERT_TRUE(outputs) << outputs.error().message();
  EXPECT_EQ((*outputs)[0].shape, (Shape{2, kUnknownDim}));
  EXPECT_EQ((*outputs)[1].type, ElementType::Int64);
}

TEST(TopK, RefusesBadInput) {
  const Tensor x = make_ramp<float>({2, 3});
  expect_op_error({"TopK", {x, k_of(4)}, {}, 2}, "K is [4]");
  expect_op_error({"TopK", {x, k_of(-1)}, {}, 2}, "from 0 to 3");
  expect_op_error({"TopK", {x, int64_tensor({1, 2})}, {}, 2}, "one value");
  expect_op_error({"TopK", {x, k_of(1)}, make_attributes({{"axis", 2}}), 2}, "axis");
  expect_op_error({"TopK", {Tensor::scalar(1.0f), k_of(1)}, {}, 2}, "axis");
  expect_op_error({"TopK", {x, make_tensor<float>({1}, {1})}, {}, 2}, "float32");
}

}  // namespace
}  // namespace het::op_testing
