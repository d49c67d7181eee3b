#include "tests/ops/op_testing.h"

namespace het {
namespace {

using namespace op_testing;

const double kLn3 = std::log(3.0);

/// One batch, one head, head size 1: keys 0 and ln 3, values 10 and 20. A query of 1 gives the
/// probabilities 1/4 and 3/4.
OpCall call(const std::vector<double>& query, Attributes attributes = {}, size_t outputs = 1) {
  const auto length = static_cast<int64_t>(query.size());
  return {"Attention",
          {make_tensor<float>({1, 1, length, 1}, query),
           make_tensor<float>({1, 1, 2, 1}, {0, kLn3}), make_tensor<float>({1, 1, 2, 1}, {10, 20})},
          std::move(attributes),
          outputs};
}

TEST(Attention, SoftmaxOfScoresWeighsValues) {
  expect_values<float>(run_op_single(call({1, 0})), {1, 1, 2, 1}, {17.5, 15});
}

TEST(Attention, ScaleReplacesTheRootOfTheHeadSize) {
  // Head size 4: scores q.k / 2 = 0 and ln 3.
  const OpCall wide{"Attention",
                    {make_tensor<float>({1, 1, 1, 4}, {2, 0, 0, 0}),
                     make_tensor<float>({1, 1, 2, 4}, {0, 0, 0, 0, kLn3, 9, 9, 9}),
                     make_tensor<float>({1, 1, 2, 1}, {10, 20})}};
  expect_values<float>(run_op_single(wide), {1, 1, 1, 1}, {17.5});
  expect_values<float>(run_op_single(call({2}, make_attributes({{"scale", 0.5f}}))), {1, 1, 1, 1},
                       {17.5});
}

TEST(Attention, ScoresOfEveryStage) {
  const auto scores = [](int64_t stage) {
    OpCall masked =
        call({1}, make_attributes({{"softcap", 2.0f}, {"qk_matmul_output_mode", stage}}), 4);
    masked.inputs.push_back(make_tensor<float>({1, 2}, {1, 0}));
    return run_op_ok(masked)[3];
  };
  // 2 tanh(ln 3 / 2) = 2 (3 - 1) / (3 + 1) = 1; the mask makes both scores equal.
  expect_values<float>(scores(0), {1, 1, 1, 2}, {0, kLn3});
  expect_values<float>(scores(1), {1, 1, 1, 2}, {0, 1});
  expect_values<float>(scores(2), {1, 1, 1, 2}, {1, 1});
  expect_values<float>(scores(3), {1, 1, 1, 2}, {0.5, 0.5});
}

TEST(Attention, BoolMaskForbidsAndAFullyMaskedQueryGivesZero) {
  OpCall masked = call({1, 1});
  masked.inputs.push_back(make_tensor<bool>({2, 2}, {1, 0, 0, 0}));
  expect_values<float>(run_op_single(masked), {1, 1, 2, 1}, {10, 0});
}

/// Whether a mask or the product itself forbids, as PyTorch's attention has it; NaN stays.
TEST(Attention, AQueryWhoseScoresAreAllMinusInfinityGivesZero) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  OpCall infinite = call({-kInfinity, std::numeric_limits<float>::quiet_NaN()});
  infinite.inputs[1] = make_tensor<float>(infinite.inputs[1].shape(), {1, 1});
  infinite.inputs.push_back(make_tensor<bool>({2, 2}, {1, 1, 0, 0}));
  const Tensor y = run_op_single(infinite);
  EXPECT_EQ(y.values<float>()[0], 0.0f);
  EXPECT_TRUE(std::isnan(y.values<float>()[1]));
}

TEST(Attention, AShortMaskForbidsTheRest) {
  OpCall masked = call({1, 1});
  masked.inputs.push_back(make_tensor<float>({2, 1}, {0, 5}));
  expect_values<float>(run_op_single(masked), {1, 1, 2, 1}, {10, 10});
}

TEST(Attention, CausalAndWindow) {
  expect_values<float>(run_op_single(call({0, 0}, make_attributes({{"is_causal", 1}}))),
                       {1, 1, 2, 1}, {10, 15});
  const auto own = make_attributes({{"left_window_size", 0}, {"right_window_size", 0}});
  expect_values<float>(run_op_single(call({0, 0}, own)), {1, 1, 2, 1}, {10, 20});
}

TEST(Attention, PastComesFirstAndMovesTheDiagonal) {
  OpCall cached{"Attention",
                {make_tensor<float>({1, 1, 1, 1}, {1}), make_tensor<float>({1, 1, 1, 1}, {kLn3}),
                 make_tensor<float>({1, 1, 1, 1}, {20}), Tensor(),
                 make_tensor<float>({1, 1, 1, 1}, {0}), make_tensor<float>({1, 1, 1, 1}, {10})},
                make_attributes({{"is_causal", 1}}),
                3};
  const std::vector<Tensor> outputs = run_op_ok(cached);
  expect_values<float>(outputs[0], {1, 1, 1, 1}, {17.5});
  expect_values<float>(outputs[1], {1, 1, 2, 1}, {0, kLn3});
  expect_values<float>(outputs[2], {1, 1, 2, 1}, {10, 20});
}

TEST(Attention, ValidLengthsCutKeysOffAndAlignTheDiagonal) {
  OpCall padded = call({0, 0}, make_attributes({{"is_causal", 1}}));
  padded.inputs.resize(6);
  padded.inputs.push_back(int64_tensor({1}));
  // One valid key for two queries: the first one comes before it.
  expect_values<float>(run_op_single(padded), {1, 1, 2, 1}, {0, 10});
}

TEST(Attention, GroupsOfQueryHeadsShareAKeyHeadInPackedInputs) {
  const OpCall packed{
      "Attention",
      {make_tensor<float>({1, 1, 2}, {1, 0}), make_tensor<float>({1, 2, 1}, {0, kLn3}),
       make_tensor<float>({1, 2, 1}, {10, 20})},
      make_attributes({{"q_num_heads", 2}, {"kv_num_heads", 1}})};
  expect_values<float>(run_op_single(packed), {1, 1, 2}, {17.5, 15});
}

TEST(Attention, Refusals) {
  OpCall bad = call({1});
  bad.inputs.push_back(make_tensor<float>({3}, {0, 0, 0}));
  expect_op_error(bad, "attn_mask of shape [3] does not broadcast");
  bad = call({1});
  bad.inputs.resize(4);
  bad.inputs.push_back(make_tensor<float>({1, 1, 1, 1}, {0}));
  expect_op_error(bad, "past_key and past_value must be given together");
  bad = call({1});
  bad.inputs.resize(6);
  bad.inputs.push_back(int64_tensor({3}));
  expect_op_error(bad, "nonpad_kv_seqlen[0] is 3");
  bad = call({1});
  bad.inputs[1] = make_tensor<float>({1, 1, 2, 2}, {0, 0, 0, 0});
  expect_op_error(bad, "do not fit");
  expect_op_error(call({1}, make_attributes({{"qk_matmul_output_mode", 4}})), "must be 0 to 3");
}

}  // namespace
}  // namespace het
