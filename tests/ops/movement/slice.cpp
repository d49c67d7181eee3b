#include "inference/ops/movement/slice.h"

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall slice(const Tensor& x, const Ints& starts, const Ints& ends, const Ints& axes = {},
             const Ints& steps = {}) {
  return {
      "Slice",
      {x, int64_tensor(starts), int64_tensor(ends), axes.empty() ? Tensor() : int64_tensor(axes),
       steps.empty() ? Tensor() : int64_tensor(steps)}};
}

TEST(Slice, StartsEndsAxesSteps) {
  const Tensor x = make_ramp<float>({2, 4}, 1);
  expect_values<float>(run_op_single(slice(x, {1, 0}, {2, 3}, {0, 1}, {1, 2})), {1, 2}, {5, 7});
  expect_values<float>(run_op_single(slice(x, {0, 1}, {-1, 1000})), {1, 3}, {2, 3, 4});
  expect_values<float>(run_op_single(slice(x, {1}, {3}, {-1})), {2, 2}, {2, 3, 6, 7});
  expect_values<float>(run_op_single(slice(x, {1}, {2})), {1, 4}, {5, 6, 7, 8});
}

TEST(Slice, Backwards) {
  const Tensor x = make_ramp<int32_t>({5});
  expect_values<int32_t>(run_op_single(slice(x, {-1}, {INT64_MIN}, {0}, {-1})), {5},
                         {4, 3, 2, 1, 0});
  expect_values<int32_t>(run_op_single(slice(x, {4}, {0}, {0}, {-2})), {2}, {4, 2});
  expect_values<int32_t>(run_op_single(slice(x, {100}, {-4}, {0}, {-1})), {3}, {4, 3, 2});
  // ONNX clamps a backward start to the first element, where NumPy would give nothing.
  expect_values<int32_t>(run_op_single(slice(x, {-100}, {INT64_MIN}, {0}, {-1})), {1}, {0});
  expect_values<int32_t>(run_op_single(slice(x, {2}, {INT64_MIN}, {0}, {INT64_MIN})), {1}, {2});
  expect_values<int32_t>(run_op_single(slice(x, {2}, {INT64_MAX}, {0}, {INT64_MAX})), {1}, {2});
}

TEST(Slice, ClampsToNothing) {
  const Tensor x = make_ramp<float>({3, 2});
  expect_values<float>(run_op_single(slice(x, {5}, {9})), {0, 2}, {});
  expect_values<float>(run_op_single(slice(x, {2}, {1})), {0, 2}, {});
  expect_values<float>(run_op_single(slice(make_ramp<float>({0, 2}), {0}, {9})), {0, 2}, {});
  expect_values<float>(run_op_single(slice(make_ramp<float>({0}), {-1}, {-9}, {0}, {-1})), {0}, {});
}

TEST(Slice, Int32PositionsAndOtherTypes) {
  expect_values<uint8_t>(run_op_single({"Slice",
                                        {make_ramp<uint8_t>({4}), Tensor::from<int32_t>({1}, {1}),
                                         Tensor::from<int32_t>({1}, {2147483647})}}),
                         {3}, {1, 2, 3});
  expect_values<Float16>(run_op_single(slice(make_ramp<Float16>({4}), {1}, {3})), {2}, {1, 2});
}

TEST(Slice, RefusesWrongLists) {
  const Tensor x = make_ramp<float>({2, 3});
  expect_op_error(slice(x, {0}, {1, 2}), "equally many");
  expect_op_error(slice(x, {0, 0, 0}, {1, 1, 1}), "equally many");
  expect_op_error(slice(x, {0}, {1}, {0, 1}), "equally many");
  expect_op_error(slice(x, {0}, {1}, {0}, {1, 1}), "equally many");
  expect_op_error(slice(x, {0}, {1}, {2}), "axis 2");
  expect_op_error(slice(x, {0, 0}, {1, 1}, {0, -2}), "twice");
  expect_op_error(slice(x, {0}, {1}, {0}, {0}), "step of axis 0 is 0");
  expect_op_error({"Slice", {x, int64_tensor({0}), Tensor(), int64_tensor({0})}}, "input 2");
}

}  // namespace
}  // namespace het::op_testing
