#include <algorithm>
#include <limits>

#include "devices/cpu/loops/byte_loops.h"
#include "devices/cpu/loops/range_loop.h"
#include "devices/cpu/onednn/int8_support.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/ops/quantisation/quantization.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using cpu_testing::random_bytes;

class CpuQuantised : public CpuTest {
 protected:
  Value* scale(ModelMaker& maker, float value) { return maker.constant(Tensor::scalar(value)); }
  template <class T>
  Value* zero(ModelMaker& maker, int value) {
    return maker.constant(Tensor::scalar(static_cast<T>(value)));
  }

  /// Every value within one step of REF's, and nearly all equal.
  void compare_steps(const Model& model, const std::string& node) {
    const std::vector<Tensor> inputs = random_inputs(model);
    std::vector<ProfileRow> rows;
    const std::vector<Tensor> got = infer(*compile(model, {{"PERF_COUNT", "YES"}}), inputs, &rows);
    const auto reference = ref_->compile_model(model, {}, nullptr);
    const std::vector<Tensor> wanted = infer(**reference, inputs);
    for (size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].desc(), wanted[i].desc());
      const auto a = *to_float_vector(got[i]);
      const auto b = *to_float_vector(wanted[i]);
      size_t different = 0;
      for (size_t k = 0; k < a.size(); ++k) {
        ASSERT_LE(std::abs(a[k] - b[k]), 1.0f) << "output " << i << " at " << k;
        different += a[k] != b[k] ? 1 : 0;
      }
      EXPECT_LE(different, a.size() / 100) << "output " << i;
    }
    implementation_ = implementation(rows, node);
  }

  std::string implementation_;
};

TEST_F(CpuQuantised, ConvolutionsInAllTypes) {
  for (const int64_t group : {int64_t{1}, int64_t{20}}) {
    for (const bool signed_src : {false, true}) {
      for (const bool signed_weights : {false, true}) {
        SCOPED_TRACE(testing::Message() << "group " << group << " src " << signed_src << " weights "
                                        << signed_weights);
        ModelMaker maker;
        const Shape weights_shape = {20, 20 / group, 3, 3};
        const ElementType type = signed_src ? ElementType::Int8 : ElementType::UInt8;
        Value* x = maker.input({1, 20, 9, 8}, type);
        Value* x_zero = signed_src ? zero<int8_t>(maker, -3) : zero<uint8_t>(maker, 120);
        Value* weights = signed_weights ? maker.constant(random_bytes<int8_t>(weights_shape, 3))
                                        : maker.constant(random_bytes<uint8_t>(weights_shape, 3));
        Value* w_zero = signed_weights ? zero<int8_t>(maker, 0) : zero<uint8_t>(maker, 128);
        std::vector<int32_t> bias(20);
        for (size_t c = 0; c < bias.size(); ++c) bias[c] = static_cast<int32_t>(c * 300) - 2000;
        std::vector<float> w_scales(20);
        for (size_t c = 0; c < w_scales.size(); ++c) {
          w_scales[c] = 0.01f + 0.001f * static_cast<float>(c);
        }
        Value* w_scale =
            group == 1 ? maker.constant(Tensor::from<float>({20}, w_scales)) : scale(maker, 0.02f);
        Value* y_zero = signed_src ? zero<int8_t>(maker, 4) : zero<uint8_t>(maker, 128);
        Value* y = maker.op("QLinearConv",
                            {x, scale(maker, 0.05f), x_zero, weights, w_scale, w_zero,
                             scale(maker, group == 1 ? 2.0f : 0.5f), y_zero,
                             maker.constant(Tensor::from<int32_t>({20}, bias))},
                            make_attributes({{"pads", Ints{1, 1, 1, 1}}, {"group", group}}));
        ASSERT_NE(y->producer()->op(), nullptr) << y->producer()->unsupported_reason();
        maker.output(y);
        compare_steps(maker.model(), "QLinearConv0");
      }
    }
  }
}

