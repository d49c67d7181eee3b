/// Values that stay bfloat16 between the products of a plan in that type.

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <unordered_set>

#include "devices/cpu/loops/half_loops.h"
#include "devices/cpu/moves/picture_reorder.h"
#include "devices/cpu/onednn/onednn.h"
#include "devices/cpu/plan/bfloat16_values.h"
#include "inference/passes/prepare_model.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/cpu/instruction_sets.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

class CpuBfloat16 : public CpuTest {
 protected:
  void SetUp() override {
    CpuTest::SetUp();
    if (!cpu::has_bfloat16()) {
      GTEST_SKIP() << cpu_testing::kNoBfloat16;
    }
  }

  /// What stands between two convolutions; the number of its channels behind.
  using Between = std::function<std::pair<Value*, int64_t>(ModelMaker&, Value*)>;

  /// Steps that only convert, in a model whose values are near REF's.
  size_t reorders(const Between& between) {
    ModelMaker maker;
    Value* x = maker.conv(maker.input({1, 16, 12, 10}), 16, 32, 3);
    const auto [y, channels] = between(maker, x);
    maker.output(maker.conv(y, channels, 16));
    return count_type(compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}}),
                      "Reorder");
  }
};

TEST_F(CpuBfloat16, StaysSoThroughWhatStandsBetweenConvolutions) {
  const Attributes window = make_attributes(
      {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints(4, 1)}});
  const std::vector<std::pair<std::string, Between>> cases = {
      {"MaxPool", [&](ModelMaker& m,
                      Value* x) { return std::pair(m.op("MaxPool", {x}, window), int64_t{32}); }},
      {"AveragePool",
       [&](ModelMaker& m, Value* x) {
         return std::pair(m.op("AveragePool", {x}, window), int64_t{32});
       }},
      {"GlobalAveragePool",
       [](ModelMaker& m, Value* x) {
         return std::pair(m.op("GlobalAveragePool", {x}), int64_t{32});
       }},
      {"Add",
       [&](ModelMaker& m, Value* x) {
         Value* a = m.op("MaxPool", {x}, window);
         return std::pair(m.op("Add", {a, m.op("AveragePool", {x}, window)}), int64_t{32});
       }},
      {"a gate",
       [](ModelMaker& m, Value* x) {
         Value* gate = m.op("Sigmoid", {m.conv(m.op("GlobalAveragePool", {x}), 32, 32)});
         return std::pair(m.op("Mul", {x, gate}), int64_t{32});
       }},
      {"Concat",
       [](ModelMaker& m, Value* x) {
         Value* y = m.op("Concat", {m.conv(x, 32, 10), x, m.conv(x, 32, 7)},
                         make_attributes({{"axis", int64_t{1}}}));
         return std::pair(y, int64_t{49});
       }},
      {"Split and Concat",
       [](ModelMaker& m, Value* x) {
         const auto parts =
             m.split("Split", {x, m.ints({10, 22})}, 2, make_attributes({{"axis", int64_t{1}}}));
         Value* y = m.op("Concat", {parts[1], m.conv(parts[0], 10, 10)},
                         make_attributes({{"axis", int64_t{1}}}));
         return std::pair(y, int64_t{32});
       }},
      {"Slice",
       [](ModelMaker& m, Value* x) {
         Value* y = m.op("Slice", {x, m.ints({3, 2}), m.ints({30, 9}), m.ints({1, 2})});
         return std::pair(y, int64_t{27});
       }},
      {"ChannelShuffle",
       [](ModelMaker& m, Value* x) {
         Value* a = m.op("Reshape", {x, m.ints({1, 4, 8, 12, 10})});
         Value* b = m.op("Transpose", {a}, make_attributes({{"perm", Ints{0, 2, 1, 3, 4}}}));
         return std::pair(m.op("Reshape", {b, m.ints({1, 32, 12, 10})}), int64_t{32});
       }},
      {"a half of a shuffled Concat",
       [](ModelMaker& m, Value* x) {
         Value* both = m.op("Concat", {m.conv(x, 32, 32), m.conv(x, 32, 32)},
                            make_attributes({{"axis", int64_t{1}}}));
         Value* a = m.op("Reshape", {both, m.ints({1, 2, 32, 12, 10})});
         Value* b = m.op("Transpose", {a}, make_attributes({{"perm", Ints{0, 2, 1, 3, 4}}}));
         Value* shuffled = m.op("Reshape", {b, m.ints({1, 64, 12, 10})});
         Value* half = m.op("Slice", {shuffled, m.ints({0}), m.ints({32}), m.ints({1})});
         return std::pair(half, int64_t{32});
       }},
      {"Resize",
       [](ModelMaker& m, Value* x) {
         Value* scales = m.constant(Tensor::from<float>({4}, {1.0f, 1.0f, 2.0f, 1.5f}));
         return std::pair(m.op("Resize", {x, nullptr, scales},
                               make_attributes({{"mode", std::string("nearest")}})),
                          int64_t{32});
       }},
      {"Resize between pixels",
       [](ModelMaker& m, Value* x) {
         Value* scales = m.constant(Tensor::from<float>({4}, {1.0f, 1.0f, 2.0f, 1.5f}));
         return std::pair(m.op("Resize", {x, nullptr, scales},
                               make_attributes({{"mode", std::string("linear")}})),
                          int64_t{32});
       }},
      {"tokens",
       [](ModelMaker& m, Value* x) {
         const Attributes turned = make_attributes({{"perm", Ints{0, 2, 1}}});
         Value* rows = m.op("Transpose", {m.op("Reshape", {x, m.ints({1, 32, 120})})}, turned);
         Value* normal = m.op("LayerNormalization", {rows, m.random({32}), m.random({32})});
         Value* columns = m.op("Transpose", {normal}, turned);
         return std::pair(m.op("Reshape", {columns, m.ints({1, 32, 12, 10})}), int64_t{32});
       }},
      {"InstanceNormalization",
       [](ModelMaker& m, Value* x) {
         return std::pair(m.op("InstanceNormalization", {x, m.random({32}), m.random({32})}),
                          int64_t{32});
       }},
      {"GroupNormalization",
       [](ModelMaker& m, Value* x) {
         return std::pair(m.op("GroupNormalization", {x, m.random({32}), m.random({32})},
                               make_attributes({{"num_groups", int64_t{2}}})),
                          int64_t{32});
       }},
  };
  const size_t without =
      reorders([](ModelMaker& m, Value* x) { return std::pair(m.conv(x, 32, 24), int64_t{24}); });
  for (const auto& [name, between] : cases) {
    SCOPED_TRACE(name);
    // A single pixel of the output is plain as it is.
    EXPECT_LE(reorders(between), without);
  }
}

