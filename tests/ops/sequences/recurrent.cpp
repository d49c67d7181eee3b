#include "inference/ops/sequences/recurrent.h"

#include <algorithm>
#include <limits>

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

double gate(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Numbers that look random but are the same everywhere.
Tensor wave(const Shape& shape, double phase) {
  std::vector<double> values(static_cast<size_t>(het::element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = std::sin(phase + 1.7 * static_cast<double>(i));
  }
  return make_tensor<float>(shape, values);
}

/// Elements [first, first + count) along the first axis.
Tensor rows(const Tensor& x, int64_t first, int64_t count) {
  Shape shape = x.shape();
  const int64_t row = x.element_count() / shape[0];
  shape[0] = count;
  const float* from = x.data<float>() + first * row;
  return Tensor::from<float>(shape, std::span<const float>(from, static_cast<size_t>(count * row)));
}

Tensor transposed(const Tensor& x, const Ints& perm) {
  return run_op_single({"Transpose", {x}, make_attributes({{"perm", perm}})});
}

TEST(Lstm, OneUnitByHand) {
  const double x = 0.5, h0 = 0.25, c0 = -0.5;
  const Tensor w = make_tensor<float>({1, 4, 1}, {1, 2, 3, 4});
  const Tensor r = make_tensor<float>({1, 4, 1}, {-1, -2, -3, -4});
  const Tensor b = make_tensor<float>({1, 8}, {.1, .2, .3, .4, .01, .02, .03, .04});
  const Tensor p = make_tensor<float>({1, 3}, {.5, .6, .7});
  const double i = gate(1 * x - 1 * h0 + .11 + .5 * c0);
  const double f = gate(3 * x - 3 * h0 + .33 + .7 * c0);
  const double c = f * c0 + i * std::tanh(4 * x - 4 * h0 + .44);
  const double o = gate(2 * x - 2 * h0 + .22 + .6 * c);
  const double h = o * std::tanh(c);
  const auto y =
      run_op_ok({"LSTM",
                 {make_tensor<float>({1, 1, 1}, {x}), w, r, b, Tensor(),
                  make_tensor<float>({1, 1, 1}, {h0}), make_tensor<float>({1, 1, 1}, {c0}), p},
                 make_attributes({{"hidden_size", 1}}),
                 3});
  expect_values<float>(y[0], {1, 1, 1, 1}, {h});
  expect_values<float>(y[1], {1, 1, 1}, {h});
  expect_values<float>(y[2], {1, 1, 1}, {c});
}

TEST(Lstm, CoupledGatesAndClip) {
  const Tensor w = make_tensor<float>({1, 4, 1}, {1, 2, 3, 4});
  const Tensor r = make_tensor<float>({1, 4, 1}, {0, 0, 0, 0});
  const Tensor x = make_tensor<float>({1, 1, 1}, {2});
  const Tensor c0 = make_tensor<float>({1, 1, 1}, {3});
  const auto run = [&](const Attributes& attributes) {
    return run_op_ok({"LSTM", {x, w, r, Tensor(), Tensor(), Tensor(), c0}, attributes, 3})[2];
  };
  const double i = gate(2);
  expect_values<float>(run(make_attributes({{"input_forget", 1}})), {1, 1, 1},
                       {(1 - i) * 3 + i * std::tanh(8)});
  const double clipped = gate(.5);
  expect_values<float>(run(make_attributes({{"clip", .5f}})), {1, 1, 1},
                       {clipped * 3 + clipped * std::tanh(.5)});
}

TEST(Gru, OneUnitByHandInBothForms) {
  const double x = 0.5, h0 = 0.75;
  const std::vector<Tensor> inputs{make_tensor<float>({1, 1, 1}, {x}),
                                   make_tensor<float>({1, 3, 1}, {1, 2, 3}),
                                   make_tensor<float>({1, 3, 1}, {-1, -2, 5}),
                                   make_tensor<float>({1, 6}, {.1, .2, .3, .01, .02, .03}),
                                   Tensor(),
                                   make_tensor<float>({1, 1, 1}, {h0})};
  const double z = gate(x - h0 + .11);
  const double r = gate(2 * x - 2 * h0 + .22);
  const double before = std::tanh(3 * x + 5 * (r * h0) + .33);
  const double after = std::tanh(3 * x + .3 + r * (5 * h0 + .03));
  const auto y = run_op_ok({"GRU", inputs, {}, 2});
  expect_values<float>(y[0], {1, 1, 1, 1}, {(1 - z) * before + z * h0});
  expect_near(run_op_ok({"GRU", inputs, make_attributes({{"linear_before_reset", 1}}), 2})[1],
              make_tensor<float>({1, 1, 1}, {(1 - z) * after + z * h0}));
}

TEST(Rnn, TwoStepsByHand) {
  const auto y =
      run_op_ok({"RNN",
                 {make_tensor<float>({2, 1, 1}, {1, 2}), make_tensor<float>({1, 1, 1}, {.5}),
                  make_tensor<float>({1, 1, 1}, {.25})},
                 {},
                 2});
  const double first = std::tanh(.5);
  const double second = std::tanh(1 + .25 * first);
  expect_values<float>(y[0], {2, 1, 1, 1}, {first, second});
  expect_values<float>(y[1], {1, 1, 1}, {second});
}

/// One RNN step on each of `x` with R = 0 shows the activation alone.
std::vector<double> activate(const Attributes& attributes, const std::vector<double>& x) {
  std::vector<double> result;
  for (const double value : x) {
    const Tensor y =
        run_op_single({"RNN",
                       {make_tensor<double>({1, 1, 1}, {value}),
                        make_tensor<double>({1, 1, 1}, {1}), make_tensor<double>({1, 1, 1}, {0})},
                       attributes});
    result.push_back(y.empty() ? 0 : y.data<double>()[0]);
  }
  return result;
}

TEST(Rnn, Activations) {
  struct Case {
    const char* name;
    Floats alpha;
    Floats beta;
    std::vector<double> expected;  ///< at -2, 0.5, 3
  };
  const std::vector<Case> cases{
      {"Relu", {}, {}, {0, .5, 3}},
      {"tanh", {}, {}, {std::tanh(-2), std::tanh(.5), std::tanh(3)}},
      {"Sigmoid", {}, {}, {gate(-2), gate(.5), gate(3)}},
      {"Affine", {2}, {1}, {-3, 2, 7}},
      {"LeakyRelu", {}, {}, {-.02, .5, 3}},
      {"LeakyRelu", {.5f}, {}, {-1, .5, 3}},
      {"ThresholdedRelu", {}, {}, {0, 0, 3}},
      {"ScaledTanh", {2}, {.5f}, {2 * std::tanh(-1), 2 * std::tanh(.25), 2 * std::tanh(1.5)}},
      {"HardSigmoid", {}, {}, {.1, .6, 1}},
      {"Elu", {2}, {}, {2 * (std::exp(-2) - 1), .5, 3}},
      {"Softsign", {}, {}, {-2.0 / 3, .5 / 1.5, .75}},
      {"Softplus",
       {},
       {},
       {std::log1p(std::exp(-2)), std::log1p(std::exp(.5)), std::log1p(std::exp(3))}},
  };
  for (const Case& c : cases) {
    Attributes attributes = make_attributes({{"activations", std::vector<std::string>{c.name}}});
    if (!c.alpha.empty()) attributes.set("activation_alpha", c.alpha);
    if (!c.beta.empty()) attributes.set("activation_beta", c.beta);
    const std::vector<double> y = activate(attributes, {-2, .5, 3});
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], c.expected[i], 1e-6) << c.name;
  }
}