TEST_F(CpuQuantised, WeightsWithOtherZeroPoints) {
  // In int8 where the processor can, else in float; with borders oneDNN has no kernel, we have.
  for (const int64_t kernel : {int64_t{1}, int64_t{3}}) {
    ModelMaker maker;
    Value* x = maker.input({1, 16, 5, 5}, ElementType::UInt8);
    Value* weights = maker.constant(random_bytes<uint8_t>({8, 16, kernel, kernel}, 5));
    maker.output(
        maker.op("QLinearConv",
                 {x, scale(maker, 0.1f), zero<uint8_t>(maker, 7), weights, scale(maker, 0.01f),
                  zero<uint8_t>(maker, 100), scale(maker, 1.0f), zero<uint8_t>(maker, 9)},
                 make_attributes({{"pads", Ints(4, kernel / 2)}})));
    compare_steps(maker.model(), cpu::computes_int8() ? "QLinearConv0" : "QLinearConv0/product");
    EXPECT_EQ(implementation_.find("ref"), std::string::npos) << implementation_;
    EXPECT_NE(implementation_, "no row");
  }
}

/// As NNCF writes what stands in front of depthwise convolutions: rounded at once where it is read
/// back, else by rows.
TEST_F(CpuQuantised, ValuesWithAScaleAndAZeroPointPerChannel) {
  for (const bool is_signed : {false, true}) {
    for (const auto& [shape, axis] :
         {std::pair{Shape{2, 5, 6, 7}, int64_t{1}}, std::pair{Shape{2, 19, 3, 3}, int64_t{1}},
          std::pair{Shape{3, 4, 6}, int64_t{-1}}, std::pair{Shape{5, 3}, int64_t{0}}}) {
      for (const bool is_read_as_bytes : {false, true}) {
        SCOPED_TRACE(testing::Message() << shape.size() << " dimensions, axis " << axis << ' '
                                        << is_signed << is_read_as_bytes);
        ModelMaker maker;
        const int64_t count =
            shape[static_cast<size_t>(axis < 0 ? axis + std::ssize(shape) : axis)];
        const auto scales = [&](float first) {
          std::vector<float> values;
          for (int64_t c = 0; c < count; ++c) {
            values.push_back(first + 0.003f * static_cast<float>(c % 5));
          }
          return maker.constant(Tensor::from<float>({count}, values));
        };
        Value* zeros = maker.constant(is_signed ? random_bytes<int8_t>({count}, 5)
                                                : random_bytes<uint8_t>({count}, 5));
        const auto attributes = make_attributes({{"axis", axis}});
        Value* q =
            maker.op("QuantizeLinear", {maker.input(shape), scales(0.004f), zeros}, attributes);
        Value* back = maker.op("DequantizeLinear", {q, scales(0.004f), zeros}, attributes);
        maker.output(maker.op("Relu", {back}));
        maker.output(maker.op("DequantizeLinear", {q, scales(0.02f), zeros}, attributes));
        if (is_read_as_bytes) maker.output(q);
        for (const ProfileRow& row : compare(maker.model(), 1e-6f)) {
          EXPECT_EQ(row.exec_type.find("ref"), std::string::npos) << row.node_name;
          const bool stores =
              row.layer_type == "QuantizeLinear" && row.status == ProfileStatus::Executed;
          EXPECT_FALSE(stores && !is_read_as_bytes) << row.node_name;
        }
      }
    }
  }
}

TEST_F(CpuQuantised, WeightsWithAZeroPointPerChannelRunInFloat) {
  // Differences to the zero points reach from -150 to 165: beyond int8.
  const auto scales = [](int64_t channels) {
    std::vector<float> values;
    for (int64_t c = 0; c < channels; ++c) values.push_back(0.01f + 0.001f * static_cast<float>(c));
    return Tensor::from<float>({channels}, values);
  };
  const auto zeros = [](int64_t channels) {
    std::vector<uint8_t> values;
    for (int64_t c = 0; c < channels; ++c) values.push_back(static_cast<uint8_t>(90 + 15 * c));
    return Tensor::from<uint8_t>({channels}, values);
  };
  ModelMaker maker;
  Value* x = maker.input({1, 6, 9, 8}, ElementType::UInt8);
  maker.output(maker.op("QLinearConv", {x, scale(maker, 0.1f), zero<uint8_t>(maker, 7),
                                        maker.constant(random_bytes<uint8_t>({5, 6, 3, 3}, 3)),
                                        maker.constant(scales(5)), maker.constant(zeros(5)),
                                        scale(maker, 1.0f), zero<uint8_t>(maker, 100)}));
  compare_steps(maker.model(), "QLinearConv0/product");
  EXPECT_NE(implementation_, "ref");
  EXPECT_NE(implementation_, "no row");
  maker.output(maker.op(
      "QLinearMatMul", {x, scale(maker, 0.1f), zero<uint8_t>(maker, 7),
                        maker.constant(random_bytes<uint8_t>({8, 4}, 4)), maker.constant(scales(4)),
                        maker.constant(zeros(4)), scale(maker, 1.0f), zero<uint8_t>(maker, 100)}));
  compare_steps(maker.model(), "QLinearMatMul1/product");
  EXPECT_NE(implementation_, "ref");
  EXPECT_NE(implementation_, "no row");
}

