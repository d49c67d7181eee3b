#include <functional>

#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/onednn/onednn.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/int8_testing.h"
#include "tests/devices/special_values.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_bytes;

/// Convolutions that models leave in float between quantised ones.
class CpuRoundedConv : public device_testing::Int8Test<device_testing::SpecialValues<CpuTest>> {
 protected:
  void SetUp() override {
    CpuTest::SetUp();
    if (!cpu::computes_int8()) GTEST_SKIP() << "no AVX2: quantised models compute in float";
  }

  /// A convolution of pixels; `rank` of its input.
  Value* conv(Value* x, int64_t from, int64_t to, bool has_bias = true, size_t rank = 4) {
    Shape shape(rank, 1);
    shape[0] = to;
    shape[1] = from;
    std::vector<Value*> inputs = {x, maker_.random(shape, 0.3f)};
    if (has_bias) inputs.push_back(maker_.random({to}));
    return maker_.op("Conv", inputs);
  }

  /// One step, or one for each channel.
  Value* stored(Value* x, int64_t channels, bool per_channel, bool is_signed) {
    std::vector<float> scales = {0.02f};
    Tensor zeros = is_signed ? Tensor::scalar(int8_t{-3}) : Tensor::scalar(uint8_t{120});
    if (per_channel) {
      scales.clear();
      for (int64_t c = 0; c < channels; ++c) {
        scales.push_back(0.02f * (1.0f + 0.1f * static_cast<float>(c % 9)));
      }
      zeros =
          is_signed ? random_bytes<int8_t>({channels}, 5) : random_bytes<uint8_t>({channels}, 5);
      // Far from the limits, so that not all is saturated.
      for (std::byte& zero : std::span(zeros.bytes(), static_cast<size_t>(channels))) {
        zero = static_cast<std::byte>(static_cast<int>(zero) % 64 + (is_signed ? -32 : 96));
      }
    }
    Value* scale = per_channel ? maker_.constant(Tensor::from<float>({channels}, scales))
                               : maker_.constant(Tensor::scalar(scales[0]));
    return maker_.op("QuantizeLinear", {x, scale, maker_.constant(std::move(zeros))},
                     make_attributes({{"axis", int64_t{1}}}));
  }

  /// The output of one such convolution of pictures.
  void one_conv(int64_t from, int64_t to) {
    maker_ = ModelMaker();
    maker_.output(quantise(conv(maker_.input({1, from, 9, 8}), from, to), 0.02f, 120));
  }
};

TEST_F(CpuRoundedConv, AllSteps) {
  for (const bool per_channel : {false, true}) {
    for (const bool is_signed : {false, true}) {
      SCOPED_TRACE(testing::Message()
                   << (per_channel ? "channels" : "tensor") << (is_signed ? ", int8" : ", uint8"));
      maker_ = ModelMaker();
      // Enough rows for strips, the last of them shorter; channels that fill no vector; few rows.
      Value* x = maker_.input({2, 20, 37, 29});
      maker_.output(stored(conv(x, 20, 42), 42, per_channel, is_signed));
      maker_.output(stored(conv(x, 20, 32, false), 32, per_channel, is_signed));
      maker_.output(stored(conv(maker_.input({1, 3, 1, 2}), 3, 70), 70, per_channel, is_signed));
      maker_.output(
          stored(conv(maker_.input({2, 5, 90}), 5, 24, true, 3), 24, per_channel, is_signed));
      // Steps of channels are those of pictures.
      EXPECT_EQ(count_type(compare_steps(), "RoundedConv"), per_channel ? 3u : 4u);
    }
  }
}

TEST_F(CpuRoundedConv, Activations) {
  using Function = std::function<Value*(Value*)>;
  const auto op = [&](const char* type) {
    return [this, type](Value* x) { return maker_.op(type, {x}); };
  };
  const std::vector<std::pair<const char*, Function>> functions = {
      {"Relu", op("Relu")},
      {"Tanh", op("Tanh")},
      {"Gelu", op("Gelu")},
      {"HardSwish", op("HardSwish")},
      {"Elu", op("Elu")},
      {"Sigmoid and Relu",
       [&](Value* x) { return maker_.op("Sigmoid", {maker_.op("Relu", {x})}); }},
      {"Swish", [&](Value* x) {
         return maker_.op("Mul", {x, maker_.op("Sigmoid", {x})});
       }}};
  for (const auto& [name, function] : functions) {
    SCOPED_TRACE(name);
    maker_ = ModelMaker();
    Value* x = maker_.input({1, 20, 37, 29});
    maker_.output(stored(function(conv(x, 20, 42)), 42, false, false));
    maker_.output(stored(function(conv(x, 20, 42)), 42, true, true));
    EXPECT_EQ(count_type(compare_steps(), "RoundedConv"), 2u);
  }
}

/// Between products of bytes, as models have them.
TEST_F(CpuRoundedConv, AmongProductsOfBytes) {
  maker_ = ModelMaker();
  Value* x = stored_input({1, 20, 19, 23}, 0.02f, 120);
  Value* first = maker_.op("Relu", {maker_.op("Conv", {x, weights({16, 20, 1, 1}, 0)})});
  Value* middle = stored(maker_.op("Relu", {conv(first, 16, 48)}), 48, false, false);
  const auto depthwise = make_attributes({{"group", int64_t{48}}, {"pads", Ints(4, 1)}});
  Value* last =
      maker_.op("Conv", {dequantise(middle, 0.02f, 120), weights({48, 1, 3, 3}, 0)}, depthwise);
  maker_.output(quantise(last, 0.05f, 120));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
  EXPECT_EQ(count_type(rows, "RoundedConv"), 1u);
  EXPECT_EQ(count_type(rows, "QuantizeLinear"), 0u);
}

TEST_F(CpuRoundedConv, OthersStayFloats) {
  const auto count = [&] { return count_type(compare_steps(), "RoundedConv"); };
  one_conv(16, 24);
  EXPECT_EQ(count(), 1u);
  one_conv(24, 16);  // reads more than it makes
  EXPECT_EQ(count(), 0u);
  maker_ = ModelMaker();
  Value* x = maker_.input({1, 16, 9, 8});
  maker_.output(quantise(maker_.conv(x, 16, 24, 3), 0.02f, 120));
  Value* shown = conv(x, 16, 24);
  maker_.output(shown);
  maker_.output(quantise(shown, 0.02f, 120));
  maker_.output(
      quantise(maker_.op("Add", {conv(x, 16, 24), maker_.input({1, 24, 9, 8})}), 0.02f, 120));
  EXPECT_EQ(count(), 0u);
}

TEST_F(CpuRoundedConv, NanAndInfinities) {
  one_conv(16, 24);
  expect_same(maker_.model(), {values({1, 16, 9, 8}, 1)});
  Tensor mostly_numbers = cpu_testing::random_tensor({1, 16, 9, 8}, 5);
  mostly_numbers.data<float>()[100] = device_testing::kNan;
  expect_same(maker_.model(), {mostly_numbers});
}

TEST_F(CpuRoundedConv, InBfloat16) {
  if (!cpu::has_bfloat16()) GTEST_SKIP() << cpu_testing::kNoBfloat16;
  maker_ = ModelMaker();
  maker_.output(
      quantise(maker_.op("Tanh", {conv(maker_.input({1, 20, 37, 29}), 20, 42)}), 0.1f, 120));
  EXPECT_EQ(count_type(compare_steps(1e-4f, {{"INFERENCE_PRECISION_HINT", "bf16"}}), "RoundedConv"),
            1u);
}

}  // namespace
}  // namespace het
