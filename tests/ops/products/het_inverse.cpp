#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(HetInverse, OfEveryMatrix) {
  // [[1, 2], [3, 5]] has determinant -1; a permutation needs another pivot.
  const Tensor x = make_tensor<float>({2, 2, 2}, {1, 2, 3, 5, 0, 2, 1, 0});
  expect_values<float>(run_op_single({"Inverse", {x}, {}, 1, "het"}), {2, 2, 2},
                       {-5, 2, 3, -1, 0, 1, .5, 0});
  expect_values<float>(
      run_op_single({"Inverse", {x}, make_attributes({{"adjoint", int64_t{1}}}), 1, "het"}),
      {2, 2, 2}, {-5, 3, 2, -1, 0, .5, 1, 0});
  expect_values<float>(
      run_op_single({"Inverse", {make_tensor<float>({0, 3, 3}, {})}, {}, 1, "het"}), {0, 3, 3}, {});
}

TEST(HetInverse, RefusesWhatIsNotSquare) {
  expect_op_error({"Inverse", {make_ramp<float>({2, 3})}, {}, 1, "het"}, "[2,3] are not square");
}

}  // namespace
}  // namespace het::op_testing