TEST_F(CpuQuantised, AChain) {
  ModelMaker maker;
  // Nothing lies on half a step: the steps are no multiples of each other.
  Value* x = maker.input({1, 20, 6, 5}, ElementType::UInt8);
  const auto conv = [&](Value* src) {
    return maker.op("QLinearConv",
                    {src, scale(maker, 0.1f), zero<uint8_t>(maker, 127),
                     maker.constant(random_bytes<uint8_t>({20, 20, 3, 3}, 5)), scale(maker, 0.01f),
                     zero<uint8_t>(maker, 100), scale(maker, 0.2917f), zero<uint8_t>(maker, 127)},
                    make_attributes({{"pads", Ints{1, 1, 1, 1}}}));
  };
  Value* a = conv(x);
  Value* b = conv(a);
  maker.output(
      maker.op("QLinearAdd",
               {a, scale(maker, 0.1f), zero<uint8_t>(maker, 127), b, scale(maker, 0.1f),
                zero<uint8_t>(maker, 127), scale(maker, 0.2317f), zero<uint8_t>(maker, 127)},
               {}, "com.microsoft"));
  compare_steps(maker.model(), "QLinearAdd2");
}

TEST_F(CpuQuantised, MatrixProduct) {
  ModelMaker maker;
  Value* x = maker.input({3, 5, 40}, ElementType::UInt8);
  Value* weights = maker.constant(random_bytes<int8_t>({40, 12}, 5));
  maker.output(maker.op("QLinearMatMul", {x, scale(maker, 0.1f), zero<uint8_t>(maker, 131), weights,
                                          scale(maker, 0.02f), zero<int8_t>(maker, 0),
                                          scale(maker, 0.7f), zero<uint8_t>(maker, 100)}));
  compare_steps(maker.model(), "QLinearMatMul0");
}

/// Sums, to the bit, of every pair of types; zero points that are known and those that are not.
TEST_F(CpuQuantised, ProductsOfBytes) {
  for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
    for (const bool signed_weights : {false, true}) {
      SCOPED_TRACE(testing::Message() << to_string(type) << " signed weights " << signed_weights);
      ModelMaker maker;
      // Not a multiple of any block.
      const Shape shape = {300, 37};
      Value* a = maker.input({2, 5, 300}, type);
      Value* a_zero = maker.input({}, type);
      Value* b = signed_weights ? maker.constant(random_bytes<int8_t>(shape, 3))
                                : maker.constant(random_bytes<uint8_t>(shape, 3));
      Value* b_zero = signed_weights ? zero<int8_t>(maker, -100) : zero<uint8_t>(maker, 200);
      Value* columns = signed_weights ? maker.constant(random_bytes<int8_t>({37}, 4))
                                      : maker.constant(random_bytes<uint8_t>({37}, 4));
      maker.output(maker.op("MatMulInteger", {a, b}));
      maker.output(maker.op("MatMulInteger", {a, b, a_zero}));
      maker.output(maker.op("MatMulInteger", {a, b, nullptr, b_zero}));
      maker.output(maker.op("MatMulInteger", {a, b, a_zero, b_zero}));
      maker.output(maker.op("MatMulInteger", {a, b, a_zero, columns}));
      const auto rows = compare(maker.model(), 0.0f);
      for (int i = 0; i < 5; ++i) {
        const std::string kernel = implementation(rows, "MatMulInteger" + std::to_string(i));
        EXPECT_NE(kernel, "no row");
        EXPECT_FALSE(kernel.starts_with("ref")) << i << " " << kernel;
      }
    }
  }
}

TEST_F(CpuQuantised, ProductsOfBytesWithZeroPointsOfRowsRunTheReference) {
  ModelMaker maker;
  Value* a = maker.input({5, 30}, ElementType::UInt8);
  Value* b = maker.constant(random_bytes<int8_t>({30, 7}, 3));
  maker.output(maker.op("MatMulInteger", {a, b, maker.constant(random_bytes<uint8_t>({5}, 3))}));
  EXPECT_EQ(implementation(compare(maker.model(), 0.0f), "MatMulInteger0"), "ref");
}

