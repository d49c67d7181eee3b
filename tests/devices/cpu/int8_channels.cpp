#include <cmath>
#include <functional>

#include "devices/cpu/loops/finish_loops.h"
#include "devices/cpu/onednn/int8_support.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"
#include "tests/devices/int8_testing.h"
#include "tests/guarded_memory.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_bytes;

/// Values with a scale and a zero point for each channel, as NNCF writes them in front of depthwise
/// convolutions.
class CpuInt8Channels : public device_testing::Int8Test<CpuTest> {
 protected:
  /// Zero points of channels: the same, or others.
  enum class Zeros { Same, Different };

  void SetUp() override {
    CpuTest::SetUp();
    if (!cpu::computes_int8()) GTEST_SKIP() << "no AVX2: quantised models compute in float";
  }

  Value* channel_scales(int64_t count, float first) {
    std::vector<float> scales;
    for (int64_t c = 0; c < count; ++c) {
      scales.push_back(first * (1.0f + 0.1f * static_cast<float>(c % 9)));
    }
    return maker_.constant(Tensor::from<float>({count}, scales));
  }
  Value* channel_zeros(int64_t count, bool is_signed, Zeros zeros) {
    Tensor list = is_signed ? random_bytes<int8_t>({count}, 5) : random_bytes<uint8_t>({count}, 5);
    for (int64_t c = 0; c < count; ++c) {
      std::byte& zero = list.bytes()[c];
      // Far from the limits, so that not all is saturated.
      const int wanted = zeros == Zeros::Same ? 100 : static_cast<int>(zero) % 128 + 64;
      zero = static_cast<std::byte>(is_signed ? wanted - 128 : wanted);
    }
    return maker_.constant(std::move(list));
  }
  Value* quantise_channels(Value* x, int64_t count, float first, bool is_signed, Zeros zeros) {
    return maker_.op("QuantizeLinear",
                     {x, channel_scales(count, first), channel_zeros(count, is_signed, zeros)},
                     make_attributes({{"axis", int64_t{1}}}));
  }
  /// The bytes as floats.
  Value* dequantise_channels(Value* q, float first, bool is_signed, Zeros zeros) {
    const int64_t count = q->desc().shape[1];
    return maker_.op("DequantizeLinear",
                     {q, channel_scales(count, first), channel_zeros(count, is_signed, zeros)},
                     make_attributes({{"axis", int64_t{1}}}));
  }
  Value* depthwise(Value* x, int64_t channels, int64_t kernel, int64_t stride, unsigned seed = 5) {
    return maker_.op(
        "Conv", {x, weights({channels, 1, kernel, kernel}, 0, seed), maker_.random({channels})},
        make_attributes(
            {{"group", channels}, {"pads", Ints(4, kernel / 2)}, {"strides", Ints(2, stride)}}));
  }
  /// Of 20 channels.
  Value* conv(Value* x, int64_t channels, int64_t kernel = 1) {
    return maker_.op("Conv",
                     {x, weights({channels, 20, kernel, kernel}, 0), maker_.random({channels})},
                     make_attributes({{"pads", Ints(4, kernel / 2)}}));
  }
};

TEST_F(CpuInt8Channels, DepthwiseConvolutionsOfThem) {
  for (const bool is_signed : {false, true}) {
    for (const Zeros zeros : {Zeros::Same, Zeros::Different}) {
      for (const auto& [channels, kernel, stride] :
           {std::tuple{24, 3, 1}, {24, 3, 2}, {19, 5, 1}, {70, 7, 2}, {32, 1, 1}}) {
        SCOPED_TRACE(testing::Message() << channels << " channels, " << kernel << ", stride "
                                        << stride << (is_signed ? ", int8" : ", uint8"));
        maker_ = ModelMaker();
        Value* q =
            maker_.input({2, channels, 9, 8}, is_signed ? ElementType::Int8 : ElementType::UInt8);
        Value* x = dequantise_channels(q, 0.02f, is_signed, zeros);
        maker_.output(depthwise(x, channels, kernel, stride));
        maker_.output(quantise(depthwise(x, channels, kernel, stride, 6), 0.05f, 120));
        const auto rows = compare_steps();
        EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
        EXPECT_EQ(count_type(rows, "Conv"), 0u);
      }
    }
  }
}

