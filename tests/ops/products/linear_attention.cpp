#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

const double kLn2 = std::log(2.0);

/// Two tokens, one head of size 1: keys 1 and 2, values 3 and 5, scale 1.
OpCall call(const char* rule, const std::vector<Tensor>& more = {}) {
  OpCall result{"LinearAttention",
                {make_tensor<float>({1, 2, 1}, {1, 10}), make_tensor<float>({1, 2, 1}, {1, 2}),
                 make_tensor<float>({1, 2, 1}, {3, 5})},
                make_attributes({{"q_num_heads", 1},
                                 {"kv_num_heads", 1},
                                 {"scale", 1.0f},
                                 {"update_rule", std::string(rule)}}),
                2};
  result.inputs.insert(result.inputs.end(), more.begin(), more.end());
  return result;
}

Tensor both(double value) {
  return make_tensor<float>({1, 2, 1}, {value, value});
}

void expect_output(const OpCall& call, const std::vector<double>& y, double state) {
  const std::vector<Tensor> outputs = run_op_ok(call);
  expect_values<float>(outputs[0], {1, 2, 1}, y);
  expect_values<float>(outputs[1], {1, 1, 1, 1}, {state});
}

TEST(LinearAttention, EveryUpdateRule) {
  // S = 3, then 3 + 2 * 5.
  expect_output(call("linear"), {3, 130}, 13);
  // Halved before each token: 3, then 1.5 + 10.
  expect_output(call("gated", {Tensor(), both(-kLn2)}), {3, 115}, 11.5);
  // Half of what is missing: 1.5, then 1.5 + 2 * (5 - 3) / 2.
  expect_output(call("delta", {Tensor(), Tensor(), both(0.5)}), {1.5, 35}, 3.5);
  // 1.5, halved 0.75, then 0.75 + 2 * (5 - 1.5) / 2.
  expect_output(call("gated_delta", {Tensor(), both(-kLn2), both(0.5)}), {1.5, 42.5}, 4.25);
}

TEST(LinearAttention, PastStateAndSharedHeads) {
  // Two query heads read the one state: 1 + 2 * 3 = 7.
  const OpCall shared{
      "LinearAttention",
      {make_tensor<float>({1, 1, 2}, {1, 2}), make_tensor<float>({1, 1, 1}, {2}),
       make_tensor<float>({1, 1, 1}, {3}), make_tensor<float>({1, 1, 1, 1}, {1})},
      make_attributes({{"q_num_heads", 2}, {"kv_num_heads", 1}, {"update_rule", "linear"}}),
      2};
  expect_values<float>(run_op_ok(shared)[0], {1, 1, 2}, {7, 14});
}

TEST(LinearAttention, Refusals) {
  expect_op_error(call("gated"), "'decay' is needed");
  expect_op_error(call("linear", {Tensor(), both(0)}), "'decay' is forbidden");
  expect_op_error(call("other"), "update_rule is 'other'");
}

}  // namespace
}  // namespace het
