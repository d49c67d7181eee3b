#include "inference/ops/elementwise/cast.h"

#include <limits>

#include "inference/ops/numeric_cast.h"
#include "inference/ops/onnx_type.h"
#include "inference/ops/packed_integer.h"
#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

template <class To>
Tensor cast(const Tensor& x) {
  return run_op_single(
      {"Cast", {x}, make_attributes({{"to", onnx_type_code(element_type_of<To>())}})});
}

TEST(Cast, FloatsToIntegersTruncate) {
  const Tensor x = make_tensor<float>({4}, {1.9, -1.9, 0.5, -0.5});
  expect_values<int32_t>(cast<int32_t>(x), {4}, {1, -1, 0, 0});
  expect_values<int8_t>(cast<int8_t>(x), {4}, {1, -1, 0, 0});
  expect_values<int64_t>(cast<int64_t>(make_tensor<double>({1}, {-3.99})), {1}, {-3});
  expect_values<int16_t>(cast<int16_t>(make_tensor<Float16>({1}, {2.75})), {1}, {2});
}

TEST(Cast, FloatsOutOfRangeSaturateAndNaNIsZero) {
  const Tensor x = make_tensor<float>({5}, {300, -300, kInf, -kInf, kNaN});
  expect_values<uint8_t>(cast<uint8_t>(x), {5}, {255, 0, 255, 0, 0});
  expect_values<int8_t>(cast<int8_t>(x), {5}, {127, -128, 127, -128, 0});
  const Tensor big = cast<int64_t>(make_tensor<float>({2}, {1e30, -1e30}));
  ASSERT_FALSE(big.empty());
  EXPECT_EQ(big.data<int64_t>()[0], INT64_MAX);
  EXPECT_EQ(big.data<int64_t>()[1], INT64_MIN);
  EXPECT_EQ(numeric_cast<uint64_t>(1e30), UINT64_MAX);
  EXPECT_EQ(numeric_cast<int32_t>(2147483648.0), INT32_MAX);
  EXPECT_EQ(numeric_cast<int32_t>(2147483647.0), 2147483647);
  EXPECT_EQ(numeric_cast<uint32_t>(-0.5f), 0u);
}

TEST(Cast, IntegersKeepTheirLowBits) {
  expect_values<int8_t>(cast<int8_t>(make_tensor<int16_t>({2}, {200, -200})), {2}, {-56, 56});
  expect_values<uint8_t>(cast<uint8_t>(make_tensor<int32_t>({2}, {-1, 256})), {2}, {255, 0});
  expect_values<int64_t>(cast<int64_t>(make_tensor<uint32_t>({1}, {4e9})), {1}, {4e9});
}

TEST(Cast, Bool) {
  expect_values<bool>(cast<bool>(make_tensor<float>({5}, {0, -0.0, 0.5, -2, kNaN})), {5},
                      {0, 0, 1, 1, 1});
  expect_values<bool>(cast<bool>(make_tensor<int64_t>({2}, {256, 0})), {2}, {1, 0});
  expect_values<Float16>(cast<Float16>(make_tensor<bool>({2}, {1, 0})), {2}, {1, 0});
  expect_values<int32_t>(cast<int32_t>(make_tensor<bool>({2}, {1, 0})), {2}, {1, 0});
}

TEST(Cast, FloatsRoundOnceAndOverflowToInfinity) {
  expect_values<Float16>(cast<Float16>(make_tensor<float>({3}, {65504, 65520, -1e6})), {3},
                         {65504, kInf, -kInf});
  expect_values<float>(cast<float>(make_tensor<double>({2}, {1e300, 0.1})), {2}, {kInf, 0.1});
  // Just above the middle of two halves: a first rounding to float would end in the middle.
  const double value = 1 + 0x1p-11 + 0x1p-40;
  expect_values<Float16>(cast<Float16>(make_tensor<double>({1}, {value})), {1}, {1 + 0x1p-10}, 0);
  expect_values<BFloat16>(cast<BFloat16>(make_tensor<float>({1}, {1.00390625})), {1}, {1}, 0);
}

