#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

/// Two inputs, two units, one step; the numbers 1 and 0.25 become 255 / 255 and 64 / 255.
const std::vector<double> kGiven{1, 0.25};
const std::vector<double> kRounded{1, 64.0 / 255};

/// [1, 2, 8] as com.microsoft has it: a row per input.
const std::vector<double> kStored{-3, 5,  7, -2, 4, 1, -6, 2,  //
                                  8,  -1, 3, 6,  2, 5, -4, 9};

/// The same as real numbers in ONNX' order [1, 8, 2]; column g times scale(g).
template <class Scale>
std::vector<double> real_weights(Scale scale) {
  std::vector<double> real(16);
  for (size_t k = 0; k < 2; ++k) {
    for (size_t g = 0; g < 8; ++g) real[g * 2 + k] = kStored[k * 8 + g] * scale(g);
  }
  return real;
}

Tensor lstm(const std::vector<double>& w) {
  const Tensor weights = make_tensor<float>({1, 8, 2}, w);
  return run_op_ok({"LSTM",
                    {make_tensor<float>({1, 1, 2}, kRounded), weights, weights, Tensor(), Tensor(),
                     make_tensor<float>({1, 1, 2}, kRounded)},
                    make_attributes({{"hidden_size", 2}}),
                    1})[0];
}

template <class T>
OpCall quantised(double shift, const Tensor& scale, const Tensor& zero_point) {
  std::vector<double> stored = kStored;
  for (double& value : stored) value += shift;
  const Tensor weights = make_tensor<T>({1, 2, 8}, stored);
  return {"DynamicQuantizeLSTM",
          {make_tensor<float>({1, 1, 2}, kGiven), weights, weights, Tensor(), Tensor(),
           make_tensor<float>({1, 1, 2}, kGiven), Tensor(), Tensor(), scale, zero_point, scale,
           zero_point},
          make_attributes({{"hidden_size", 2}}),
          1,
          "com.microsoft"};
}

void expect_as_lstm(const Tensor& got, const Tensor& wanted) {
  ASSERT_EQ(got.shape(), wanted.shape());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(got.values<float>()[i], wanted.values<float>()[i], 1e-6);
    EXPECT_GT(std::abs(got.values<float>()[i]), 1e-3);
  }
}

TEST(DynamicQuantizeLstm, OneScaleForAWeight) {
  const Tensor scale = make_tensor<float>({1}, {0.25});
  const std::vector<double> real = real_weights([](size_t) { return 0.25; });
  expect_as_lstm(run_op_ok(quantised<int8_t>(0, scale, make_tensor<int8_t>({1}, {0})))[0],
                 lstm(real));
  expect_as_lstm(run_op_ok(quantised<uint8_t>(128, scale, make_tensor<uint8_t>({1}, {128})))[0],
                 lstm(real));
}

TEST(DynamicQuantizeLstm, OneScaleForAColumn) {
  const auto scale_of = [](size_t g) { return 0.125 + 0.0625 * static_cast<double>(g); };
  std::vector<double> scales;
  for (size_t g = 0; g < 8; ++g) scales.push_back(scale_of(g));
  expect_as_lstm(
      run_op_ok(quantised<int8_t>(0, make_tensor<float>({1, 8}, scales),
                                  make_tensor<int8_t>({1, 8}, std::vector<double>(8))))[0],
      lstm(real_weights(scale_of)));
}

TEST(DynamicQuantizeLstm, RefusesWhatDoesNotFit) {
  const Tensor zero = make_tensor<int8_t>({1}, {0});
  expect_op_error(quantised<int8_t>(0, make_tensor<float>({2}, {1, 1}), zero),
                  "W_scale has shape [2], but must have [1] or [1,8]");
  expect_op_error(quantised<int8_t>(0, make_tensor<float>({1, 8}, std::vector<double>(8, 1)), zero),
                  "'W_zero_point' has shape [1], but must have [1,8]");
  expect_op_error(
      quantised<int8_t>(0, make_tensor<float>({1}, {1}), make_tensor<uint8_t>({1}, {0})),
      "W_zero_point");
}

}  // namespace
}  // namespace het::op_testing