TEST(Gru, ScalesGoToTheActivationsThatTakeThem) {
  Model model;
  const Attributes attributes = make_attributes(
      {{"activations", std::vector<std::string>{"Tanh", "Elu", "HardSigmoid", "LeakyRelu"}},
       {"activation_alpha", Floats{1, 2, 3}},
       {"activation_beta", Floats{4}},
       {"direction", "bidirectional"}});
  const Node* node = model.add_node("n", "GRU", "", {}, {"y"}, attributes);
  const auto gru = recurrent_attributes(*node, {5, 2, 3}, {2, 12, 4});
  ASSERT_TRUE(gru) << gru.error().message();
  EXPECT_EQ(gru->activations[1].alpha, 1);
  EXPECT_EQ(gru->activations[2].alpha, 2);
  EXPECT_EQ(gru->activations[2].beta, 4);
  EXPECT_EQ(gru->activations[3].alpha, 3);
  EXPECT_EQ(gru->output_shape, (Shape{5, 2, 2, 4}));
}

/// The kinds with X [4, 2, 3] and 2 hidden units in both directions.
struct Kind {
  const char* type;
  int64_t gates;
};
class RecurrentKinds : public ::testing::TestWithParam<Kind> {
 protected:
  const Tensor x_ = wave({4, 2, 3}, 0);
  const Tensor w_ = wave({2, GetParam().gates * 2, 3}, 1);
  const Tensor r_ = wave({2, GetParam().gates * 2, 2}, 2);
  const Tensor b_ = wave({2, GetParam().gates * 4}, 3);
  const Tensor h_ = wave({2, 2, 2}, 4);