/// Functions that stand between a product and the rounding of its result.
TEST_F(CpuInt8Channels, ProductsThatStoreThem) {
  using Function = std::function<Value*(Value*)>;
  const std::vector<std::pair<const char*, Function>> functions = {
      {"nothing", [](Value* x) { return x; }},
      {"Relu", [&](Value* x) { return maker_.op("Relu", {x}); }},
      {"Swish",
       [&](Value* x) {
         return maker_.op("Mul", {x, maker_.op("Sigmoid", {x})});
       }},
      {"HardSwish", [&](Value* x) { return maker_.op("HardSwish", {x}); }},
      {"Sigmoid", [&](Value* x) { return maker_.op("Sigmoid", {x}); }},
      {"Tanh", [&](Value* x) { return maker_.op("Tanh", {x}); }},
      {"Gelu", [&](Value* x) { return maker_.op("Gelu", {x}); }},
      {"Clip", [&](Value* x) {
         return maker_.op("Clip", {x, scale(-0.3f), scale(0.4f)});
       }}};
  for (const auto& [name, function] : functions) {
    for (const bool is_signed : {false, true}) {
      for (const Zeros zeros : {Zeros::Same, Zeros::Different}) {
        SCOPED_TRACE(testing::Message() << name << (is_signed ? ", int8" : ", uint8")
                                        << (zeros == Zeros::Same ? "" : ", zero points"));
        maker_ = ModelMaker();
        // Enough rows for strips, the last of them shorter; channels that fill no vector.
        Value* x = stored_input({1, 20, 37, 29}, 0.02f, 120);
        const auto output = [&](Value* product, int64_t channels) {
          maker_.output(quantise_channels(function(product), channels, 0.01f, is_signed, zeros));
        };
        output(conv(x, 42), 42);
        output(conv(x, 24, 3), 24);
        output(depthwise(x, 20, 3, 1), 20);
        const auto rows = compare_steps();
        EXPECT_EQ(count_type(rows, "Int8Conv"), 3u);
        EXPECT_EQ(count_type(rows, "QuantizeLinear"), 0u);
        for (const auto& row : rows) {
          EXPECT_EQ(row.exec_type.find("ref"), std::string::npos) << row.node_name;
        }
      }
    }
  }
}

TEST_F(CpuInt8Channels, SlowActivationsWithOneStep) {
  for (const char* type : {"Sigmoid", "Tanh", "Gelu", "HardSwish"}) {
    for (const int zero_point : {0, 120}) {
      SCOPED_TRACE(testing::Message() << type << ' ' << zero_point);
      maker_ = ModelMaker();
      Value* x = stored_input({1, 20, 37, 29}, 0.02f, 120);
      maker_.output(quantise(maker_.op(type, {conv(x, 42)}), 0.01f, zero_point));
      maker_.output(quantise(maker_.op(type, {depthwise(x, 20, 3, 1)}), 0.01f, zero_point));
      // A float result, and one of few rows.
      maker_.output(maker_.op(type, {conv(x, 24)}));
      Value* rows_of = stored_input({3, 20}, 0.02f, 120);
      maker_.output(
          quantise(maker_.op(type, {maker_.op("MatMul", {rows_of, weights({20, 42}, 1)})}), 0.01f,
                   zero_point));
      const auto rows = compare_steps(2e-4f);
      EXPECT_EQ(count_type(rows, "Int8Conv"), 3u);
      EXPECT_EQ(count_type(rows, "Int8MatMul"), 1u);
    }
  }
}