struct IntegerWindow {
  Shape src;      ///< [n, ic, spatial...]
  Shape weights;  ///< [oc, ic / groups, kernel...]
  Ints pads, strides, dilations;
};

// The zero point of padding is known at run time only; zero points of weights cost sums of windows
// unless the weights fit int8 without them.
TEST_F(CpuQuantised, ConvolutionsOfBytes) {
  const IntegerWindow windows[] = {
      {{2, 24, 9, 8}, {20, 24, 3, 3}, {1, 0, 1, 2}, {1, 1}, {1, 1}},
      {{1, 24, 9, 8}, {40, 6, 3, 3}, {1, 1, 1, 1}, {2, 1}, {1, 2}},
      {{2, 40, 9, 8}, {40, 1, 5, 5}, {2, 2, 2, 2}, {1, 2}, {1, 1}},
      {{2, 3, 19, 18}, {16, 3, 7, 7}, {3, 3, 3, 3}, {2, 2}, {1, 1}},
      {{2, 37, 6, 7}, {21, 37, 1, 1}, {0, 0, 0, 0}, {1, 1}, {1, 1}},
      {{2, 24, 30}, {20, 24, 3}, {1, 1}, {2}, {1}},
      {{1, 16, 5, 6, 7}, {16, 16, 3, 3, 3}, {1, 1, 0, 1, 1, 2}, {1, 2, 1}, {1, 1, 1}},
  };
  for (const IntegerWindow& window : windows) {
    for (const bool is_signed : {false, true}) {
      SCOPED_TRACE(to_string(window.weights) + (is_signed ? " int8" : " uint8"));
      const int64_t channels = window.weights[0];
      const int64_t groups = window.src[1] / window.weights[1];
      ModelMaker maker;
      Value* x = maker.input(window.src, is_signed ? ElementType::Int8 : ElementType::UInt8);
      Value* x_zero = is_signed ? zero<int8_t>(maker, -7) : zero<uint8_t>(maker, 130);
      Value* w = is_signed ? maker.constant(random_bytes<int8_t>(window.weights, 5))
                           : maker.constant(random_bytes<uint8_t>(window.weights, 5));
      Value* w_zero = is_signed ? zero<int8_t>(maker, 90) : zero<uint8_t>(maker, 3);
      Value* w_zeros = is_signed ? maker.constant(random_bytes<int8_t>({channels}, 6))
                                 : maker.constant(random_bytes<uint8_t>({channels}, 6));
      Value* middle = is_signed ? zero<int8_t>(maker, 0) : zero<uint8_t>(maker, 128);
      const Attributes attributes = make_attributes({{"group", groups},
                                                     {"pads", window.pads},
                                                     {"strides", window.strides},
                                                     {"dilations", window.dilations}});
      const auto add = [&](std::vector<Value*> inputs) {
        maker.output(maker.op("ConvInteger", inputs, attributes));
      };
      add({x, w});
      add({x, w, x_zero});
      add({x, w, nullptr, w_zero});
      add({x, w, x_zero, w_zeros});
      add({x, w, x_zero, middle});
      const auto rows = compare(maker.model(), 0.0f);
      for (int i = 0; i < 5; ++i) {
        const std::string kernel = implementation(rows, "ConvInteger" + std::to_string(i));
        EXPECT_NE(kernel, "no row");
        // Widened bytes have no volumes.
        const bool has_kernel = cpu::has_exact_int8() || window.src.size() < 5;
        EXPECT_EQ(kernel.starts_with("ref"), !has_kernel) << i << " " << kernel;
      }
    }
  }
}

