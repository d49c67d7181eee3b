#include "inference/ops/reductions/reduce.h"

#include <cmath>
#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

Tensor reduce(const std::string& type, const Tensor& x, const Ints& axes, int64_t keepdims = 0) {
  return run_op_single({type, {x, int64_tensor(axes)}, make_attributes({{"keepdims", keepdims}})});
}

TEST(Reduce, EachKindComputesItsExpression) {
  const Tensor x = make_tensor<float>({2, 2}, {1, -2, 3, 4});
  const Shape shape{2};
  expect_values<float>(reduce("ReduceSum", x, {1}), shape, {-1, 7});
  expect_values<float>(reduce("ReduceMean", x, {1}), shape, {-0.5, 3.5});
  expect_values<float>(reduce("ReduceMax", x, {1}), shape, {1, 4});
  expect_values<float>(reduce("ReduceMin", x, {1}), shape, {-2, 3});
  expect_values<float>(reduce("ReduceProd", x, {1}), shape, {-2, 12});
  expect_values<float>(reduce("ReduceL1", x, {1}), shape, {3, 7});
  expect_values<float>(reduce("ReduceL2", x, {1}), shape, {std::sqrt(5.0), 5});
  expect_values<float>(reduce("ReduceSumSquare", x, {1}), shape, {5, 25});
  expect_values<float>(reduce("ReduceLogSum", x, {0}), shape, {std::log(4.0), std::log(2.0)});
  expect_values<float>(
      reduce("ReduceLogSumExp", x, {0}), shape,
      {std::log(std::exp(1.0) + std::exp(3.0)), std::log(std::exp(-2.0) + std::exp(4.0))});
}

TEST(Reduce, LogSumExpDoesNotOverflow) {
  const Tensor x = make_tensor<float>({2, 2}, {1000, 1000, -kInf, -kInf});
  expect_values<float>(reduce("ReduceLogSumExp", x, {1}), {2}, {1000 + std::log(2.0), -kInf});
}

TEST(Reduce, AxesMayBeNegativeUnsortedOrAbsent) {
  const Tensor x = make_ramp<float>({2, 3, 2});
  expect_values<float>(reduce("ReduceSum", x, {-1, 0}, 0), {3}, {14, 22, 30});
  expect_values<float>(reduce("ReduceSum", x, {-1, 0}, 1), {1, 3, 1}, {14, 22, 30});
  expect_values<float>(run_op_single({"ReduceSum", {x}}), {1, 1, 1}, {66});
  expect_values<float>(run_op_single({"ReduceSum", {x}, make_attributes({{"keepdims", 0}})}), {},
                       {66});
  expect_values<float>(run_op_single({"ReduceMax", {Tensor::scalar(3.0f)}}), {}, {3});
}

TEST(Reduce, NoAxesMayMeanNoReduction) {
  const Tensor x = make_tensor<float>({2}, {-3, 2});
  const Attributes noop = make_attributes({{"noop_with_empty_axes", 1}});
  expect_values<float>(run_op_single({"ReduceSum", {x}, noop}), {2}, {-3, 2});
  expect_values<float>(run_op_single({"ReduceSum", {x, int64_tensor({})}, noop}), {2}, {-3, 2});
  expect_values<float>(run_op_single({"ReduceL1", {x}, noop}), {2}, {3, 2});
  expect_values<float>(run_op_single({"ReduceSumSquare", {x}, noop}), {2}, {9, 4});
}

TEST(Reduce, EmptySetsGiveTheNeutralElement) {
  const Tensor x = make_ramp<float>({2, 0});
  const auto run = [&](const char* type, double expected) {
    expect_values<float>(reduce(type, x, {1}), {2}, {expected, expected});
  };
  run("ReduceSum", 0);
  run("ReduceProd", 1);
  run("ReduceMax", -kInf);
  run("ReduceMin", kInf);
  run("ReduceL2", 0);
  run("ReduceLogSum", -kInf);
  run("ReduceLogSumExp", -kInf);
  run("ReduceMean", kNaN);
  expect_values<int8_t>(reduce("ReduceMax", make_ramp<int8_t>({1, 0}), {1}), {1}, {-128});
  expect_values<bool>(reduce("ReduceMin", make_ramp<bool>({1, 0}), {1}), {1}, {1});
}