TEST_F(CpuBfloat16, StaysSoBetweenTheProductsOfATransformer) {
  // Rows of 43: no whole number of vectors.
  const auto reorders_of = [&](const std::function<Value*(ModelMaker&, Value*)>& between) {
    ModelMaker maker;
    Value* x = maker.op("MatMul", {maker.input({2, 6, 16}), maker.random({16, 43}, 0.3f)});
    maker.output(maker.op("MatMul", {between(maker, x), maker.random({43, 8}, 0.3f)}));
    return count_type(compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}}),
                      "Reorder");
  };
  const auto normal = [](ModelMaker& m, Value* x) {
    return m.op("LayerNormalization", {x, m.random({43}), m.random({43})});
  };
  const std::vector<std::pair<std::string, std::function<Value*(ModelMaker&, Value*)>>> cases = {
      {"LayerNormalization", normal},
      {"RMSNormalization",
       [](ModelMaker& m, Value* x) {
         return m.op("RMSNormalization", {x, m.random({43})});
       }},
      {"a sum with what was normalised",
       [&](ModelMaker& m, Value* x) {
         Value* inner = m.op("Gelu", {m.op("MatMul", {normal(m, x), m.random({43, 20}, 0.3f)})});
         return m.op("Add", {m.op("MatMul", {inner, m.random({20, 43}, 0.3f)}), x});
       }},
      {"products of two values",
       [](ModelMaker& m, Value* x) {
         Value* parts = m.op("Reshape", {x, m.ints({2, 2, 3, 43})});
         Value* turned = m.op("Transpose", {parts}, make_attributes({{"perm", Ints{0, 1, 3, 2}}}));
         Value* product = m.op("MatMul", {m.op("MatMul", {parts, turned}), parts});
         return m.op("Reshape", {product, m.ints({2, 6, 43})});
       }},
      {"rows divided by their norms",
       [](ModelMaker& m, Value* x) {
         return m.op("Div", {x, m.op("ReduceL2", {x, m.ints({2})})});
       }},
      {"windows",
       [](ModelMaker& m, Value* x) {
         Value* parts = m.op("Reshape", {x, m.ints({2, 2, 3, 43})});
         Value* turned = m.op("Transpose", {parts}, make_attributes({{"perm", Ints{0, 2, 1, 3}}}));
         return m.op("Reshape", {turned, m.ints({2, 6, 43})});
       }},
      {"Pad with a number",
       [](ModelMaker& m, Value* x) {
         return m.op("Pad", {x, m.ints({0, 1, 0, 0, 2, 0}), m.constant(Tensor::scalar(0.75f))});
       }},
      {"Pad with what is at the edge",
       [](ModelMaker& m, Value* x) {
         return m.op("Pad", {x, m.ints({0, 1, 0, 0, 2, 0})},
                     make_attributes({{"mode", std::string("edge")}}));
       }},
      {"tokens rolled around",
       [](ModelMaker& m, Value* x) {
         Value* tail = m.op("Slice", {x, m.ints({2}), m.ints({6}), m.ints({1})});
         Value* head = m.op("Slice", {x, m.ints({0}), m.ints({2}), m.ints({1})});
         return m.op("Concat", {tail, head}, make_attributes({{"axis", int64_t{1}}}));
       }},
  };
  for (const auto& [name, between] : cases) {
    SCOPED_TRACE(name);
    EXPECT_EQ(reorders_of(between), 1U) << "of the input only";
  }
}