/// What smooths the channels of tokens goes into their steps.
TEST_F(CpuInt8Channels, FactorsInFrontOfTheRounding) {
  const std::vector<float> factors = [] {
    std::vector<float> values;
    for (int c = 0; c < 42; ++c) values.push_back(0.5f + 0.05f * static_cast<float>(c % 11));
    return values;
  }();
  Value* smooth = maker_.constant(Tensor::from<float>({1, 1, 42}, factors));
  Value* x = stored_input({1, 70, 20}, 0.02f, 120);
  Value* product = maker_.op("Gelu", {maker_.op("MatMul", {x, weights({20, 42}, 1)})});
  maker_.output(quantise(maker_.op("Mul", {product, smooth}), 0.01f, 60));
  Value* shown = maker_.op("MatMul", {x, weights({20, 42}, 1, 6)});
  maker_.output(shown);
  maker_.output(quantise(maker_.op("Mul", {shown, smooth}), 0.01f, 120));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8MatMul"), 2u);
  EXPECT_EQ(count_type(rows, "ElementwiseBytes"), 1u);
  // A factor below 0 has no step.
  maker_ = ModelMaker();
  std::vector<float> turned = factors;
  turned[3] = -1.0f;
  x = stored_input({1, 70, 20}, 0.02f, 120);
  product = maker_.op("Relu", {maker_.op("MatMul", {x, weights({20, 42}, 1)})});
  maker_.output(quantise(
      maker_.op("Mul", {product, maker_.constant(Tensor::from<float>({1, 1, 42}, turned))}), 0.01f,
      60));
  EXPECT_EQ(count_type(compare_steps(), "Int8MatMul"), 1u);
}

TEST_F(CpuInt8Channels, ConcatenatedSplitAndCut) {
  for (const int second_zero : {0, 40}) {
    SCOPED_TRACE(second_zero);
    maker_ = ModelMaker();
    Value* a = stored_input({1, 20, 9, 8}, 0.02f, 0);
    Value* b = stored_input({1, 12, 9, 8}, 0.03f, second_zero);
    Value* both = maker_.op("Concat", {a, b}, make_attributes({{"axis", int64_t{1}}}));
    maker_.output(quantise(depthwise(both, 32, 3, 1), 0.05f, 120));
    maker_.output(quantise(maker_.op("Relu", {maker_.op("Sub", {both, scale(1.0f)})}), 0.02f, 3));
    // Channels of both.
    const auto number = [&](int64_t value) {
      return maker_.constant(Tensor::from<int64_t>({1}, {value}));
    };
    Value* cut = maker_.op("Slice", {both, number(-20), number(30), number(1), number(1)});
    maker_.output(quantise(depthwise(cut, 18, 5, 2, 6), 0.05f, 120));
    Value* sizes = maker_.constant(Tensor::from<int64_t>({3}, {9, 13, 10}));
    const std::vector<Value*> parts =
        maker_.split("Split", {both, sizes}, 3, make_attributes({{"axis", int64_t{1}}}));
    for (size_t i = 0; i < 3; ++i) {
      maker_.output(quantise(depthwise(parts[i], Ints{9, 13, 10}[i], 3, 1, 7), 0.05f, 120));
    }
    const auto rows = compare_steps();
    EXPECT_EQ(count_type(rows, "Int8Conv"), 5u);
    EXPECT_EQ(count_type(rows, "Conv"), 0u);
    EXPECT_EQ(count_type(rows, "DequantizeLinear"), 0u);
  }
}

