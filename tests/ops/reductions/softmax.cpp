#include <cmath>
#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

template <class T>
class SoftmaxTypes : public ::testing::Test {};
using Floats4 = ::testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(SoftmaxTypes, Floats4);

TYPED_TEST(SoftmaxTypes, NormalisesAlongTheAxis) {
  const double log2 = std::log(2.0);
  const double log3 = std::log(3.0);
  const Tensor x = make_tensor<TypeParam>({2, 2}, {0, log3, log2, log2});
  const double tolerance = sizeof(TypeParam) == 2 ? 0.01 : 1e-5;
  expect_values<TypeParam>(run_op_single({"Softmax", {x}}), {2, 2}, {0.25, 0.75, 0.5, 0.5},
                           tolerance);
  expect_values<TypeParam>(run_op_single({"Softmax", {x}, make_attributes({{"axis", 0}})}), {2, 2},
                           {1.0 / 3, 0.6, 2.0 / 3, 0.4}, tolerance);
  expect_values<TypeParam>(run_op_single({"LogSoftmax", {x}}), {2, 2},
                           {std::log(0.25), std::log(0.75), -log2, -log2}, tolerance);
  expect_values<TypeParam>(run_op_single({"Hardmax", {x}}), {2, 2}, {0, 1, 1, 0});
}

TEST(Softmax, LargeAndInfiniteInputs) {
  const Tensor x = make_tensor<float>({1, 3}, {10000, 10000, -kInf});
  expect_values<float>(run_op_single({"Softmax", {x}}), {1, 3}, {0.5, 0.5, 0});
  expect_values<float>(run_op_single({"LogSoftmax", {x}}), {1, 3},
                       {-std::log(2.0), -std::log(2.0), -kInf});
}

TEST(Softmax, TheAxisMayLieInTheMiddle) {
  const Tensor x = make_ramp<float>({2, 2, 2}, 0, 0);
  expect_values<float>(run_op_single({"Softmax", {x}, make_attributes({{"axis", 1}})}), {2, 2, 2},
                       {0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5});
}

TEST(Hardmax, NanIsLargerThanEveryNumber) {
  const Tensor x = make_tensor<float>({2, 3}, {1, kNaN, kNaN, kInf, 2, kNaN});
  expect_values<float>(run_op_single({"Hardmax", {x}}), {2, 3}, {0, 1, 0, 0, 0, 1});
}

TEST(Hardmax, TheFirstOfEqualMaximaWins) {
  const Tensor x = make_tensor<float>({3, 2}, {1, 5, 4, 5, 4, 2});
  expect_values<float>(run_op_single({"Hardmax", {x}, make_attributes({{"axis", 0}})}), {3, 2},
                       {0, 1, 1, 0, 0, 0});
}

TEST(Softmax, EmptyDimensions) {
  expect_values<float>(run_op_single({"Softmax", {make_ramp<float>({2, 0})}}), {2, 0}, {});
}

TEST(Softmax, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 2});
  for (const char* type : {"Softmax", "LogSoftmax", "Hardmax"}) {
    expect_op_error({type, {x}, make_attributes({{"axis", 2}})}, "axis");
    expect_op_error({type, {x}, make_attributes({{"axis", 0.5f}})}, "attribute 'axis' is a float");
    expect_op_error({type, {Tensor::scalar(1.0f)}}, "axis");
    expect_op_error({type, {make_ramp<int32_t>({2})}}, "type int32");
  }
}

}  // namespace
}  // namespace het::op_testing
