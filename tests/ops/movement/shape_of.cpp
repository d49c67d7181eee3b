#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Shape, ReportsChosenDimensions) {
  const Tensor x = make_ramp<uint8_t>({2, 3, 4});
  const auto shape = [&](const Attributes& attributes) {
    return run_op_single({"Shape", {x}, attributes});
  };
  expect_values<int64_t>(shape({}), {3}, {2, 3, 4});
  expect_values<int64_t>(shape(make_attributes({{"start", int64_t{1}}})), {2}, {3, 4});
  expect_values<int64_t>(shape(make_attributes({{"end", int64_t{-1}}})), {2}, {2, 3});
  expect_values<int64_t>(shape(make_attributes({{"start", int64_t{-9}}, {"end", int64_t{9}}})), {3},
                         {2, 3, 4});
  expect_values<int64_t>(shape(make_attributes({{"start", int64_t{2}}, {"end", int64_t{1}}})), {0},
                         {});
  expect_values<int64_t>(run_op_single({"Shape", {make_ramp<float>({})}}), {0}, {});
}

TEST(Size, CountsElements) {
  expect_values<int64_t>(run_op_single({"Size", {make_ramp<float>({2, 3})}}), {}, {6});
  expect_values<int64_t>(run_op_single({"Size", {make_ramp<float>({2, 0})}}), {}, {0});
  expect_values<int64_t>(run_op_single({"Size", {make_ramp<float>({})}}), {}, {1});
}

}  // namespace
}  // namespace het::op_testing
