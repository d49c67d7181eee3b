#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall fake_quantize(const Tensor& x, const std::vector<Tensor>& limits, int64_t levels,
                     Attributes attributes = {}) {
  OpCall call{"FakeQuantize", {x}, std::move(attributes), 1, "het"};
  call.inputs.insert(call.inputs.end(), limits.begin(), limits.end());
  call.attributes.set("levels", levels);
  return call;
}

template <class T = float>
std::vector<Tensor> scalars(const std::vector<double>& values) {
  std::vector<Tensor> tensors;
  for (const double value : values) tensors.push_back(make_tensor<T>({}, {value}));
  return tensors;
}

TEST(HetFakeQuantize, RoundsToLevelsOfTheOutputRange) {
  // Levels 0, 1, 2, 3, 4 stand for 0, 2, 4, 6, 8 in the input and for -1, 0, 1, 2, 3 in the output.
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = make_tensor<float>({8}, {-5, 0, 0.9, 1.1, 4, 7.5, 8, nan});
  expect_values<float>(run_op_single(fake_quantize(x, scalars({0, 8, -1, 3}), 5)), {8},
                       {-1, -1, -1, 0, 1, 3, 3, nan});
}

TEST(HetFakeQuantize, HalvesGoToTheEvenLevel) {
  const Tensor x = make_tensor<float>({4}, {1, 3, 5, 7});
  expect_values<float>(run_op_single(fake_quantize(x, scalars({0, 8, 0, 4}), 5)), {4},
                       {0, 2, 2, 4});
}

TEST(HetFakeQuantize, EqualLimitsMakeItBinary) {
  const Tensor x = make_tensor<float>({3}, {.4, .5, .6});
  expect_values<float>(run_op_single(fake_quantize(x, scalars({.5, .5, -1, 1}), 2)), {3},
                       {-1, -1, 1});
}

TEST(HetFakeQuantize, LimitsInReverseOrder) {
  // x <= 0 gives output_low, x > 8 output_high; between them the position counts from 8.
  const Tensor x = make_tensor<float>({4}, {-1, 2, 8, 9});
  expect_values<float>(run_op_single(fake_quantize(x, scalars({8, 0, 10, 14}), 5)), {4},
                       {10, 13, 10, 14});
}

TEST(HetFakeQuantize, LimitsPerChannel) {
  const Tensor x = make_tensor<float>({1, 2, 3}, {-1, .6, 9, -1, .6, 9});
  const std::vector<Tensor> limits{make_tensor<float>({1, 2, 1}, {0, -1}),
                                   make_tensor<float>({2, 1}, {1, 1}), make_tensor<float>({}, {0}),
                                   make_tensor<float>({1, 2, 1}, {1, 2})};
  // Steps of 1 / 2: channel 0 has 0, .5, 1; channel 1 has the levels -1, 0, 1 that give 0, 1, 2.
  expect_values<float>(run_op_single(fake_quantize(x, limits, 3)), {1, 2, 3}, {0, .5, 1, 0, 2, 2});
}

TEST(HetFakeQuantize, OtherTypesAndNoElements) {
  expect_values<Float16>(run_op_single(fake_quantize(make_tensor<Float16>({2}, {1.5, 300}),
                                                     scalars<Float16>({0, 255, 0, 255}), 256)),
                         {2}, {2, 255});
  expect_values<double>(run_op_single(fake_quantize(make_tensor<double>({2}, {.2, .7}),
                                                    scalars<double>({0, 1, 0, 1}), 2)),
                        {2}, {0, 1});
  expect_values<float>(
      run_op_single(fake_quantize(make_tensor<float>({0, 3}, {}), scalars({0, 1, 0, 1}), 2)),
      {0, 3}, {});
}

TEST(HetFakeQuantize, RefusesBadInput) {
  const Tensor x = make_tensor<float>({2}, {1, 2});
  const std::vector<Tensor> good = scalars({0, 1, 0, 1});
  expect_op_error(fake_quantize(x, good, 1), "levels is 1");
  expect_op_error(fake_quantize(x, good, int64_t{1} << 40), "levels is 1099511627776");
  expect_op_error(fake_quantize(x, good, 4, make_attributes({{"auto_broadcast", "pdpd"}})),
                  "'pdpd'");
  expect_op_error(fake_quantize(x, good, 4, make_attributes({{"auto_broadcast", "none"}})),
                  "needs equal shapes");
  std::vector<Tensor> wrong = good;
  wrong[1] = make_tensor<float>({3, 1}, {1, 1, 1});
  expect_op_error(fake_quantize(x, wrong, 4), "cannot be broadcast to X's shape [2]");
  wrong[1] = make_tensor<double>({}, {1});
  expect_op_error(fake_quantize(x, wrong, 4), "float64");
}

}  // namespace
}  // namespace het::op_testing