  std::vector<Tensor> run(std::vector<Tensor> inputs, const char* direction,
                          int64_t layout = 0) const {
    return run_op_ok({GetParam().type, std::move(inputs),
                      make_attributes({{"direction", direction}, {"layout", layout}}), 2});
  }
};
INSTANTIATE_TEST_SUITE_P(All, RecurrentKinds,
                         ::testing::Values(Kind{"RNN", 1}, Kind{"GRU", 3}, Kind{"LSTM", 4}),
                         [](const auto& param) { return std::string(param.param.type); });

TEST_P(RecurrentKinds, BidirectionalIsForwardAndReverse) {
  const auto both = run({x_, w_, r_, b_, Tensor(), h_}, "bidirectional");
  const auto half = [&](int64_t d, const char* direction) {
    return run({x_, rows(w_, d, 1), rows(r_, d, 1), rows(b_, d, 1), Tensor(), rows(h_, d, 1)},
               direction);
  };
  const auto forward = half(0, "forward");
  const auto reverse = half(1, "reverse");
  const Tensor states =
      run_op_single({"Concat", {forward[1], reverse[1]}, make_attributes({{"axis", 0}})});
  expect_near(both[1], states);
  const Tensor outputs =
      run_op_single({"Concat", {forward[0], reverse[0]}, make_attributes({{"axis", 1}})});
  expect_near(both[0], outputs);
}

TEST_P(RecurrentKinds, ReverseReadsTheSequenceBackwards) {
  const Tensor flipped =
      run_op_single({"Concat",
                     {rows(x_, 3, 1), rows(x_, 2, 1), rows(x_, 1, 1), rows(x_, 0, 1)},
                     make_attributes({{"axis", 0}})});
  const auto forward = run({flipped, rows(w_, 0, 1), rows(r_, 0, 1)}, "forward");
  const auto reverse = run({x_, rows(w_, 0, 1), rows(r_, 0, 1)}, "reverse");
  expect_near(reverse[1], forward[1]);
  for (int64_t t = 0; t < 4; ++t) expect_near(rows(reverse[0], t, 1), rows(forward[0], 3 - t, 1));
}

TEST_P(RecurrentKinds, LayoutOneHasTheBatchFirst) {
  const auto plain = run({x_, w_, r_, b_, Tensor(), h_}, "bidirectional");
  const auto batch_first =
      run({transposed(x_, {1, 0, 2}), w_, r_, b_, Tensor(), transposed(h_, {1, 0, 2})},
          "bidirectional", 1);
  expect_near(batch_first[0], transposed(plain[0], {2, 0, 1, 3}));
  expect_near(batch_first[1], transposed(plain[1], {1, 0, 2}));
}

