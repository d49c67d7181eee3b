#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(Dropout, IsIdentityWithAFullMask) {
  const OpCall call{
      "Dropout", {make_ramp<float>({2, 2}), Tensor::scalar(0.5f), Tensor::scalar(false)}, {}, 2};
  const std::vector<Tensor> outputs = run_op_ok(call);
  expect_near(outputs[0], make_ramp<float>({2, 2}));
  expect_values<bool>(outputs[1], {2, 2}, {1, 1, 1, 1});
  expect_near(run_op_single({"Dropout", {make_ramp<double>({3})}}), make_ramp<double>({3}));
  expect_near(run_op_single(
                  {"Dropout", {make_ramp<float>({3}), Tensor::scalar(0.0f), Tensor::scalar(true)}}),
              make_ramp<float>({3}));
  expect_op_error({"Dropout", {make_ramp<float>({1}), Tensor::scalar(0.5f), Tensor::scalar(true)}},
                  "training_mode");
}

}  // namespace
}  // namespace het::op_testing
