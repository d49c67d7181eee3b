#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

OpCall call(const std::vector<double>& region, const Ints& size, Attributes attributes = {}) {
  return {"CropAndResize",
          {make_tensor<float>({1, 1, 2, 3}, {0, 1, 2, 3, 4, 5}), make_tensor<float>({1, 4}, region),
           make_tensor<int32_t>({1}, {0}), int64_tensor(size)},
          std::move(attributes),
          1,
          "com.microsoft"};
}

TEST(CropAndResize, CornersAreAligned) {
  expect_values<float>(run_op_single(call({0, 0, 1, 1}, {3, 2})), {1, 1, 3, 2},
                       {0, 2, 1.5, 3.5, 3, 5});
  // One row and column: the middle of the region, row 0.5 and column 1.
  expect_values<float>(run_op_single(call({0, 0, 1, 1}, {1, 1})), {1, 1, 1, 1}, {2.5});
  expect_values<float>(
      run_op_single(call({0, 0, 0, 1}, {1, 3}, make_attributes({{"mode", "nearest"}}))),
      {1, 1, 1, 3}, {0, 1, 2});
}

TEST(CropAndResize, OutsideIsExtrapolatedAndBadRegionsAreRefused) {
  const auto nine = make_attributes({{"extrapolation_value", 9.0f}});
  expect_values<float>(run_op_single(call({0, 0, 0, 2}, {1, 3}, nine)), {1, 1, 1, 3}, {0, 2, 9});
  OpCall bad = call({0, 0, 1, 1}, {0, 2});
  expect_op_error(bad, "two sizes above 0");
  bad = call({0, 0, 1, 1}, {1, 1});
  bad.inputs[2] = make_tensor<int32_t>({1}, {1});
  expect_op_error(bad, "region 0 is of picture 1");
}

}  // namespace
}  // namespace het
