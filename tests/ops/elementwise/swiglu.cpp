#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

TEST(SwiGlu, GateTimesValue) {
  const double x = std::log(3.0);  // sigmoid 3/4
  OpCall call{"SwiGLU", {make_tensor<float>({2}, {x, 0}), make_tensor<float>({2}, {2, 5})}};
  expect_values<float>(run_op_single(call), {2}, {1.5 * x, 0});
  call.attributes = make_attributes({{"alpha", 2.0f}});  // sigmoid(2 ln 3) = 9/10
  expect_values<float>(run_op_single(call), {2}, {1.8 * x, 0});
  call.inputs[1] = make_tensor<float>({1}, {2});
  expect_op_error(call, "they must be equal");
}

}  // namespace
}  // namespace het
