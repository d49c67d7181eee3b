#include <limits>

#include "op_testing.h"

/// Operators that pick or mark elements by their content: OneHot, NonZero, Compress, Unique.
namespace het::op_testing {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

OpCall one_hot(const Tensor& indices, const Tensor& depth, const Tensor& values,
               int64_t axis = -1) {
  return {"OneHot", {indices, depth, values}, make_attributes({{"axis", axis}})};
}

TEST(OneHot, EveryAxis) {
  const Tensor values = make_tensor<float>({2}, {2, 5});
  const Tensor indices = int64_tensor({1, -1, 7});
  expect_values<float>(run_op_single(one_hot(indices, Tensor::scalar<int64_t>(3), values)), {3, 3},
                       {2, 5, 2, 2, 2, 5, 2, 2, 2});
  expect_values<float>(run_op_single(one_hot(indices, int64_tensor({3}), values, 0)), {3, 3},
                       {2, 2, 2, 5, 2, 2, 2, 5, 2});
  expect_values<uint8_t>(
      run_op_single(one_hot(make_tensor<float>({2, 1}, {0.9, 1}), make_tensor<float>({}, {2}),
                            make_tensor<uint8_t>({2}, {0, 1}), 1)),
      {2, 2, 1}, {1, 0, 0, 1});
}

TEST(OneHot, ZeroSizesAndRefusals) {
  const Tensor values = make_ramp<float>({2});
  expect_values<float>(run_op_single(one_hot(int64_tensor({}), int64_tensor({3}), values)), {0, 3},
                       {});
  expect_values<float>(run_op_single(one_hot(int64_tensor({1}), int64_tensor({0}), values)), {1, 0},
                       {});
  expect_op_error(one_hot(int64_tensor({1}), int64_tensor({-1}), values), "depth is -1");
  expect_op_error(one_hot(int64_tensor({1}), int64_tensor({1, 2}), values), "one number");
  expect_op_error(one_hot(int64_tensor({1}), int64_tensor({1}), make_ramp<float>({3})), "two");
  expect_op_error(one_hot(int64_tensor({1}), int64_tensor({1}), values, 2), "axis 2");
}

TEST(NonZero, ListsCoordinates) {
  expect_values<int64_t>(run_op_single({"NonZero", {make_tensor<bool>({2, 2}, {1, 0, 1, 1})}}),
                         {2, 3}, {0, 1, 1, 0, 0, 1});
  expect_values<int64_t>(run_op_single({"NonZero", {make_tensor<float>({4}, {0, -0.0, 2, kNaN})}}),
                         {1, 2}, {2, 3});
  expect_values<int64_t>(run_op_single({"NonZero", {make_ramp<float>({2, 0})}}), {2, 0}, {});
  expect_values<int64_t>(run_op_single({"NonZero", {make_ramp<float>({}, 1)}}), {0, 1}, {});
}

OpCall compress(const Tensor& x, const std::vector<double>& condition) {
  return {"Compress", {x, make_tensor<bool>({static_cast<int64_t>(condition.size())}, condition)}};
}

TEST(Compress, KeepsSlicesOrElements) {
  const Tensor x = make_ramp<float>({3, 2}, 1);
  OpCall rows = compress(x, {0, 1, 1});
  rows.attributes = make_attributes({{"axis", int64_t{0}}});
  expect_values<float>(run_op_single(rows), {2, 2}, {3, 4, 5, 6});
  OpCall columns = compress(x, {0, 1});
  columns.attributes = make_attributes({{"axis", int64_t{-1}}});
  expect_values<float>(run_op_single(columns), {3, 1}, {2, 4, 6});
  expect_values<float>(run_op_single(compress(x, {0, 1, 0, 0, 1})), {2}, {2, 5});
}

TEST(Compress, ZeroSizesAndRefusals) {
  const Tensor x = make_ramp<float>({2});
  expect_values<float>(run_op_single(compress(x, {})), {0}, {});
  expect_values<float>(run_op_single(compress(x, {0, 0, 0})), {0}, {});
  expect_op_error(compress(x, {0, 0, 1}), "position 2");
  expect_op_error({"Compress", {x, x}}, "float32");
}

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