TEST_P(RecurrentKinds, ShortSequencesEndEarlyAndArePaddedWithZeros) {
  const Tensor lengths = make_tensor<int32_t>({2}, {2, 2});
  const auto padded = run({x_, w_, r_, b_, lengths, h_}, "bidirectional");
  const auto cut = run({rows(x_, 0, 2), w_, r_, b_, Tensor(), h_}, "bidirectional");
  expect_near(padded[1], cut[1]);
  expect_near(rows(padded[0], 0, 2), cut[0]);
  expect_values<float>(rows(padded[0], 2, 2), {2, 2, 2, 2}, std::vector<double>(16));

  const auto none = run({x_, w_, r_, b_, make_tensor<int32_t>({2}, {0, 0}), h_}, "bidirectional");
  expect_near(none[1], h_);
}

TEST_P(RecurrentKinds, RefuseBadInput) {
  const char* type = GetParam().type;
  const Attributes both = make_attributes({{"direction", "bidirectional"}});
  const auto expect = [&](std::vector<Tensor> inputs, const char* part) {
    expect_op_error({type, std::move(inputs), both, 2}, part);
  };
  expect({x_, wave({2, 5, 3}, 0), r_}, "'W' has shape [2,5,3]");
  expect({x_, w_, wave({2, GetParam().gates * 2, 3}, 0)}, "must have [2,");
  expect({x_, w_, r_, wave({2, 5}, 0)}, "'B' has shape [2,5]");
  expect({x_, w_, r_, b_, make_tensor<int32_t>({1}, {4})}, "'sequence_lens'");
  expect({x_, w_, r_, b_, make_tensor<int32_t>({2}, {4, 5})}, "sequence_lens contains 5");
  expect({x_, w_, r_, b_, make_tensor<int32_t>({2}, {-1, 2})}, "sequence_lens contains -1");
  expect({x_, w_, r_, b_, Tensor(), wave({2, 2, 3}, 0)}, "'initial_h'");
  expect({rows(wave({6, 2}, 0), 0, 4), w_, r_}, "rank 3");
  expect_op_error({type, {x_, w_, r_}, make_attributes({{"direction", "sideways"}}), 2},
                  "sideways");
  expect_op_error({type, {x_, w_, r_}, make_attributes({{"hidden_size", 7}}), 2},
                  "hidden_size is 7");
  expect_op_error({type, {x_, w_, r_}, make_attributes({{"layout", 2}}), 2}, "layout is 2");
  expect_op_error({type, {x_, w_, r_}, make_attributes({{"clip", -1.0f}}), 2}, "clip is -1");
  expect_op_error({type,
                   {x_, w_, r_},
                   make_attributes({{"activations", std::vector<std::string>(9, "Tanh")}}),
                   2},
                  "9 activations");
  const auto wanted = static_cast<size_t>(GetParam().gates == 4   ? 3
                                          : GetParam().gates == 3 ? 2
                                                                  : 1);
  expect_op_error({type,
                   {x_, w_, r_},
                   make_attributes({{"activations", std::vector<std::string>(wanted, "Swish")}}),
                   2},
                  "'Swish' is unknown");
}

TEST(Rnn, NothingToDo) {
  const auto y = run_op_ok({"RNN",
                            {make_tensor<float>({0, 2, 3}, {}), wave({1, 2, 3}, 0),
                             wave({1, 2, 2}, 0), Tensor(), Tensor(), wave({1, 2, 2}, 1)},
                            {},
                            2});
  expect_values<float>(y[0], {0, 1, 2, 2}, {});
  expect_near(y[1], wave({1, 2, 2}, 1));
}

}  // namespace
}  // namespace het::op_testing