// As quantisers of weights alone write them: what lies between two convolutions stays where the
// first has put it.
TEST_F(CpuQuantised, ConvolutionsWithScalesOfTheMoment) {
  ModelMaker maker;
  Value* x = maker.op("Relu", {maker.conv(maker.input({2, 8, 12, 11}), 8, 24)});
  for (int i = 0; i < 2; ++i) {
    const std::vector<Value*> bytes = maker.split("DynamicQuantizeLinear", {x}, 3);
    Value* w = maker.constant(random_bytes<int8_t>({24, 24, 3, 3}, 5));
    Value* sums = maker.op("ConvInteger", {bytes[0], w, bytes[2]},
                           make_attributes({{"pads", Ints{1, 1, 1, 1}}}));
    Value* real = maker.op("Cast", {sums}, make_attributes({{"to", int64_t{1}}}));
    Value* factor = maker.op("Mul", {bytes[1], scale(maker, 0.002f)});
    x = maker.op("Relu", {maker.op("Mul", {real, factor})});
  }
  maker.output(maker.op("GlobalAveragePool", {x}));
  const auto rows = compare(maker.model(), 1e-4f);
  int reorders = 0;
  for (const ProfileRow& row : rows) {
    if (row.node_name.find("/reorder") != std::string::npos) ++reorders;
    EXPECT_FALSE(row.exec_type.starts_with("ref")) << row.node_name;
  }
  EXPECT_LE(reorders, 3) << "of the picture, of the first bytes, of the pooled values";
}

TEST_F(CpuQuantised, RangesOnEveryInstructionSet) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  cpu_testing::on_each_instruction_set([] {
    for (const size_t count : {0, 1, 7, 16, 37, 64, 200}) {
      for (size_t at = 0; at < count; ++at) {
        std::vector<float> values(count, 0.5f);
        const auto expect_range = [&](float value, float lowest, float highest, bool is_finite) {
          SCOPED_TRACE(fmt::format("{} at {} of {}", value, at, count));
          values[at] = value;
          const cpu::ValueRange range = cpu::range_row(values.data(), count);
          EXPECT_EQ(range.lowest, lowest);
          EXPECT_EQ(range.highest, highest);
          EXPECT_EQ(range.is_finite, is_finite);
        };
        const float others = count == 1 ? 0.0f : 0.5f;
        expect_range(-2.0f, -2.0f, others, true);
        expect_range(3.0f, 0.0f, 3.0f, true);
        expect_range(kNaN, 0.0f, others, false);
        expect_range(kInf, 0.0f, kInf, false);
        expect_range(-kInf, -kInf, others, false);
      }
    }
    EXPECT_EQ(cpu::range_row(nullptr, 0).highest, 0.0f);
  });
}

TEST_F(CpuQuantised, WhatIsNoNumberAmongOthers) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  cpu_testing::on_each_instruction_set([&] {
    for (const bool is_signed : {false, true}) {
      const cpu::ByteScale scale{0.5f, is_signed ? -3.0f : 100.0f, is_signed};
      const auto zero = static_cast<int64_t>(scale.zero);
      for (const size_t count : {1, 7, 40}) {
        for (const float value : {kNaN, kInf, -kInf, 3e38f, 1.0f}) {
          for (size_t at = 0; at < count; ++at) {
            std::vector<float> values(count, 2.0f);
            values[at] = value;
            const std::vector<float> scales(count, 0.5f);
            std::vector<uint8_t> wanted, rows(count), channels(count);
            for (const float v : values) {
              wanted.push_back(static_cast<uint8_t>(
                  is_signed ? static_cast<uint8_t>(saturate_quantized<int8_t>(v / 0.5f, zero))
                            : saturate_quantized<uint8_t>(v / 0.5f, zero)));
            }
            cpu::quantise_row(values.data(), scale, count,
                              reinterpret_cast<std::byte*>(rows.data()));
            cpu::quantise_channels(values.data(),
                                   cpu::ChannelSteps(scales, std::array{scale.zero}, is_signed),
                                   count, reinterpret_cast<std::byte*>(channels.data()));
            EXPECT_EQ(rows, wanted) << value << " at " << at << " of " << count;
            EXPECT_EQ(channels, wanted) << value << " at " << at << " of " << count;
          }
        }
      }
    }
  });
}

