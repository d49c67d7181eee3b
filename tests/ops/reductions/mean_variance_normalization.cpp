#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(MeanVarianceNormalization, DefaultsToEachChannelOverBatchAndSpace) {
  const Tensor x = make_tensor<float>({2, 2, 1, 1}, {1, 10, 3, 50});
  expect_values<float>(run_op_single({"MeanVarianceNormalization", {x}}), {2, 2, 1, 1},
                       {-1, -1, 1, 1});
}

TEST(MeanVarianceNormalization, AxesSelectWhatIsAveraged) {
  const auto run = [&]<class T>() {
    const Tensor x = make_tensor<T>({2, 2}, {1, 3, 2, 6});
    const Tensor y =
        run_op_single({"MeanVarianceNormalization", {x}, make_attributes({{"axes", Ints{-1}}})});
    expect_values<T>(y, {2, 2}, {-1, 1, -1, 1});
  };
  run.template operator()<float>();
  run.template operator()<double>();
  run.template operator()<Float16>();
  run.template operator()<BFloat16>();
}

TEST(MeanVarianceNormalization, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 2});
  expect_op_error({"MeanVarianceNormalization", {x}}, "axis");
  expect_op_error({"MeanVarianceNormalization", {x}, make_attributes({{"axes", Ints{0, 0}}})},
                  "axis 0 is given twice");
  expect_op_error({"MeanVarianceNormalization", {x}, make_attributes({{"axes", 1}})},
                  "attribute 'axes' is an int");
}

}  // namespace
}  // namespace het::op_testing
