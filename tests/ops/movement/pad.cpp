#include "inference/ops/movement/pad.h"

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

OpCall pad(const Tensor& x, const Ints& pads, const std::string& mode, const Tensor& value = {},
           const Tensor& axes = {}) {
  return {"Pad", {x, int64_tensor(pads), value, axes}, make_attributes({{"mode", mode}})};
}

const Tensor& matrix() {
  static const Tensor tensor = make_tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6});
  return tensor;
}

TEST(Pad, Constant) {
  expect_values<float>(run_op_single(pad(matrix(), {0, 2, 0, 0}, "constant")), {3, 4},
                       {0, 0, 1, 2, 0, 0, 3, 4, 0, 0, 5, 6});
  expect_values<float>(run_op_single(pad(matrix(), {1, 0, 0, 1}, "constant", Tensor::scalar(9.0f))),
                       {4, 3}, {9, 9, 9, 1, 2, 9, 3, 4, 9, 5, 6, 9});
  expect_values<bool>(
      run_op_single(pad(make_tensor<bool>({1}, {0}), {1, 0}, "constant", Tensor::scalar(true))),
      {2}, {1, 0});
}

TEST(Pad, Reflect) {
  expect_values<float>(run_op_single(pad(make_ramp<float>({3}), {2, 2}, "reflect")), {7},
                       {2, 1, 0, 1, 2, 1, 0});
  // further than the picture is wide: it goes on swinging
  expect_values<float>(run_op_single(pad(make_ramp<float>({3}), {5, 0}, "reflect")), {8},
                       {1, 0, 1, 2, 1, 0, 1, 2});
  expect_values<float>(run_op_single(pad(make_ramp<float>({1}, 7), {2, 1}, "reflect")), {4},
                       {7, 7, 7, 7});
}

TEST(Pad, EdgeAndWrap) {
  expect_values<float>(run_op_single(pad(matrix(), {1, 1, 0, 1}, "edge")), {4, 4},
                       {1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6});
  expect_values<float>(run_op_single(pad(matrix(), {2, 1, 1, 1}, "wrap")), {6, 4},
                       {4, 3, 4, 3, 6, 5, 6, 5, 2, 1, 2, 1, 4, 3, 4, 3, 6, 5, 6, 5, 2, 1, 2, 1});
}

TEST(Pad, NegativeWidthsCutOff) {
  expect_values<float>(run_op_single(pad(make_ramp<float>({5}), {-1, -2}, "constant")), {2},
                       {1, 2});
  expect_values<float>(run_op_single(pad(make_ramp<float>({5}), {-1, 2}, "constant")), {6},
                       {1, 2, 3, 4, 0, 0});
  expect_values<float>(run_op_single(pad(make_ramp<float>({5}), {-2, 2}, "reflect")), {5},
                       {2, 3, 4, 3, 2});
}

TEST(Pad, ChosenAxes) {
  expect_values<float>(run_op_single(pad(matrix(), {1, 0}, "constant", {}, int64_tensor({-1}))),
                       {3, 3}, {0, 1, 2, 0, 3, 4, 0, 5, 6});
  expect_values<float>(
      run_op_single(pad(matrix(), {0, 1}, "edge", {}, Tensor::from<int32_t>({1}, {0}))), {4, 2},
      {1, 2, 3, 4, 5, 6, 5, 6});
  expect_near(run_op_single(pad(matrix(), {}, "constant", {}, int64_tensor({}))), matrix());
}

TEST(Pad, ZeroSizes) {
  expect_values<float>(run_op_single(pad(make_ramp<float>({0, 2}), {1, 0, 1, 0}, "constant")),
                       {2, 2}, {0, 0, 0, 0});
  expect_values<float>(run_op_single(pad(make_ramp<float>({0, 2}), {0, 1, 0, 0}, "edge")), {0, 3},
                       {});
  expect_near(run_op_single(pad(make_ramp<float>({}, 5), {}, "constant")), make_ramp<float>({}, 5));
  expect_op_error(pad(make_ramp<float>({0}), {1, 0}, "edge"), "nothing to repeat");
}

TEST(Pad, RefusesWhatDoesNotFit) {
  expect_op_error(pad(matrix(), {1, 1}, "constant"), "pads has 2 entries");
  expect_op_error(pad(matrix(), {1, 1}, "mirror"), "'mirror'");
  expect_op_error(pad(matrix(), {-2, 0, -2, 0}, "constant"), "cannot pad dimension 0");
  expect_op_error(pad(matrix(), {INT64_MAX, 0, 1, 0}, "constant"), "cannot pad dimension 0");
  expect_op_error(pad(matrix(), {INT64_MIN, 0, 0, 0}, "constant"), "cannot pad dimension 0");
  expect_op_error(pad(matrix(), {0, 0}, "constant", {}, int64_tensor({2})), "axis 2");
  expect_op_error(pad(matrix(), {0, 0, 0, 0}, "constant", Tensor::scalar(1.0)),
                  "float32 and float64");
  expect_op_error(pad(matrix(), {0, 0, 0, 0}, "constant", make_ramp<float>({2})), "constant_value");
}

}  // namespace
}  // namespace het::op_testing
