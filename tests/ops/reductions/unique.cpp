#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

std::vector<Tensor> unique(const Tensor& x, const Attributes& attributes) {
  return run_op_ok({"Unique", {x}, attributes, 4});
}

TEST(Unique, SortedAndInOrderOfAppearance) {
  const Tensor x = make_tensor<float>({6}, {2, 1, 1, 3, 4, 3});
  const std::vector<Tensor> first = unique(x, make_attributes({{"sorted", int64_t{0}}}));
  expect_values<float>(first[0], {4}, {2, 1, 3, 4});
  expect_values<int64_t>(first[1], {4}, {0, 1, 3, 4});
  expect_values<int64_t>(first[2], {6}, {0, 1, 1, 2, 3, 2});
  expect_values<int64_t>(first[3], {4}, {1, 2, 2, 1});
  const std::vector<Tensor> sorted = unique(make_tensor<int8_t>({2, 2}, {1, 3, 2, 3}), {});
  expect_values<int8_t>(sorted[0], {3}, {1, 2, 3});
  expect_values<int64_t>(sorted[1], {3}, {0, 2, 1});
  expect_values<int64_t>(sorted[2], {4}, {0, 2, 1, 2});
  expect_values<int64_t>(sorted[3], {3}, {1, 1, 2});
}

TEST(Unique, SlicesAlongAnAxis) {
  const std::vector<Tensor> rows = unique(make_tensor<float>({3, 3}, {1, 0, 0, 1, 0, 0, 2, 3, 4}),
                                          make_attributes({{"axis", int64_t{0}}}));
  expect_values<float>(rows[0], {2, 3}, {1, 0, 0, 2, 3, 4});
  expect_values<int64_t>(rows[1], {2}, {0, 2});
  expect_values<int64_t>(rows[2], {3}, {0, 0, 1});
  expect_values<int64_t>(rows[3], {2}, {2, 1});
  const std::vector<Tensor> columns = unique(make_tensor<float>({2, 4}, {1, 0, 2, 0, 1, 1, 1, 1}),
                                             make_attributes({{"axis", int64_t{-1}}}));
  expect_values<float>(columns[0], {2, 3}, {0, 1, 2, 1, 1, 1});
  expect_values<int64_t>(columns[2], {4}, {1, 0, 2, 0});
}

TEST(Unique, NaNIsOneValueAndEmptyInputsWork) {
  expect_values<float>(run_op_single({"Unique", {make_tensor<float>({3}, {kNaN, 1, kNaN})}}), {2},
                       {1, kNaN});
  const std::vector<Tensor> none = unique(make_ramp<float>({0}), {});
  expect_values<float>(none[0], {0}, {});
  expect_values<int64_t>(none[3], {0}, {});
  expect_op_error({"Unique", {make_ramp<float>({2})}, make_attributes({{"axis", int64_t{1}}})},
                  "axis 1");
}

}  // namespace
}  // namespace het::op_testing
