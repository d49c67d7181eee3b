#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

Tensor one(double value) {
  return make_tensor<float>({1}, {value});
}

OpCall call(const char* type, double rate, int64_t updates, std::vector<Tensor> tensors,
            Attributes attributes, size_t outputs) {
  OpCall result{type,
                {one(rate), Tensor::scalar(updates)},
                std::move(attributes),
                outputs,
                "ai.onnx.preview.training"};
  result.inputs.insert(result.inputs.end(), tensors.begin(), tensors.end());
  return result;
}

TEST(GradientStep, Adagrad) {
  // r = 2 / (1 + 3 / 3) = 1, G = 0.5 * 2 + 3 = 4, H = 9 + 16 = 25, X = 2 - 4 / 5.
  const auto outputs = run_op_ok(call(
      "Adagrad", 2, 3, {one(2), one(3), one(9)},
      make_attributes({{"norm_coefficient", 0.5f}, {"decay_factor", 1.0f / 3}, {"epsilon", 0.0f}}),
      2));
  expect_values<float>(outputs[0], {1}, {1.2});
  expect_values<float>(outputs[1], {1}, {25});
}

TEST(GradientStep, Adam) {
  const auto attributes = make_attributes(
      {{"alpha", 0.5f}, {"beta", 0.75f}, {"epsilon", 0.0f}, {"norm_coefficient_post", 0.5f}});
  // V = 2 + 2 = 4, H = 0.75 * 28 + 0.25 * 16 = 25; R stays at T = 0.
  auto outputs = run_op_ok(call("Adam", 1, 0, {one(2), one(4), one(4), one(28)}, attributes, 3));
  expect_values<float>(outputs[0], {1}, {0.5 * (2 - 4.0 / 5)});
  expect_values<float>(outputs[1], {1}, {4});
  expect_values<float>(outputs[2], {1}, {25});
  // T = 1: R * sqrt(1 / 4) / (1 / 2) = R.
  outputs = run_op_ok(call("Adam", 1, 1, {one(2), one(4), one(4), one(28)}, attributes, 3));
  expect_values<float>(outputs[0], {1}, {0.6});
}

TEST(GradientStep, MomentumOfTwoTensors) {
  const auto run = [](const char* mode, int64_t updates) {
    return run_op_ok(
        call("Momentum", 0.5, updates, {one(1), one(2), one(3), one(4), one(10), one(20)},
             make_attributes({{"alpha", 0.1f}, {"beta", 2.0f}, {"mode", std::string(mode)}}), 4));
  };
  auto outputs = run("standard", 1);  // V = 1 + 6 and 2 + 8
  expect_values<float>(outputs[0], {1}, {1 - 3.5});
  expect_values<float>(outputs[1], {1}, {2 - 5});
  expect_values<float>(outputs[2], {1}, {7});
  expect_values<float>(outputs[3], {1}, {10});
  outputs = run("nesterov", 0);  // V = 1 + 3 and 2 + 4; X - (G + V / 10) / 2
  expect_values<float>(outputs[0], {1}, {1 - 1.7});
  expect_values<float>(outputs[1], {1}, {2 - 2.3});
}

TEST(GradientStep, Refusals) {
  expect_op_error(call("Momentum", 1, 0, {one(1), one(1)}, {}, 2), "there must be 3 tensors");
  expect_op_error(call("Adagrad", 1, 0, {one(1), one(1), make_ramp<float>({2})}, {}, 2),
                  "belongs to X");
  expect_op_error(
      call("Momentum", 1, 0, {one(1), one(1), one(1)}, make_attributes({{"mode", "other"}}), 2),
      "mode is 'other'");
}

}  // namespace
}  // namespace het
