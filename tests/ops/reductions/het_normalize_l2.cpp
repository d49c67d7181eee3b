#include <cmath>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall normalize(const Tensor& x, const std::vector<int64_t>& axes, float eps, const char* mode) {
  return {"NormalizeL2",
          {x, int64_tensor(axes)},
          make_attributes({{"eps", eps}, {"eps_mode", mode}}),
          1,
          "het"};
}

TEST(HetNormalizeL2, DividesByTheNorm) {
  const Tensor x = make_tensor<float>({1, 2, 2}, {3, 0, 4, 2});
  expect_values<float>(run_op_single(normalize(x, {1}, 0, "add")), {1, 2, 2}, {.6, 0, .8, 1});
  expect_values<float>(run_op_single(normalize(x, {-1, 1}, 0, "max")), {1, 2, 2},
                       {3 / std::sqrt(29.), 0, 4 / std::sqrt(29.), 2 / std::sqrt(29.)});
}

TEST(HetNormalizeL2, EpsIsAddedOrALowerLimit) {
  const Tensor x = make_tensor<float>({1, 2}, {3, 4});
  expect_values<float>(run_op_single(normalize(x, {1}, 75, "add")), {1, 2}, {.3, .4});
  expect_values<float>(run_op_single(normalize(x, {1}, 100, "max")), {1, 2}, {.3, .4});
  expect_values<float>(run_op_single(normalize(x, {1}, 1, "max")), {1, 2}, {.6, .8});
}

TEST(HetNormalizeL2, NoAxesAndNoElements) {
  expect_values<Float16>(run_op_single(normalize(make_tensor<Float16>({2}, {-3, 8}), {}, 0, "add")),
                         {2}, {-1, 1});
  expect_values<float>(run_op_single(normalize(make_tensor<float>({0, 2}, {}), {1}, 1, "add")),
                       {0, 2}, {});
}

TEST(HetNormalizeL2, RefusesBadInput) {
  const Tensor x = make_tensor<float>({1, 2}, {3, 4});
  expect_op_error(normalize(x, {1}, 0, "min"), "'min'");
  expect_op_error(normalize(x, {2}, 0, "max"), "2");
  expect_op_error({"NormalizeL2", {x, int64_tensor({1})}, {}, 1, "het"}, "eps");
}

}  // namespace
}  // namespace het::op_testing
