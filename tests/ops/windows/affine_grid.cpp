#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall affine_grid(const Tensor& theta, const Ints& size, bool align_corners) {
  return {"AffineGrid",
          {theta, int64_tensor(size)},
          make_attributes({{"align_corners", static_cast<int64_t>(align_corners)}})};
}

TEST(AffineGrid, IdentityAndTranslation) {
  const Tensor identity = make_tensor<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  expect_values<float>(run_op_single(affine_grid(identity, {1, 1, 2, 2}, true)), {1, 2, 2, 2},
                       {-1, -1, 1, -1, -1, 1, 1, 1});
  expect_values<float>(run_op_single(affine_grid(identity, {1, 1, 1, 2}, false)), {1, 1, 2, 2},
                       {-0.5, 0, 0.5, 0});
  expect_values<double>(
      run_op_single(
          affine_grid(make_tensor<double>({1, 2, 3}, {2, 1, 10, 0, 1, 20}), {1, 3, 1, 2}, true)),
      {1, 1, 2, 2}, {8, 20, 12, 20});
}

TEST(AffineGrid, VolumesZeroSizesAndRefusals) {
  const Tensor theta = make_tensor<float>({1, 3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 5});
  expect_values<float>(run_op_single(affine_grid(theta, {1, 1, 2, 1, 1}, true)), {1, 2, 1, 1, 3},
                       {0, 0, 4, 0, 0, 6});
  expect_values<float>(run_op_single(affine_grid(theta, {1, 1, 0, 1, 1}, false)), {1, 0, 1, 1, 3},
                       {});
  expect_op_error(affine_grid(theta, {1, 1, 2, 2}, false), "[N,2,3]");
  expect_op_error(affine_grid(theta, {2, 1, 2, 2, 2}, false), "does not fit");
}

}  // namespace
}  // namespace het::op_testing
