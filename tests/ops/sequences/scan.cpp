#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

/// state' = state + x; the slice is state' * 10.
std::shared_ptr<Model> adding_body() {
  auto body = std::make_shared<Model>("body");
  Value* state = body->add_input("state", {});
  Value* x = body->add_input("x", {});
  Value* next = body->add_node("add", "Add", "", {state, x}, {"next"})->output();
  Value* slice = body->add_node("mul", "Mul", "",
                                {next, body->add_constant("ten", Tensor::scalar(10.0f))}, {"slice"})
                     ->output();
  body->add_output("next", next);
  body->add_output("slice", slice);
  return body;
}

OpCall adding(const Tensor& x, const Tensor& state) {
  return {"Scan",
          {state, x},
          make_attributes({{"body", adding_body()}, {"num_scan_inputs", int64_t{1}}}),
          2};
}

TEST(Scan, SumsAlongTheFirstAxis) {
  const auto y = run_op_ok(
      adding(make_tensor<float>({3, 2}, {1, 2, 3, 4, 5, 6}), make_tensor<float>({2}, {0, 100})));
  expect_values<float>(y[0], {2}, {9, 112});
  expect_values<float>(y[1], {3, 2}, {10, 1020, 40, 1060, 90, 1120});
}

TEST(Scan, AxesAndDirections) {
  // Columns of [[1,2,3],[4,5,6]] from the last to the first; the sums become columns.
  OpCall call =
      adding(make_tensor<float>({2, 3}, {1, 2, 3, 4, 5, 6}), make_tensor<float>({2}, {0, 0}));
  call.attributes.set("scan_input_axes", Ints{-1});
  call.attributes.set("scan_input_directions", Ints{1});
  call.attributes.set("scan_output_axes", Ints{1});
  auto y = run_op_ok(call);
  expect_values<float>(y[0], {2}, {6, 15});
  expect_values<float>(y[1], {2, 3}, {30, 50, 60, 60, 110, 150});
  call.attributes.set("scan_output_axes", Ints{-1});
  call.attributes.set("scan_output_directions", Ints{1});
  y = run_op_ok(call);
  expect_values<float>(y[1], {2, 3}, {60, 50, 30, 150, 110, 60});
}

TEST(Scan, NoElements) {
  const auto y = run_op_ok(adding(make_tensor<float>({0, 2}, {}), make_tensor<float>({2}, {3, 4})));
  expect_values<float>(y[0], {2}, {3, 4});
  expect_values<float>(y[1], {0, 2}, {});
}

TEST(Scan, BadNodesAreRefused) {
  const Tensor x = make_ramp<float>({3, 2});
  const Tensor state = make_ramp<float>({2});
  OpCall call = adding(x, state);
  call.attributes.set("num_scan_inputs", int64_t{3});
  expect_op_error(call, "num_scan_inputs = 3 is not in 1 to 2");
  call = adding(x, state);
  call.attributes.set("scan_input_axes", Ints{2});
  expect_op_error(call, "scan_input_axes");
  call = adding(x, state);
  call.attributes.set("scan_input_directions", Ints{2});
  expect_op_error(call, "holds 2");
  call = adding(x, state);
  call.attributes.set("scan_output_axes", Ints{5});
  expect_op_error(call, "axis");
  call = {"Scan",
          {x, make_ramp<float>({4, 2})},
          make_attributes({{"body", adding_body()}, {"num_scan_inputs", int64_t{2}}}),
          2};
  expect_op_error(call, "have 3 and 4 elements");
}

}  // namespace
}  // namespace het::op_testing