TEST_F(CpuBfloat16, TokensOfAConvolutionBecomePlainOnce) {
  for (const char* precision : {"f32", "bf16"}) {
    SCOPED_TRACE(precision);
    ModelMaker maker;
    Value* pixels = maker.conv(maker.input({1, 8, 5, 6}), 8, 48);
    Value* planes = maker.op("Reshape", {pixels, maker.ints({1, 48, 30})});
    Value* x = maker.op("Transpose", {planes}, make_attributes({{"perm", Ints{0, 2, 1}}}));
    x = maker.op("Mul", {x, maker.random({48})});
    size_t sums = 0;
    for (; sums < 4; ++sums) {
      Value* normal = maker.op("LayerNormalization", {x, maker.random({48})});
      Value* scaled = maker.op(
          "Mul", {maker.op("MatMul", {normal, maker.random({48, 48}, 0.1f)}), maker.random({48})});
      x = maker.op("Add", {x, scaled});
    }
    maker.output(maker.op("MatMul", {x, maker.random({48, 8}, 0.1f)}));
    const auto rows = compare(maker.model(), precision == std::string("f32") ? 1e-3f : 0.1f,
                              {{"INFERENCE_PRECISION_HINT", precision}, {"DETERMINISTIC", "YES"}});
    EXPECT_LE(count_type(rows, "Reorder"), 3U) << "none for each of the sums";
  }
}

TEST_F(CpuBfloat16, StreamsThatAreShownStayFloat) {
  // Sums grow far beyond what each adds; the last normalisation shows them, or a product hides
  // them.
  const auto error = [&](bool shown) {
    ModelMaker maker;
    Value* x = maker.op("Mul", {maker.input({6, 48}), maker.constant(Tensor::scalar(40.0f))});
    for (int i = 0; i < 3; ++i) {
      Value* normal = maker.op("LayerNormalization", {x, maker.random({48})});
      x = maker.op("Add", {maker.op("MatMul", {normal, maker.random({48, 48}, 0.01f)}), x});
    }
    Value* last = maker.op("LayerNormalization", {x, maker.random({48})});
    maker.output(shown ? last : maker.op("MatMul", {last, maker.random({48, 48}, 0.15f)}));
    const auto narrow = compile(maker.model(), {{"INFERENCE_PRECISION_HINT", "bf16"}});
    const auto exact = compile(maker.model(), {{"INFERENCE_PRECISION_HINT", "f32"}});
    const std::vector<Tensor> inputs = {cpu_testing::random_tensor({6, 48}, 1)};
    const std::vector<Tensor> got = infer(*narrow, inputs);
    const std::vector<Tensor> wanted = infer(*exact, inputs);
    float most = 0.0f;
    for (size_t i = 0; i < 6 * 48; ++i) {
      most = std::max(most, std::abs(got[0].values<float>()[i] - wanted[0].values<float>()[i]));
    }
    return most;
  };
  EXPECT_LT(error(true), 1e-3f);
  EXPECT_LT(error(false), 5e-2f);
}