TEST_F(CpuQuantised, ScalesOfTheMoment) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  ModelMaker maker;
  for (Value* value : maker.split("DynamicQuantizeLinear", {maker.input({3, 20011})}, 3)) {
    maker.output(value);
  }
  const auto compiled = compile(maker.model(), {{"PERF_COUNT", "YES"}});
  ASSERT_NE(compiled, nullptr);
  const auto reference = ref_->compile_model(maker.model(), {}, nullptr);
  const std::vector<std::vector<float>> changes = {{},     {9.0f},        {-9.0f},     {kNaN},
                                                   {kInf}, {-kInf, 1.0f}, {kNaN, kInf}};
  for (const std::vector<float>& change : changes) {
    const Tensor x = random_inputs(maker.model())[0];
    std::ranges::copy(change, x.data<float>() + 60020);
    std::vector<ProfileRow> rows;
    const std::vector<Tensor> got = infer(*compiled, {x}, &rows);
    const std::vector<Tensor> wanted = infer(**reference, {x});
    ASSERT_EQ(got.size(), 3u);
    EXPECT_EQ(implementation(rows, "DynamicQuantizeLinear0"), "own_simd");
    EXPECT_TRUE(std::ranges::equal(got[0].values<uint8_t>(), wanted[0].values<uint8_t>()));
    EXPECT_EQ(got[1].values<float>()[0], wanted[1].values<float>()[0]);
    EXPECT_EQ(got[2].values<uint8_t>()[0], wanted[2].values<uint8_t>()[0]);
  }
}

TEST_F(CpuQuantised, AdditionAndConversions) {
  ModelMaker maker;
  Value* a = maker.input({1, 20, 5, 7}, ElementType::UInt8);
  Value* b = maker.input({1, 20, 5, 7}, ElementType::UInt8);
  Value* sum = maker.op("QLinearAdd",
                        {a, scale(maker, 0.1f), zero<uint8_t>(maker, 131), b, scale(maker, 0.02f),
                         zero<uint8_t>(maker, 3), scale(maker, 0.11f), zero<uint8_t>(maker, 100)},
                        {}, "com.microsoft");
  maker.output(sum);
  Value* real = maker.op("DequantizeLinear", {sum, scale(maker, 0.3f), zero<uint8_t>(maker, 77)});
  maker.output(maker.op("QuantizeLinear", {real, scale(maker, 0.21f), zero<int8_t>(maker, -5)}));
  compare_steps(maker.model(), "QLinearAdd0");
  EXPECT_EQ(implementation_, "own_simd");
}

// Reciprocals miss quotients by a little: what lies beside a half must not be rounded to the other
// side.
TEST(ByteLoops, QuotientsBesideHalvesAreRoundedAsDivisionsAre) {
  for (const float scale : {0.0173f, 1.0f / 3.0f, 0.1f, 7.3f, 1e-38f, 3e38f}) {
    std::vector<float> values;
    for (int k = -140; k < 300; ++k) {
      const float half = (static_cast<float>(k) + 0.5f) * scale;
      for (const float v : {std::nextafter(half, -1e38f), half, std::nextafter(half, 1e38f)}) {
        values.push_back(v);
      }
    }
    values.insert(values.end(), {0.0f, 1e30f, -1e30f, std::numeric_limits<float>::infinity()});
    for (const bool is_signed : {false, true}) {
      const cpu::ByteScale byte_scale{scale, is_signed ? -3.0f : 7.0f, is_signed};
      std::vector<std::byte> got(values.size());
      cpu::quantise_row(values.data(), byte_scale, values.size(), got.data());
      std::vector<std::byte> by_channels(values.size());
      const std::vector<float> scales(3, scale);
      cpu::quantise_channels(values.data(),
                             cpu::ChannelSteps(scales, std::array{byte_scale.zero}, is_signed),
                             values.size(), by_channels.data());
      EXPECT_EQ(got, by_channels);
      for (size_t i = 0; i < values.size(); ++i) {
        const double rounded = std::nearbyint(values[i] / scale) + byte_scale.zero;
        const double wanted =
            is_signed ? std::clamp(rounded, -128.0, 127.0) : std::clamp(rounded, 0.0, 255.0);
        const int stored = is_signed ? static_cast<int8_t>(got[i])
                                     : static_cast<int>(static_cast<uint8_t>(got[i]));
        ASSERT_EQ(stored, wanted) << values[i] << " / " << scale;
      }
    }
  }
}

TEST_F(CpuQuantised, AScalePerChannel) {
  ModelMaker maker;
  std::vector<float> scales;
  for (int c = 0; c < 37; ++c) scales.push_back(0.005f + 0.001f * static_cast<float>(c));
  const auto zeros = [&](auto zero) {
    return maker.constant(Tensor::from<decltype(zero)>({37}, std::vector(37, zero)));
  };
  Value* x = maker.input({2, 37, 5, 3});
  Value* list = maker.constant(Tensor::from<float>({37}, scales));
  maker.output(maker.op("QuantizeLinear", {x, list, zeros(uint8_t{117})}));
  maker.output(maker.op("QuantizeLinear", {x, list, zeros(int8_t{-5})}));
  compare_steps(maker.model(), "QuantizeLinear0");
  EXPECT_EQ(implementation_, "own_simd");
}

