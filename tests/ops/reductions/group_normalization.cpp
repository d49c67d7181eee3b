#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(GroupNormalization, NormalisesEachGroupAndScalesEachChannel) {
  // Groups (1,3,1,3) and (0,4,0,4): means 2, variances 1 and 4.
  const Tensor x = make_tensor<float>({1, 4, 2}, {1, 3, 1, 3, 0, 4, 0, 4});
  const Tensor scale = make_tensor<float>({4}, {1, 2, 3, 4});
  const Tensor bias = make_tensor<float>({4}, {0, 0, 10, 20});
  const Tensor y = run_op_single({"GroupNormalization",
                                  {x, scale, bias},
                                  make_attributes({{"num_groups", 2}, {"epsilon", 0.0f}})});
  expect_values<float>(y, {1, 4, 2}, {-1, 1, -2, 2, 7, 13, 16, 24});
}

TEST(InstanceNormalization, NormalisesEachChannelOfEachImage) {
  const auto run = [&]<class T>() {
    const Tensor x = make_tensor<T>({2, 1, 2}, {1, 3, 10, 30});
    const Tensor y = run_op_single({"InstanceNormalization",
                                    {x, make_tensor<T>({1}, {2}), make_tensor<T>({1}, {1})},
                                    make_attributes({{"epsilon", 0.0f}})});
    expect_values<T>(y, {2, 1, 2}, {-1, 3, -1, 3});
  };
  run.template operator()<float>();
  run.template operator()<double>();
  run.template operator()<Float16>();
  run.template operator()<BFloat16>();
}

TEST(InstanceNormalization, EpsilonBoundsTheFactor) {
  const Tensor one = make_tensor<float>({1}, {1});
  const Tensor y = run_op_single({"InstanceNormalization",
                                  {make_tensor<float>({1, 1, 2}, {1, 3}), one, one},
                                  make_attributes({{"epsilon", 3.0f}})});
  expect_values<float>(y, {1, 1, 2}, {0.5, 1.5});
}

TEST(GroupNormalization, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({1, 4, 2});
  const Tensor good = make_ramp<float>({4});
  const auto groups = [](int64_t n) { return make_attributes({{"num_groups", n}}); };
  expect_op_error({"GroupNormalization", {x, good, good}}, "attribute 'num_groups'");
  expect_op_error({"GroupNormalization", {x, good, good}, groups(3)}, "3 groups do not divide");
  expect_op_error({"GroupNormalization", {x, good, good}, groups(0)}, "0 groups do not divide");
  expect_op_error({"GroupNormalization", {x, good, good}, groups(-2)}, "-2 groups do not divide");
  expect_op_error({"GroupNormalization", {x, make_ramp<float>({2}), good}, groups(2)},
                  "scale has shape [2]");
  expect_op_error({"GroupNormalization", {x, good, make_ramp<double>({4})}, groups(2)},
                  "types float32 and float64");
  expect_op_error({"InstanceNormalization", {make_ramp<float>({4, 4}), good, good}},
                  "rank must be at least 3");
}

}  // namespace
}  // namespace het::op_testing