TEST_F(CpuBfloat16, ProductsOfTwoValuesOneOfThemFloat) {
  // Softmax gives float32; its product with what comes in bfloat16 is one of bfloat16.
  ModelMaker maker;
  Value* x = maker.op("MatMul", {maker.input({2, 3, 21, 16}), maker.random({16, 43}, 0.3f)});
  Value* weights = maker.op("Softmax", {maker.input({2, 3, 19, 21})});
  Value* product = maker.op("MatMul", {weights, x});
  maker.output(maker.op("MatMul", {product, maker.random({43, 8}, 0.3f)}));
  // Not every release of oneDNN names the type of a kernel, but none has one kernel for both.
  const auto kernel = [&](const char* precision) {
    return implementation(compare(maker.model(), 0.02f, {{"INFERENCE_PRECISION_HINT", precision}}),
                          "MatMul2");
  };
  EXPECT_NE(kernel("bf16"), kernel("f32"));
}

TEST_F(CpuBfloat16, RowsAreReducedPartByPart) {
  for (const char* type : {"ReduceL2", "ReduceMax", "ReduceMin"}) {
    for (const int64_t length : {5, 43, 1024, 1500, 2049}) {
      SCOPED_TRACE(testing::Message() << type << " of " << length);
      ModelMaker maker;
      Value* x = maker.op("MatMul", {maker.input({3, 8}), maker.random({8, length}, 0.3f)});
      maker.output(maker.op(type, {x, maker.ints({1})}));
      const auto rows = compare(maker.model(), 0.02f, {{"INFERENCE_PRECISION_HINT", "bf16"}});
      EXPECT_EQ(count_type(rows, "Reorder"), 1U) << "of the input only";
      Tensor given = cpu_testing::random_tensor({3, 8}, 5);
      given.values<float>()[9] = std::numeric_limits<float>::quiet_NaN();
      const auto compiled = compile(maker.model(), {{"INFERENCE_PRECISION_HINT", "bf16"}});
      ASSERT_NE(compiled, nullptr);
      const std::vector<Tensor> outputs = infer(*compiled, {given});
      for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(std::isnan(outputs[0].values<float>()[i]), i == 1) << i;
      }
    }
  }
}

TEST_F(CpuBfloat16, RowsOfNanAndInfinitiesAreNormalised) {
  ModelMaker maker;
  Value* x = maker.op("MatMul", {maker.input({4, 16}), maker.random({16, 43}, 0.3f)});
  Value* y = maker.op("LayerNormalization", {x, maker.random({43})});
  maker.output(maker.op("MatMul", {y, maker.random({43, 8}, 0.3f)}));
  Tensor given = cpu_testing::random_tensor({4, 16}, 5);
  given.values<float>()[3] = std::numeric_limits<float>::quiet_NaN();
  given.values<float>()[20] = std::numeric_limits<float>::infinity();
  const auto compiled = compile(maker.model(), {{"INFERENCE_PRECISION_HINT", "bf16"}});
  ASSERT_NE(compiled, nullptr);
  const std::vector<Tensor> outputs = infer(*compiled, {given});
  for (size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(std::isnan(outputs[0].values<float>()[i]), i < 16) << i;
  }
}

TEST_F(CpuBfloat16, GroupsOfNanAndInfinitiesAreNormalised) {
  // In lanes, and as planes where channels fill none.
  for (const int64_t channels : {16, 18}) {
    ModelMaker maker;
    Value* x = maker.conv(maker.input({4, 3, 5, 6}), 3, channels, 1);
    Value* y =
        maker.op("GroupNormalization", {x, maker.random({channels}), maker.random({channels})},
                 make_attributes({{"num_groups", int64_t{2}}}));
    maker.output(maker.conv(y, channels, 8, 1));
    Tensor given = cpu_testing::random_tensor({4, 3, 5, 6}, 5);
    given.values<float>()[3] = std::numeric_limits<float>::quiet_NaN();
    given.values<float>()[100] = std::numeric_limits<float>::infinity();
    // Squares beyond what floats hold.
    for (size_t i = 180; i < 270; ++i) given.values<float>()[i] *= 1e22f;
    const auto compiled = compile(maker.model(), {{"INFERENCE_PRECISION_HINT", "bf16"}});
    ASSERT_NE(compiled, nullptr);
    const std::vector<Tensor> outputs = infer(*compiled, {given});
    for (size_t i = 0; i < 4 * 8 * 30; ++i) {
      const float value = outputs[0].values<float>()[i];
      ASSERT_EQ(std::isnan(value), i < 480) << i << " of " << channels;
      if (i >= 480) {
        ASSERT_LT(std::abs(value), 1e3f) << i << " of " << channels;
      }
    }
  }
}

