#include "inference/ops/products/conv.h"

#include <algorithm>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

template <class T>
class ConvTypes : public ::testing::Test {};
using Floats4 = ::testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(ConvTypes, Floats4);

TYPED_TEST(ConvTypes, SumsProductsAndAddsTheBias) {
  const Tensor x = make_ramp<TypeParam>({1, 1, 3, 3});
  const Tensor w = make_tensor<TypeParam>({2, 1, 2, 2}, {1, 1, 1, 1, 0, 0, 0, 2});
  expect_values<TypeParam>(run_op_single({"Conv", {x, w}}), {1, 2, 2, 2},
                           {8, 12, 20, 24, 8, 10, 14, 16});
  const Tensor bias = make_tensor<TypeParam>({2}, {1, -1});
  expect_values<TypeParam>(run_op_single({"Conv", {x, w, bias}}), {1, 2, 2, 2},
                           {9, 13, 21, 25, 7, 9, 13, 15});
}

TEST(Conv, DepthwiseGroups) {
  const Tensor x = make_ramp<float>({1, 2, 2, 2});
  const Tensor w = make_tensor<float>({2, 1, 1, 1}, {2, 3});
  expect_values<float>(run_op_single({"Conv", {x, w}, make_attributes({{"group", 2}})}),
                       {1, 2, 2, 2}, {0, 2, 4, 6, 12, 15, 18, 21});
}

TEST(Conv, StridesPadsAndDilationsInOneDimension) {
  const Tensor x = make_ramp<float>({1, 1, 5}, 1);
  const Tensor w = make_tensor<float>({1, 1, 2}, {1, 10});
  const Attributes attributes =
      make_attributes({{"strides", Ints{2}}, {"pads", Ints{1, 2}}, {"dilations", Ints{2}}});
  expect_values<float>(run_op_single({"Conv", {x, w, Tensor()}, attributes}), {1, 1, 3},
                       {20, 42, 4});
}

TEST(Conv, AutoPadPutsTheOddElementWhereItSays) {
  const Tensor x = make_ramp<float>({1, 1, 4}, 1);
  const Tensor w = make_tensor<float>({1, 1, 3}, {1, 10, 100});
  const auto run = [&](const char* auto_pad) {
    return run_op_single(
        {"Conv", {x, w}, make_attributes({{"auto_pad", auto_pad}, {"strides", Ints{2}}})});
  };
  expect_values<float>(run("SAME_UPPER"), {1, 1, 2}, {321, 43});
  expect_values<float>(run("SAME_LOWER"), {1, 1, 2}, {210, 432});
  expect_values<float>(run("VALID"), {1, 1, 1}, {321});
  expect_values<float>(run("NOTSET"), {1, 1, 1}, {321});
}

TEST(Conv, ThreeSpatialDimensions) {
  const Tensor x = make_ramp<float>({2, 1, 2, 2, 2});
  const Tensor w = make_ramp<float>({1, 1, 2, 2, 2}, 1, 0);
  expect_values<float>(run_op_single({"Conv", {x, w}}), {2, 1, 1, 1, 1}, {28, 92});
}

/// The definition, gathered per output element: another order of loops than the operator's.
double conv_at(const Tensor& x, const Tensor& w, const Ints& strides, const Ints& pads,
               const Ints& dilations, int64_t group, int64_t n, int64_t oc, int64_t oh,
               int64_t ow) {
  const Shape& xs = x.shape();
  const Shape& ws = w.shape();
  double sum = 0;
  for (int64_t i = 0; i < ws[1]; ++i) {
    const int64_t ic = oc / (ws[0] / group) * ws[1] + i;
    for (int64_t kh = 0; kh < ws[2]; ++kh) {
      for (int64_t kw = 0; kw < ws[3]; ++kw) {
        const int64_t h = oh * strides[0] - pads[0] + kh * dilations[0];
        const int64_t v = ow * strides[1] - pads[1] + kw * dilations[1];
        if (h < 0 || h >= xs[2] || v < 0 || v >= xs[3]) continue;
        sum += x.data<double>()[((n * xs[1] + ic) * xs[2] + h) * xs[3] + v] *
               w.data<double>()[((oc * ws[1] + i) * ws[2] + kh) * ws[3] + kw];
      }
    }
  }
  return sum;
}

