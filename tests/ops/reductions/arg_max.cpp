#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

const Tensor& picture() {
  static const Tensor x = make_tensor<float>({2, 3}, {1, 5, 5, 7, 2, 2});
  return x;
}

TEST(ArgMax, DefaultsToTheFirstAxisAndKeepsIt) {
  expect_values<int64_t>(run_op_single({"ArgMax", {picture()}}), {1, 3}, {1, 0, 0});
  expect_values<int64_t>(run_op_single({"ArgMin", {picture()}}), {1, 3}, {0, 1, 1});
}

TEST(ArgMax, FirstOrLastOfEqualExtremes) {
  const auto run = [](const char* type, int64_t last) {
    return run_op_single(
        {type,
         {picture()},
         make_attributes({{"axis", -1}, {"keepdims", int64_t{0}}, {"select_last_index", last}})});
  };
  expect_values<int64_t>(run("ArgMax", 0), {2}, {1, 0});
  expect_values<int64_t>(run("ArgMax", 1), {2}, {2, 0});
  expect_values<int64_t>(run("ArgMin", 0), {2}, {0, 1});
  expect_values<int64_t>(run("ArgMin", 1), {2}, {0, 2});
}

TEST(ArgMax, NanIsTheExtreme) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = make_tensor<float>({5}, {1, nan, 9, nan, -9});
  const Attributes last = make_attributes({{"select_last_index", 1}});
  expect_values<int64_t>(run_op_single({"ArgMax", {x}}), {1}, {1});
  expect_values<int64_t>(run_op_single({"ArgMin", {x}}), {1}, {1});
  expect_values<int64_t>(run_op_single({"ArgMax", {x}, last}), {1}, {3});
}

TEST(ArgMax, OtherTypesAndEmptyTensors) {
  expect_values<int64_t>(run_op_single({"ArgMax", {make_tensor<uint8_t>({3}, {1, 255, 3})}}), {1},
                         {1});
  expect_values<int64_t>(run_op_single({"ArgMin", {make_tensor<Float16>({3}, {1, -4, 3})}}), {1},
                         {1});
  expect_values<int64_t>(run_op_single({"ArgMax", {make_tensor<float>({2, 0}, {})}}), {1, 0}, {});
}

TEST(ArgMax, RefusesBadInput) {
  expect_op_error({"ArgMax", {make_tensor<float>({2, 0}, {})}, make_attributes({{"axis", 1}})},
                  "there is no extreme");
  expect_op_error({"ArgMax", {picture()}, make_attributes({{"axis", 2}})}, "axis");
  expect_op_error({"ArgMin", {make_tensor<bool>({2}, {0, 1})}}, "bool");
}

}  // namespace
}  // namespace het::op_testing