TEST_F(CpuBfloat16, MaximaOfAllWindows) {
  // Channels: fewer than a vector, not a whole number of them; signs of both kinds.
  for (const int64_t channels : {5, 20, 32, 43}) {
    ModelMaker maker;
    Value* x = maker.conv(maker.input({2, 8, 11, 9}), 8, channels);
    const auto add = [&](Ints kernel, Ints strides, Ints pads, int64_t ceil_mode, Ints dilations) {
      Value* y = maker.op("MaxPool", {x},
                          make_attributes({{"kernel_shape", kernel},
                                           {"strides", strides},
                                           {"pads", pads},
                                           {"ceil_mode", ceil_mode},
                                           {"dilations", dilations}}));
      maker.output(maker.conv(y, channels, 8));
    };
    add({3, 3}, {1, 1}, {1, 1, 1, 1}, 0, {1, 1});
    add({3, 2}, {2, 2}, {0, 1, 2, 0}, 1, {1, 1});
    add({5, 5}, {1, 3}, {2, 2, 2, 2}, 0, {1, 1});
    add({2, 2}, {1, 1}, {1, 1, 0, 0}, 0, {2, 2});
    maker.output(maker.conv(maker.op("GlobalMaxPool", {x}), channels, 8));
    size_t own = 0;
    for (const ProfileRow& row :
         compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}})) {
      own += row.layer_type.find("MaxPool") != std::string::npos && row.exec_type == "own_simd";
    }
    EXPECT_EQ(own, 4u);
  }
}

TEST_F(CpuBfloat16, OthersReadFloats) {
  // Softmax and outputs do not take it; an interpolation for one who does is read by it, too.
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 16, 12, 10}), 16, 32, 3);
  Value* pooled = maker.op("MaxPool", {x}, make_attributes({{"kernel_shape", Ints{2, 2}}}));
  maker.output(maker.conv(pooled, 32, 8));
  maker.output(maker.op("Softmax", {pooled}, make_attributes({{"axis", int64_t{1}}})));
  maker.output(pooled);
  Value* scales = maker.constant(Tensor::from<float>({4}, {1.0f, 1.0f, 2.0f, 2.0f}));
  Value* larger = maker.op("Resize", {pooled, nullptr, scales},
                           make_attributes({{"mode", std::string("linear")}}));
  maker.output(maker.conv(larger, 32, 8));
  compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}});
}

/// 300 / 224 in bfloat16 would give a picture of 299 pixels.
TEST(Bfloat16Values, SizesAndWhatIsPaddedWithStayFloats) {
  ModelMaker maker;
  Value* x = maker.conv(maker.input({1, 16, 12, 10}), 16, 32);
  const auto number = [&](const Shape& shape) {
    return maker.op("Mul", {maker.input(shape), maker.random(shape)});
  };
  Value* scales = number({4});
  Value* larger =
      maker.op("Resize", {x, nullptr, scales}, make_attributes({{"mode", std::string("linear")}}));
  Value* fill = number({});
  Value* padded = maker.op("Pad", {x, maker.ints({0, 0, 1, 1, 0, 0, 1, 1}), fill});
  for (Value* picture : {larger, padded}) maker.output(maker.conv(picture, 32, 8));
  ASSERT_TRUE(prepare_model(maker.model()).ok());
  std::unordered_set<std::string> names;
  for (const Value* value : cpu::bfloat16_values(maker.model())) names.insert(value->name());
  for (const Value* value : {x, larger, padded}) EXPECT_EQ(names.count(value->name()), 1u);
  for (const Value* value : {scales, fill}) EXPECT_EQ(names.count(value->name()), 0u);
}

TEST(Bfloat16Rows, ConvertAsSingleValuesDo) {
  std::vector<float> values = {0.0f,
                               -0.0f,
                               1.0f,
                               -1.0f,
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::max(),
                               std::numeric_limits<float>::denorm_min(),
                               std::numeric_limits<float>::quiet_NaN(),
                               1.00390625f,   // between two, the lower one is even
                               1.01171875f};  // between two, the upper one is even
  const Tensor random = cpu_testing::random_tensor({67}, 3, 100.0f);
  values.insert(values.end(), random.values<float>().begin(), random.values<float>().end());
  std::vector<BFloat16> narrow(values.size());
  std::vector<float> wide(values.size());
  cpu::float_to_bfloat16_row(values.data(), values.size(), narrow.data());
  cpu::bfloat16_to_float_row(narrow.data(), narrow.size(), wide.data());
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(std::isnan(wide[i]), std::isnan(values[i])) << values[i];
    if (std::isnan(values[i])) continue;
    EXPECT_EQ(narrow[i].bits, BFloat16(values[i]).bits) << values[i];
    EXPECT_EQ(wide[i], static_cast<float>(narrow[i])) << values[i];
  }
}

