#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

TEST(CausalConvWithState, ZerosOrThePastComeFirst) {
  OpCall call{"CausalConvWithState",
              {make_tensor<float>({1, 2, 3}, {1, 2, 3, 10, 20, 30}),
               make_tensor<float>({2, 1, 2}, {1, 2, 0, 1}), make_tensor<float>({2}, {0, 5})},
              {},
              2};
  std::vector<Tensor> outputs = run_op_ok(call);
  expect_values<float>(outputs[0], {1, 2, 3}, {2, 5, 8, 15, 25, 35});
  expect_values<float>(outputs[1], {1, 2, 1}, {3, 30});
  call.inputs.push_back(make_tensor<float>({1, 2, 1}, {100, 100}));
  outputs = run_op_ok(call);
  expect_values<float>(outputs[0], {1, 2, 3}, {102, 5, 8, 15, 25, 35});
}

TEST(CausalConvWithState, AStateLongerThanTheInputKeepsOlderValues) {
  const OpCall call{"CausalConvWithState",
                    {make_tensor<float>({1, 1, 1}, {7}), make_tensor<float>({1, 1, 3}, {1, 1, 1}),
                     Tensor(), make_tensor<float>({1, 1, 2}, {1, 2})},
                    {},
                    2};
  const std::vector<Tensor> outputs = run_op_ok(call);
  expect_values<float>(outputs[0], {1, 1, 1}, {10});
  expect_values<float>(outputs[1], {1, 1, 2}, {2, 7});
}

TEST(CausalConvWithState, Activation) {
  const auto call = [](const char* name) {
    return OpCall{
        "CausalConvWithState",
        {make_tensor<float>({1, 1, 1}, {std::log(3.0)}), make_tensor<float>({1, 1, 1}, {1})},
        make_attributes({{"activation", std::string(name)}}),
        2};
  };
  // ln 3 * sigmoid(ln 3) = 3/4 ln 3.
  expect_values<float>(run_op_single(call("silu")), {1, 1, 1}, {0.75 * std::log(3.0)});
  expect_op_error(call("relu"), "activation is 'relu'");
}

TEST(CausalConvWithState, Refusals) {
  expect_op_error({"CausalConvWithState",
                   {make_tensor<float>({1, 1, 1}, {1}), make_tensor<float>({1, 1, 2}, {1, 1}),
                    Tensor(), make_tensor<float>({1, 1, 2}, {1, 1})},
                   {},
                   2},
                  "past_state [1,1,1]");
}

}  // namespace
}  // namespace het