TEST_F(CpuQuantised, AdditionOfABroadcastConstant) {
  ModelMaker maker;
  Value* a = maker.input({2, 3, 5, 7}, ElementType::UInt8);
  Value* b = maker.constant(random_bytes<uint8_t>({5, 1}, 5));
  maker.output(maker.op("QLinearAdd",
                        {a, scale(maker, 0.1f), zero<uint8_t>(maker, 131), b, scale(maker, 0.02f),
                         zero<uint8_t>(maker, 3), scale(maker, 0.11f), zero<uint8_t>(maker, 100)},
                        {}, "com.microsoft"));
  compare_steps(maker.model(), "QLinearAdd0");
  EXPECT_EQ(implementation_, "own_simd");
}

TEST_F(CpuQuantised, GlobalPooling) {
  ModelMaker maker;
  const auto pool = [&](Value* x) {
    return maker.op("QLinearGlobalAveragePool",
                    {x, scale(maker, 0.1f), zero<uint8_t>(maker, 131), scale(maker, 0.02f),
                     zero<uint8_t>(maker, 7)},
                    {}, "com.microsoft");
  };
  Value* x = maker.input({2, 20, 9, 7}, ElementType::UInt8);
  maker.output(pool(x));
  // Behind a quantised convolution the channels lie last.
  maker.output(pool(maker.op(
      "QLinearConv", {x, scale(maker, 0.1f), zero<uint8_t>(maker, 127),
                      maker.constant(random_bytes<int8_t>({20, 20, 1, 1}, 5)), scale(maker, 0.01f),
                      zero<int8_t>(maker, 0), scale(maker, 0.1f), zero<uint8_t>(maker, 127)})));
  compare_steps(maker.model(), "QLinearGlobalAveragePool0");
  EXPECT_EQ(implementation_, "own");
}

TEST_F(CpuQuantised, FakeQuantizeWhereZeroLiesOnALevel) {
  ModelMaker maker;
  Value* x = maker.input({1});
  const auto limit = [&](float value) { return maker.constant(Tensor::scalar(value)); };
  maker.output(
      maker.op("FakeQuantize",
               {x, limit(-2.1083708f), limit(2.0918992f), limit(-2.1083708f), limit(2.0918992f)},
               make_attributes({{"levels", 256}}), "het"));
  // (-0.10706596 + 2.1083708) / 4.20027 * 255 = 121.49998: level 121, which is 7 below that of 0.
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  const std::vector<Tensor> got = infer(*compiled, {Tensor::from<float>({1}, {-0.10706596f})});
  ASSERT_EQ(got.size(), 1u);
  EXPECT_NEAR(got[0].values<float>()[0], -7 * 4.20027f / 255, 1e-5);
}

TEST_F(CpuQuantised, ModelsThatRoundToLevelsAddTheBiasLast) {
  if (cpu::preferred_blocked_format() != cpu::Format::Blocked16) {
    GTEST_SKIP() << "oneDNN's convolutions start from the bias on processors without AVX-512";
  }
  ModelMaker maker;
  const auto filled = [](const Shape& shape, float value) {
    return Tensor::from<float>(
        shape, std::vector<float>(static_cast<size_t>(element_count(shape)), value));
  };
  const auto limit = [&](float value) { return maker.constant(Tensor::scalar(value)); };
  Value* x = maker.input({1, 16, 8, 8});
  Value* rounded = maker.op("FakeQuantize", {x, limit(0), limit(1), limit(0), limit(1)},
                            make_attributes({{"levels", 3}}), "het");
  maker.output(maker.op("Conv", {rounded, maker.constant(filled({16, 16, 1, 1}, 1.0f)),
                                 maker.constant(filled({16}, 0x1p24f))}));
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  const std::vector<Tensor> got = infer(*compiled, {filled({1, 16, 8, 8}, 0.5f)});
  ASSERT_EQ(got.size(), 1u);
  // 16 products of 0.5; each alone would be lost beside 2^24.
  for (const float value : got[0].values<float>()) ASSERT_EQ(value, 0x1p24f + 8.0f);
}

}  // namespace
}  // namespace het