TEST(PictureReorder, NumbersOfAllKindsInPicturesOfAllSizes) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {std::numeric_limits<float>::quiet_NaN(),
                           kInfinity,
                           -kInfinity,
                           -0.0f,
                           3.4e38f,      // rounds to infinity
                           1.00390625f,  // halves, to even ones
                           1.01171875f};
  cpu_testing::on_each_instruction_set([&] {
    for (size_t count = 1; count < 100; ++count) {
      const size_t plane = count + 3;
      std::vector<float> from(3 * plane);
      for (size_t i = 0; i < from.size(); ++i) {
        from[i] = i % 5 == 0 ? special[i / 5 % 7] : 0.37f * static_cast<float>(i) - 20.0f;
      }
      std::vector<BFloat16> got(3 * count + 1, BFloat16(-7.0f));
      cpu::float_planes_to_bfloat16_pixels(from.data(), plane, count, got.data());
      EXPECT_EQ(got.back().bits, BFloat16(-7.0f).bits);
      for (size_t i = 0; i < 3 * count; ++i) {
        const float value = from[i % 3 * plane + i / 3];
        if (std::isnan(value)) {
          ASSERT_TRUE(std::isnan(static_cast<float>(got[i]))) << i << " of " << count;
        } else {
          ASSERT_EQ(got[i].bits, BFloat16(value).bits) << i << " of " << count;
        }
      }
    }
  });
}

TEST(PictureReorder, PlanesBecomePixels) {
  constexpr int64_t kPixels = 71 * 67;  // of two threads, with a rest
  const cpu::TensorSpec planes{ElementType::Float32, {2, 3, 71, 67}, cpu::Format::Plain};
  const cpu::TensorSpec pixels{ElementType::BFloat16, {2, 3, 71, 67}, cpu::Format::ChannelsLast};
  const auto kernel = cpu::make_picture_reorder(planes, pixels);
  ASSERT_NE(kernel, nullptr);
  const Tensor source = cpu_testing::random_tensor({2, 3, 71, 67}, 3, 100.0f);
  const std::span<const float> from = source.values<float>();
  std::vector<BFloat16> got(from.size());
  std::byte* inputs[] = {reinterpret_cast<std::byte*>(const_cast<float*>(from.data()))};
  std::byte* outputs[] = {reinterpret_cast<std::byte*>(got.data())};
  cpu::KernelArgs args;
  args.inputs = inputs;
  args.outputs = outputs;
  ASSERT_TRUE(kernel->execute(args, nullptr).ok());
  for (int64_t i = 0; i < 2 * kPixels * 3; ++i) {
    const int64_t image = i / (3 * kPixels);
    const int64_t place = (image * 3 + i % 3) * kPixels + i / 3 % kPixels;
    ASSERT_EQ(got[static_cast<size_t>(i)].bits, BFloat16(from[static_cast<size_t>(place)]).bits);
  }
  // Everything else is oneDNN's.
  const auto refused = [&](cpu::TensorSpec src, cpu::TensorSpec dst) {
    return cpu::make_picture_reorder(src, dst) == nullptr;
  };
  EXPECT_TRUE(refused(pixels, planes));
  EXPECT_TRUE(refused({ElementType::Float32, {2, 4, 71, 67}, cpu::Format::Plain}, pixels));
  EXPECT_TRUE(refused(planes, {ElementType::Float32, {2, 3, 71, 67}, cpu::Format::ChannelsLast}));
}

TEST_F(CpuBfloat16, PicturesAreReorderedInOnePass) {
  ModelMaker maker;
  maker.output(maker.conv(maker.input({2, 3, 37, 41}), 3, 32));
  const auto rows =
      compare(maker.model(), 0.05f, {{"INFERENCE_PRECISION_HINT", "bf16"}, {"CACHE_DIR", ""}});
  const auto reorder = std::ranges::find(rows, "x0/reorder", &ProfileRow::node_name);
  ASSERT_NE(reorder, rows.end());
  EXPECT_EQ(reorder->exec_type, "own_simd");
}

}  // namespace
}  // namespace het