/// The elements of a tensor that a Cast to a type of less than a byte makes.
std::vector<int64_t> cast_packed(const Tensor& x, ElementType to) {
  const Tensor y = run_op_single({"Cast", {x}, make_attributes({{"to", onnx_type_code(to)}})});
  if (y.empty()) return {};
  EXPECT_EQ(y.type(), to);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < y.element_count(); ++i) values.push_back(load_integer(y.bytes(), to, i));
  return values;
}

// ONNX, "4 bit integer types": the nearest integer, ties to even, of which the low bits stay.
TEST(Cast, FloatsToPackedIntegersRoundToEven) {
  using Ints = std::vector<int64_t>;
  const std::initializer_list<double> reals{-1.5, 0.6, 1.5, 2.5, -0.5, -2.51};
  const Tensor x = make_tensor<float>({6}, reals);
  EXPECT_EQ(cast_packed(x, ElementType::Int4), (Ints{-2, 1, 2, 2, 0, -3}));
  EXPECT_EQ(cast_packed(x, ElementType::UInt4), (Ints{14, 1, 2, 2, 0, 13}));
  EXPECT_EQ(cast_packed(x, ElementType::Int2), (Ints{-2, 1, -2, -2, 0, 1}));
  EXPECT_EQ(cast_packed(x, ElementType::UInt2), (Ints{2, 1, 2, 2, 0, 1}));
  for (const Tensor& other : {make_tensor<double>({6}, reals), make_tensor<Float16>({6}, reals),
                              make_tensor<BFloat16>({6}, reals)}) {
    EXPECT_EQ(cast_packed(other, ElementType::Int4), (Ints{-2, 1, 2, 2, 0, -3}));
  }
  const Tensor like =
      run_op_single({"CastLike", {x, Tensor::allocate({ElementType::Int4, {0}}).value()}});
  ASSERT_FALSE(like.empty());
  EXPECT_EQ(load_integer(like.bytes(), ElementType::Int4, 0), -2);
  EXPECT_EQ(cast_packed(make_tensor<float>({3}, {17.5, -9, kNaN}), ElementType::Int4),
            (Ints{2, 7, 0}));
  EXPECT_EQ(cast_packed(make_tensor<int32_t>({3}, {17, -9, 7}), ElementType::Int4),
            (Ints{1, 7, 7}));
  // Between narrow types, too.
  const Tensor halves = run_op_single(
      {"Cast", {x}, make_attributes({{"to", onnx_type_code(ElementType::Float4E2M1)}})});
  EXPECT_EQ(cast_packed(halves, ElementType::Int4), (Ints{-2, 0, 2, 2, 0, -3}));
}

TEST(Cast, SameTypeAndZeroSizes) {
  expect_near(cast<float>(make_ramp<float>({2, 2})), make_ramp<float>({2, 2}));
  expect_values<int8_t>(cast<int8_t>(make_ramp<float>({0, 2})), {0, 2}, {});
}

TEST(Cast, LikeTakesTheTypeOfTheSecondInput) {
  expect_values<int16_t>(
      run_op_single({"CastLike", {make_tensor<float>({2}, {1.5, -2.5}), make_ramp<int16_t>({0})}}),
      {2}, {1, -2});
}

TEST(Cast, RefusesOtherTypes) {
  const Tensor x = make_ramp<float>({1});
  expect_op_error({"Cast", {x}}, "'to'");
  expect_op_error({"Cast", {x}, make_attributes({{"to", int64_t{8}}})}, "strings");
  expect_op_error({"Cast", {x}, make_attributes({{"to", int64_t{99}}})}, "99");
  expect_op_error({"Cast", {x}, make_attributes({{"to", int64_t{-1}}})}, "-1");
  expect_op_error({"CastLike", {x}}, "has 1 inputs");
}

}  // namespace
}  // namespace het::op_testing