TEST(Conv, AgreesWithTheFormulaElementByElement) {
  const Tensor x = make_ramp<double>({2, 4, 7, 6}, -1, 0.037);
  const Tensor w = make_ramp<double>({6, 2, 3, 2}, 0.7, -0.11);
  const Ints strides{2, 1}, pads{1, 2, 2, 0}, dilations{1, 3};
  const Tensor y = run_op_single({"Conv",
                                  {x, w},
                                  make_attributes({{"group", 2},
                                                   {"strides", strides},
                                                   {"pads", pads},
                                                   {"dilations", dilations},
                                                   {"kernel_shape", Ints{3, 2}}})});
  ASSERT_FALSE(y.empty());
  ASSERT_EQ(y.shape(), (Shape{2, 6, 4, 5}));
  std::vector<double> expected;
  for (int64_t n = 0; n < 2; ++n) {
    for (int64_t oc = 0; oc < 6; ++oc) {
      for (int64_t h = 0; h < 4; ++h) {
        for (int64_t v = 0; v < 5; ++v) {
          expected.push_back(conv_at(x, w, strides, pads, dilations, 2, n, oc, h, v));
        }
      }
    }
  }
  expect_values<double>(y, {2, 6, 4, 5}, expected, 1e-6);
}

TEST(Conv, AnEmptyBatchGivesAnEmptyOutput) {
  const Tensor w = make_ramp<float>({4, 3, 2, 2});
  expect_values<float>(run_op_single({"Conv", {make_ramp<float>({0, 3, 5, 5}), w}}), {0, 4, 4, 4},
                       {});
}

TEST(Conv, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({1, 2, 4, 4});
  const Tensor w = make_ramp<float>({2, 2, 3, 3});
  const auto refuse = [&](std::initializer_list<std::pair<std::string_view, Attribute>> attributes,
                          std::string_view message) {
    expect_op_error({"Conv", {x, w}, make_attributes(attributes)}, message);
  };
  refuse({{"group", 0}}, "0 groups do not fit x of shape [1,2,4,4]");
  refuse({{"group", 2}}, "2 groups do not fit");
  refuse({{"strides", Ints{0, 1}}}, "attribute 'strides' contains 0");
  refuse({{"strides", 2}}, "attribute 'strides' is an int, but must be a list of ints");
  refuse({{"strides", Ints{1}}}, "attribute 'strides' has 1 values, but there are 2 spatial");
  refuse({{"pads", Ints{-1, 0, 0, 0}}}, "attribute 'pads' contains -1");
  refuse({{"pads", Ints{1, 1}}}, "attribute 'pads' has 2 values");
  refuse({{"dilations", Ints{INT64_MAX, 1}}}, "attribute 'dilations' contains");
  refuse({{"dilations", Ints{INT32_MAX, 1}}}, "the window spans");
  refuse({{"auto_pad", "SAME"}}, "auto_pad is 'SAME'");
  refuse({{"kernel_shape", Ints{2, 2}}}, "kernel_shape is [2,2], but w has shape [2,2,3,3]");
  expect_op_error({"Conv", {make_ramp<float>({2, 2}), w}}, "rank of 3 to 5");
  expect_op_error({"Conv", {x, make_ramp<float>({2, 1, 3, 3})}}, "groups do not fit");
  expect_op_error({"Conv", {x, make_ramp<float>({2, 2, 5, 3})}}, "the window spans 5 elements");
  expect_op_error({"Conv", {x, make_ramp<float>({2, 2, 0, 3})}}, "kernel size 0");
  expect_op_error({"Conv", {x, w, make_ramp<float>({3})}}, "B has shape [3], but must be [2]");
  expect_op_error({"Conv", {x, make_ramp<double>({2, 2, 3, 3})}}, "have types float32 and float64");
  expect_op_error({"Conv", {make_ramp<int32_t>({1, 2, 4, 4}), w}}, "type int32 of input 0 'X'");
}

}  // namespace
}  // namespace het::op_testing