TEST(Reduce, ExtremesOfEveryType) {
  const auto run = [&]<class T>() {
    const Tensor x = make_tensor<T>({2, 2}, {1, 3, 2, 0});
    expect_values<T>(reduce("ReduceMax", x, {1}), {2}, {3, 2});
    expect_values<T>(reduce("ReduceMin", x, {1}), {2}, {1, 0});
  };
  run.template operator()<int8_t>();
  run.template operator()<uint8_t>();
  run.template operator()<int32_t>();
  run.template operator()<int64_t>();
  run.template operator()<uint64_t>();
  run.template operator()<Float16>();
  run.template operator()<BFloat16>();
  run.template operator()<double>();
  const Tensor flags = make_tensor<bool>({2, 2}, {1, 0, 0, 0});
  expect_values<bool>(reduce("ReduceMax", flags, {1}), {2}, {1, 0});
  expect_values<bool>(reduce("ReduceMin", flags, {0}), {2}, {0, 0});
}

TEST(Reduce, NanWinsEveryExtreme) {
  const Tensor x = make_tensor<float>({1, 3}, {1, kNaN, 2});
  expect_values<float>(reduce("ReduceMax", x, {1}), {1}, {kNaN});
  expect_values<float>(reduce("ReduceMin", x, {1}), {1}, {kNaN});
}

TEST(Reduce, IntegersStayIntegers) {
  const Tensor x = make_tensor<int32_t>({1, 3}, {-3, -3, -4});
  expect_values<int32_t>(reduce("ReduceSum", x, {1}), {1}, {-10});
  expect_values<int32_t>(reduce("ReduceMean", x, {1}), {1}, {-3});
  expect_values<int32_t>(reduce("ReduceL1", x, {1}), {1}, {10});
  expect_values<int32_t>(reduce("ReduceProd", x, {1}), {1}, {-36});
  expect_values<int32_t>(reduce("ReduceL2", x, {1}), {1}, {5});
  expect_values<uint64_t>(reduce("ReduceSum", make_tensor<uint64_t>({2}, {5, 6}), {0}), {}, {11});
  const Tensor large = Tensor::from<int64_t>({2}, {INT64_MAX - 1, 1});
  EXPECT_EQ(reduce("ReduceSum", large, {0}).data<int64_t>()[0], INT64_MAX);
}

TEST(Reduce, RankIsKnownBeforeTheAxesAre) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {2, 3, 4}});
  Value* axes = model.add_input("axes", {ElementType::Int64, {2}});
  const Node* node =
      model.add_node("n", "ReduceMean", "", {x, axes}, {"y"}, make_attributes({{"keepdims", 0}}));
  const auto descs = infer_node(*node, {&x->desc(), &axes->desc()}, {nullptr, nullptr});
  ASSERT_TRUE(descs);
  EXPECT_EQ((*descs)[0].shape, Shape{kUnknownDim});
}

TEST(Reduce, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 3});
  expect_op_error({"ReduceSum", {x, int64_tensor({2})}}, "2");
  expect_op_error({"ReduceSum", {x, int64_tensor({0, -2})}}, "axis -2 is given twice");
  expect_op_error({"ReduceSum", {x, make_tensor<float>({1}, {0})}}, "type float32 of input 1");
  expect_op_error({"ReduceSum", {make_ramp<bool>({2})}}, "type bool of input 0");
  expect_op_error({"ReduceSum", {x}, make_attributes({{"keepdims", "yes"}})},
                  "attribute 'keepdims'");
}

}  // namespace
}  // namespace het::op_testing