/// Steps of channels between expressions, which take them up.
TEST_F(CpuInt8Channels, AmongExpressions) {
  for (const bool is_signed : {false, true}) {
    for (const Zeros zeros : {Zeros::Same, Zeros::Different}) {
      maker_ = ModelMaker();
      const ElementType type = is_signed ? ElementType::Int8 : ElementType::UInt8;
      Value* x = dequantise_channels(maker_.input({2, 19, 5, 7}, type), 0.02f, is_signed, zeros);
      maker_.output(maker_.op("Tanh", {x}));
      Value* y = maker_.op("Sigmoid", {maker_.input({2, 19, 5, 7})});
      maker_.output(quantise_channels(y, 19, 0.01f, is_signed, zeros));
      compare_steps(1e-5f);
    }
  }
}

double activated(const ElementwiseInstruction* op, double x) {
  if (op == nullptr) return x;
  switch (op->kind) {
    case ElementwiseKind::Sigmoid:
      return 1 / (1 + std::exp(-x));
    case ElementwiseKind::Tanh:
      return std::tanh(x);
    case ElementwiseKind::Swish:
      return x / (1 + std::exp(-static_cast<double>(op->alpha) * x));
    case ElementwiseKind::GeluErf:
      return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
    case ElementwiseKind::GeluTanh:
      return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case ElementwiseKind::HardSwish:
      return x * std::clamp(x / 6 + 0.5, 0.0, 1.0);
    case ElementwiseKind::Relu:
      return x < 0 ? static_cast<double>(op->alpha) * x : x;
    default:
      return std::clamp(x, static_cast<double>(op->alpha), static_cast<double>(op->beta));
  }
}

/// Rows of any number of channels, which end where their memory does.
TEST(CpuFinishLoops, RoundAsTheDefinitionDoes) {
  using Kind = ElementwiseKind;
  const std::vector<ElementwiseInstruction> activations = {
      {Kind::Sigmoid},           {Kind::Tanh},
      {Kind::Swish, 0, 0, 1.3f}, {Kind::GeluErf},
      {Kind::GeluTanh},          {Kind::HardSwish},
      {Kind::Relu, 0, 0, 0.1f},  {Kind::Clip, 0, 0, -1.0f, 6.0f}};
  std::vector<const ElementwiseInstruction*> all = {nullptr};
  for (const auto& activation : activations) {
    EXPECT_TRUE(cpu::is_finished_activation(activation));
    all.push_back(&activation);
  }
  EXPECT_FALSE(cpu::is_finished_activation({Kind::Mish}));
  cpu_testing::on_each_instruction_set([&] {
    for (const auto* activation : all) {
      for (const bool is_signed : {false, true}) {
        for (const int64_t channels : {1, 3, 17, 64, 70}) {
          const int64_t rows = 5;
          std::vector<float> scales, zeros;
          for (int64_t c = 0; c < channels; ++c) {
            scales.push_back(0.02f + 0.003f * static_cast<float>(c % 7));
            zeros.push_back(static_cast<float>(c % 90) - (is_signed ? 50.0f : -10.0f));
          }
          const cpu::ChannelSteps steps(scales, zeros, is_signed);
          const Tensor src = guarded_copy(cpu_testing::random_tensor({rows, channels}, 3));
          const Tensor dst =
              guarded_copy(*Tensor::allocate({ElementType::UInt8, {rows, channels}}));
          const auto count = static_cast<size_t>(rows * channels);
          cpu::finish_rows(activation, src.data<float>(), steps, count, dst.bytes());
          for (size_t i = 0; i < count; ++i) {
            const size_t c = i % static_cast<size_t>(channels);
            const double exact = activated(activation, static_cast<double>(src.data<float>()[i])) /
                                     static_cast<double>(scales[c]) +
                                 static_cast<double>(zeros[c]);
            const double wanted =
                std::clamp(exact, is_signed ? -128.0 : 0.0, is_signed ? 127.0 : 255.0);
            const auto byte = dst.bytes()[i];
            const double got = is_signed ? static_cast<int8_t>(byte) : static_cast<uint8_t>(byte);
            ASSERT_NEAR(got, wanted, 0.5001) << "value " << i << " of " << channels << " channels";
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace het
