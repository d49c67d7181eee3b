#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/devices/gpu/gpu_testing.h"
#include "tests/devices/int8_testing.h"

namespace het::gpu_testing {
namespace {

/// Quantised models on the int8 kernels, which GPU_INT8=YES asks for on any device.
class GpuInt8 : public device_testing::Int8Test<GpuTest> {
 protected:
  GpuInt8() { properties_["GPU_INT8"] = "YES"; }

  Value* zero_of(int value, bool is_signed) {
    return is_signed ? maker_.constant(Tensor::scalar(static_cast<int8_t>(value))) : zero(value);
  }
  /// A value through bytes.
  Value* rounded(Value* x, float step, int zero_point) {
    return dequantise(quantise(x, step, zero_point), step, zero_point);
  }
  /// Values of 0 to 255 around 100 do not fit int8; the largest and the least are there.
  Value* weights_around_100(const Shape& shape) {
    Tensor bytes = random_bytes<uint8_t>(shape, 5);
    bytes.data<uint8_t>()[0] = 0;
    bytes.data<uint8_t>()[1] = 255;
    return maker_.op("DequantizeLinear", {maker_.constant(bytes), scale(0.002f), zero(100)});
  }
  Value* fake(Value* value, Value* low, Value* high) {
    return maker_.op("FakeQuantize", {value, low, high, low, high},
                     make_attributes({{"levels", 256}}), "het");
  }
};

TEST_F(GpuInt8, ConvolutionsOfAllKinds) {
  // 32 groups are depthwise, 16 are merged, 2 stay apart.
  for (const int64_t group : {1, 2, 16, 32}) {
    maker_ = ModelMaker();
    for (const int64_t kernel : {1, 3}) {
      for (const int src_zero : {0, 99}) {
        for (const int dst_zero : {0, 131}) {
          Value* x = stored_input({1, 32, 9, 8}, 0.02f, src_zero);
          Value* c = maker_.op(
              "Conv", {x, weights({32, 32 / group, kernel, kernel}, 0), maker_.random({32})},
              make_attributes({{"group", group}, {"pads", Ints(4, kernel / 2)}}));
          maker_.output(quantise(c, 0.06f, dst_zero));
          Value* clipped = maker_.op("Clip", {c, scale(-1.0f), scale(2.5f)});
          maker_.output(quantise(clipped, 0.02f, dst_zero));
        }
      }
    }
    SCOPED_TRACE(testing::Message() << group << " groups");
    const auto rows = compare_steps();
    EXPECT_EQ(count_type(rows, "Int8Conv"), 8u);
    EXPECT_EQ(count_type(rows, "Conv"), 0u);
    EXPECT_EQ(implementation(rows, "Conv2") == "int8_depthwise", group == 32);
  }
}

TEST_F(GpuInt8, SizesThatFillNoVector) {
  // Channels by four and not, in groups and alone, depthwise ones included, several pictures.
  struct Case {
    int64_t n, ic, oc, group;
  };
  for (const Case& c : {Case{2, 3, 5, 1}, Case{1, 19, 21, 1}, Case{1, 36, 42, 3},
                        Case{1, 35, 25, 5}, Case{2, 37, 37, 37}, Case{1, 5, 5, 5}}) {
    maker_ = ModelMaker();
    SCOPED_TRACE(fmt::format("{} channels to {} in {} groups", c.ic, c.oc, c.group));
    Value* x = stored_input({c.n, c.ic, 11, 10}, 0.02f, 77);
    Value* w = weights({c.oc, c.ic / c.group, 3, 2}, 0);
    Value* y = maker_.op("Conv", {x, w, maker_.random({c.oc})},
                         make_attributes({{"group", c.group},
                                          {"pads", Ints{2, 0, 1, 1}},
                                          {"strides", Ints{1, 2}},
                                          {"dilations", Ints{2, 1}}}));
    maker_.output(quantise(y, 0.05f, 120));
    maker_.output(y);
    EXPECT_EQ(count_type(compare_steps(), "Int8Conv"), 1u);
  }
}

TEST_F(GpuInt8, QlinearConvolutionsInAllTypes) {
  for (const int64_t group : {1, 20}) {
    for (const bool signed_src : {false, true}) {
      for (const bool signed_weights : {false, true}) {
        SCOPED_TRACE(testing::Message() << "group " << group << " src " << signed_src << " weights "
                                        << signed_weights);
        maker_ = ModelMaker();
        const Shape shape = {20, 20 / group, 3, 3};
        const ElementType type = signed_src ? ElementType::Int8 : ElementType::UInt8;
        Value* w = signed_weights ? maker_.constant(random_bytes<int8_t>(shape, 3))
                                  : maker_.constant(random_bytes<uint8_t>(shape, 3));
        std::vector<int32_t> bias;
        std::vector<float> scales;
        for (int c = 0; c < 20; ++c) {
          bias.push_back(c * 300 - 2000);
          scales.push_back(0.01f + 0.001f * static_cast<float>(c));
        }
        Value* w_scale =
            group == 1 ? maker_.constant(Tensor::from<float>({20}, scales)) : scale(0.02f);
        maker_.output(
            maker_.op("QLinearConv",
                      {maker_.input({1, 20, 9, 8}, type), scale(0.05f),
                       zero_of(signed_src ? -3 : 120, signed_src), w, w_scale,
                       zero_of(signed_weights ? 0 : 128, signed_weights),
                       scale(group == 1 ? 2.0f : 0.5f), zero_of(signed_src ? 4 : 128, signed_src),
                       maker_.constant(Tensor::from<int32_t>({20}, bias))},
                      make_attributes({{"pads", Ints(4, 1)}, {"group", group}})));
        // Sums and factors are those of the operator: nothing differs.
        compare(maker_.model(), 0.0f, {{"GPU_INT8", "YES"}});
      }
    }
  }
}

TEST_F(GpuInt8, QlinearProductsStayBytes) {
  Value* x = maker_.input({3, 4, 37}, ElementType::UInt8);
  const auto product = [&](Value* src, const Shape& shape, unsigned seed) {
    return maker_.op(
        "QLinearMatMul",
        {src, scale(0.1f), zero(127), maker_.constant(random_bytes<int8_t>(shape, seed)),
         scale(0.01f), maker_.constant(Tensor::scalar(int8_t{0})), scale(0.61f), zero(127)});
  };
  maker_.output(product(product(x, {37, 40}, 3), {40, 18}, 4));
  const auto rows = compare(maker_.model(), 0.0f, {{"GPU_INT8", "YES"}});
  EXPECT_EQ(count_type(rows, "Int8MatMul"), 2u);
  EXPECT_EQ(count_type(rows, "QuantizeLinear") + count_type(rows, "DequantizeLinear"), 0u);
}

TEST_F(GpuInt8, ActivationsInRealValues) {
  Value* x = stored_input({1, 32, 9, 8}, 0.02f, 7);
  Value* c = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0)});
  maker_.output(quantise(maker_.op("Mul", {c, maker_.op("Sigmoid", {c})}), 0.03f, 12));
  Value* d = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0, 6)});
  maker_.output(quantise(maker_.op("Round", {d}), 0.03f, 128));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
  EXPECT_EQ(count_type(rows, "QuantizeLinear"), 0u);
}

TEST_F(GpuInt8, ConvolutionsAlongOneDimension) {
  Value* x = stored_input({2, 16, 30}, 0.02f, 7);
  Value* c =
      maker_.op("Conv", {x, weights({32, 16, 3}, 0)}, make_attributes({{"pads", Ints{1, 1}}}));
  maker_.output(quantise(c, 0.03f, 128));
  EXPECT_EQ(count_type(compare_steps(), "Int8Conv"), 1u);
}

TEST_F(GpuInt8, VolumesStayInFloat) {
  Value* x = stored_input({1, 8, 4, 5, 6}, 0.02f, 7);
  maker_.output(quantise(maker_.op("Conv", {x, weights({8, 8, 3, 3, 3}, 0)}), 0.03f, 128));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 0u);
  EXPECT_EQ(count_type(rows, "Conv"), 1u);
}

TEST_F(GpuInt8, ASumBehindTwoConvolutions) {
  Value* x = stored_input({1, 32, 9, 8}, 0.02f, 128);
  Value* a = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0)});
  Value* b = maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0, 6)});
  // Most of the first lies beyond the limits of its rounding, -1 and 1.55.
  Value* sum = maker_.op("Add", {rounded(a, 0.01f, 100), rounded(b, 0.02f, 90)});
  maker_.output(quantise(maker_.op("Relu", {sum}), 0.015f, 0));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
  EXPECT_EQ(count_type(rows, "QLinearAdd"), 0u);
}

TEST_F(GpuInt8, SumsOfBytesAndOfFloats) {
  Value* x = stored_input({1, 37, 9, 8}, 0.02f, 128);
  Value* c = maker_.op("Conv", {x, weights({37, 37, 1, 1}, 0)});
  maker_.output(quantise(maker_.op("Add", {x, c}), 0.05f, 100));
  maker_.output(quantise(maker_.op("Relu", {x}), 0.01f, 3));
  // A float that is not stored as bytes is added to a float.
  Value* d = maker_.op("Conv", {x, weights({37, 37, 3, 3}, 0, 6)},
                       make_attributes({{"pads", Ints(4, 1)}}));
  maker_.output(maker_.op("Relu", {maker_.op("Add", {d, maker_.input({1, 37, 9, 8})})}));
  const auto rows = compare_steps(1e-3f);
  EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
  EXPECT_EQ(count_type(rows, "QLinearAdd") + count_type(rows, "Elementwise"), 0u);
}

TEST_F(GpuInt8, ProductsWithRows) {
  Value* x = stored_input({3, 40}, 0.02f, 131);
  maker_.output(maker_.op("Gemm", {x, weights({12, 40}, 0), maker_.random({12})},
                          make_attributes({{"transB", int64_t{1}}})));
  Value* m = maker_.op("MatMul", {stored_input({2, 5, 39}, 0.02f, 131), weights({39, 12}, 1)});
  maker_.output(quantise(m, 0.03f, 128));
  EXPECT_EQ(count_type(compare_steps(), "Int8MatMul"), 2u);
}

TEST_F(GpuInt8, AChainStaysBytes) {
  Value* x = maker_.input({1, 16, 12, 12}, ElementType::UInt8);
  Value* y = dequantise(x, 0.02f, 128);
  const auto conv = [&](Value* src, const Shape& shape, int64_t group) {
    Value* c = maker_.op("Conv", {src, weights(shape, 0)},
                         make_attributes({{"group", group}, {"pads", Ints(4, shape[3] / 2)}}));
    return rounded(maker_.op("Clip", {c, scale(0.0f), scale(6.0f)}), 0.0235f, 0);
  };
  y = conv(y, {48, 16, 1, 1}, 1);
  y = conv(y, {48, 1, 3, 3}, 48);
  y = maker_.op("MaxPool", {y},
                make_attributes({{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}));
  Value* left = conv(y, {24, 48, 3, 3}, 1);
  Value* right = conv(y, {24, 48, 1, 1}, 1);
  y = maker_.op("Concat", {left, right}, make_attributes({{"axis", int64_t{1}}}));
  y = rounded(maker_.op("GlobalAveragePool", {y}), 0.02f, 0);
  y = maker_.op("Flatten", {y});
  maker_.output(quantise(maker_.op("MatMul", {y, weights({48, 10}, 1)}), 0.15f, 128));
  std::vector<std::string> ran;
  for (const ProfileRow& row : compare_steps()) {
    if (row.status == ProfileStatus::Executed) ran.push_back(row.layer_type);
  }
  EXPECT_EQ(std::ranges::count(ran, "Int8Conv"), 4);
  EXPECT_EQ(std::ranges::count(ran, "Int8MatMul"), 1);
  for (const char* type : {"QuantizeLinear", "DequantizeLinear", "Conv", "Elementwise"}) {
    EXPECT_EQ(std::ranges::count(ran, type), 0) << type;
  }
  // Of the model's input only.
  EXPECT_EQ(std::ranges::count(ran, "Reorder"), 1);
}

TEST_F(GpuInt8, ResizesOfBytes) {
  Value* x = stored_input({1, 16, 4, 6}, 0.02f, 131);
  Value* scales = maker_.constant(Tensor::from<float>({4}, {1, 1, 2, 1.5f}));
  const auto attributes = make_attributes({{"mode", std::string("nearest")}});
  maker_.output(quantise(maker_.op("Resize", {x, nullptr, scales}, attributes), 0.02f, 131));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Resize"), 1u);
  EXPECT_EQ(count_type(rows, "DequantizeLinear"), 0u);
}

TEST_F(GpuInt8, PadsOfBytes) {
  Value* x = stored_input({1, 16, 7, 9}, 0.25f, 131);
  for (const char* mode : {"constant", "edge"}) {
    Value* padded = maker_.op("Pad", {x, maker_.ints({0, 0, 1, 2, 0, 0, 2, 0})},
                              make_attributes({{"mode", std::string(mode)}}));
    maker_.output(quantise(padded, 0.25f, 131));
  }
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "QuantizeLinear"), 0u);
  EXPECT_EQ(count_type(rows, "Pad"), 2u);
}

TEST_F(GpuInt8, SplitsOfBytes) {
  Value* x = stored_input({1, 16, 4, 6}, 0.02f, 131);
  const auto parts =
      maker_.split("Split", {x, maker_.ints({6, 10})}, 2, make_attributes({{"axis", int64_t{1}}}));
  maker_.output(quantise(parts[0], 0.02f, 131));
  maker_.output(quantise(parts[1], 0.03f, 120));
  EXPECT_EQ(count_type(compare_steps(), "Split"), 1u);
}

TEST_F(GpuInt8, MeansOfWindows) {
  for (const bool last : {false, true}) {
    for (const bool is_signed : {false, true}) {
      maker_ = ModelMaker();
      Value* x = maker_.input(last ? Shape{2, 7, 9, 21} : Shape{2, 21, 7, 9},
                              is_signed ? ElementType::Int8 : ElementType::UInt8);
      const std::vector<Value*> inputs = {x, scale(0.021f), zero_of(11, is_signed), scale(0.013f),
                                          zero_of(3, is_signed)};
      const auto order = std::pair<std::string_view, Attribute>("channels_last", int64_t{last});
      maker_.output(
          maker_.op("QLinearGlobalAveragePool", inputs, make_attributes({order}), "com.microsoft"));
      for (const int64_t padding : {0, 1}) {
        maker_.output(maker_.op("QLinearAveragePool", inputs,
                                make_attributes({order,
                                                 {"kernel_shape", Ints{3, 2}},
                                                 {"strides", Ints{2, 1}},
                                                 {"pads", Ints{1, 1, 1, 0}},
                                                 {"count_include_pad", padding}}),
                                "com.microsoft"));
      }
      compare(maker_.model(), 0.0f);
    }
  }
}

TEST_F(GpuInt8, ModelsOfOpenVino) {
  Value* x = maker_.input({1, 32, 9, 8});
  const auto stored = [&](const Shape& shape, unsigned seed) {
    std::vector<float> scales;
    for (int64_t c = 0; c < shape[0]; ++c) {
      scales.push_back(0.002f + 0.0001f * static_cast<float>(c));
    }
    Shape scale_shape(shape.size(), 1);
    scale_shape[0] = shape[0];
    Value* cast = maker_.op("Cast", {maker_.constant(random_bytes<int8_t>(shape, seed))},
                            make_attributes({{"to", int64_t{1}}}));
    return maker_.op("Mul", {cast, maker_.constant(Tensor::from<float>(scale_shape, scales))});
  };
  Value* c = maker_.op("Conv", {fake(x, scale(-2.56f), scale(2.54f)), stored({24, 32, 1, 1}, 5)});
  c = maker_.op("Relu", {maker_.op("Add", {c, maker_.random({1, 24, 1, 1})})});
  Value* w = maker_.op("Reshape", {stored({24, 1, 1, 3, 3}, 6), maker_.ints({24, 1, 3, 3})});
  Value* d = maker_.op("Conv", {fake(c, scale(0.0f), scale(5.1f)), w},
                       make_attributes({{"group", 24}, {"pads", Ints(4, 1)}}));
  maker_.output(maker_.op("Add", {d, maker_.random({1, 24, 1, 1})}));
  // The second convolution sees values of the first that may lie a step of 0.02 apart, times
  // weights of 0.55 at most.
  EXPECT_EQ(count_type(compare_steps(9 * 0.02f * 0.55f), "Int8Conv"), 2u);
  EXPECT_EQ(count_type(compare_steps(1e-3f, {{"GPU_INT8", "NO"}}), "Conv"), 2u);
}

TEST_F(GpuInt8, LevelsPerChannelInFrontOfDepthwiseConvolutions) {
  Value* x = maker_.input({1, 32, 9, 8});
  Value* c = maker_.op("Conv", {fake(x, scale(-2.56f), scale(2.54f)), weights({24, 32, 1, 1}, 0)});
  std::vector<float> highs;
  for (int k = 0; k < 24; ++k) highs.push_back(2.55f + 0.051f * static_cast<float>(k));
  Value* high = maker_.constant(Tensor::from<float>({1, 24, 1, 1}, highs));
  c = fake(maker_.op("Clip", {c, scale(0.0f), scale(6.0f)}), scale(0.0f), high);
  maker_.output(maker_.op("Conv", {c, weights({24, 1, 3, 3}, 0)},
                          make_attributes({{"group", 24}, {"pads", Ints(4, 1)}})));
  // One level of the source, 0.015 at most, is 0.64 times that in each of 9 products at most; a few
  // values lie beside a half.
  const auto rows = compare_steps(9 * 0.015f * 0.64f);
  EXPECT_EQ(count_type(rows, "Int8Conv"), 2u);
  EXPECT_EQ(count_type(rows, "Elementwise"), 0u);
}

/// A scale for each channel is in the kernels, a zero point for each is not.
TEST_F(GpuInt8, StepsOfChannels) {
  std::vector<float> scales;
  std::vector<uint8_t> zeros;
  for (int c = 0; c < 24; ++c) {
    scales.push_back(0.02f + 0.001f * static_cast<float>(c % 5));
    zeros.push_back(static_cast<uint8_t>(90 + c));
  }
  const Attributes axis = make_attributes({{"axis", 1}});
  for (const bool same : {true, false}) {
    SCOPED_TRACE(same ? "one zero point" : "zero points of channels");
    maker_ = ModelMaker();
    Value* steps = maker_.constant(Tensor::from<float>({24}, scales));
    Value* points =
        maker_.constant(Tensor::from<uint8_t>({24}, same ? std::vector<uint8_t>(24, 100) : zeros));
    Value* q = maker_.input({1, 24, 9, 8}, ElementType::UInt8);
    Value* x = maker_.op("DequantizeLinear", {q, steps, points}, axis);
    Value* c = maker_.op("Conv", {x, weights({24, 1, 3, 3}, 0)},
                         make_attributes({{"group", 24}, {"pads", Ints(4, 1)}}));
    maker_.output(maker_.op("QuantizeLinear", {maker_.op("Relu", {c}), steps, points}, axis));
    const auto rows = compare_steps();
    EXPECT_EQ(count_type(rows, "Int8Conv"), same ? 1u : 0u);
  }
  maker_ = ModelMaker();
  Value* smooth = maker_.constant(Tensor::from<float>({24}, scales));
  Value* product =
      maker_.op("MatMul", {stored_input({1, 70, 20}, 0.02f, 120), weights({20, 24}, 1)});
  maker_.output(quantise(maker_.op("Mul", {maker_.op("Relu", {product}), smooth}), 0.0002f, 60));
  EXPECT_EQ(count_type(compare_steps(), "Int8MatMul"), 1u);
}

TEST_F(GpuInt8, WeightsBeyondInt8KeepAZeroPoint) {
  Value* x = stored_input({2, 19, 9, 7}, 0.02f, 120);
  Value* c = maker_.op("Conv", {x, weights_around_100({21, 19, 1, 1}), maker_.random({21})});
  Value* stored = quantise(c, 0.05f, 120);
  maker_.output(stored);
  Value* second =
      maker_.op("Conv", {dequantise(stored, 0.05f, 120), weights_around_100({21, 21, 1, 1})});
  Value* sum = maker_.op("Add", {second, dequantise(stored, 0.05f, 120)});
  maker_.output(quantise(maker_.op("Relu", {sum}), 0.05f, 0));
  Value* row = stored_input({3, 40}, 0.02f, 0);
  maker_.output(quantise(maker_.op("MatMul", {row, weights_around_100({40, 18})}), 0.05f, 120));
  // Borders, steps, groups, depthwise.
  Value* y = stored_input({1, 20, 9, 8}, 0.02f, 120);
  const auto add = [&](const Shape& shape, Attributes attributes) {
    Value* d = maker_.op("Conv", {y, weights_around_100(shape)}, std::move(attributes));
    maker_.output(quantise(d, 0.05f, 120));
  };
  add({8, 20, 3, 3}, make_attributes({{"pads", Ints{1, 1, 0, 1}}}));
  add({8, 20, 1, 1}, make_attributes({{"strides", Ints{2, 2}}}));
  add({20, 5, 1, 1}, make_attributes({{"group", int64_t{4}}}));
  add({20, 1, 3, 3}, make_attributes({{"group", int64_t{20}}, {"pads", Ints(4, 1)}}));
  const auto rows = compare_steps();
  EXPECT_EQ(count_type(rows, "Int8Conv"), 6u);
  EXPECT_EQ(count_type(rows, "Int8MatMul"), 1u);
  EXPECT_EQ(count_type(rows, "Conv") + count_type(rows, "MatMul"), 0u);
}

TEST_F(GpuInt8, FloatsAroundProductsMayBeStoredInHalf) {
  Value* x = maker_.input({1, 24, 9, 8});
  Value* c = maker_.op("Conv", {rounded(x, 0.02f, 128), weights({20, 24, 3, 3}, 0)},
                       make_attributes({{"pads", Ints(4, 1)}}));
  maker_.output(maker_.op("Add", {c, maker_.input({1, 20, 9, 8})}));
  // Values of up to 100 in steps of 2^-5, and a step of the source where half lies beside it.
  const auto rows = compare_steps(0.2f, {{"INFERENCE_PRECISION_HINT", "f16"}});
  EXPECT_EQ(count_type(rows, "Int8Conv"), 1u);
}

/// A GPU that has products of bytes: AUTO takes them without measuring.
bool takes_bytes_by_rule(Device& device) {
  return !gpu::find_gpu(0, true)->is_cpu &&
         device.get_property("GPU_FEATURES")->find("dp4a") != std::string::npos;
}

TEST_F(GpuInt8, PropertiesSayWhetherItIsUsed) {
  Value* x = stored_input({1, 32, 16, 16}, 0.02f, 120);
  Value* c = maker_.op("Conv", {x, weights({32, 32, 3, 3}, 0), maker_.random({32})});
  maker_.output(rounded(c, 0.1f, 120));
  const auto used = [&](const Properties& properties) {
    const auto compiled = compile(maker_.model(), properties);
    return compiled != nullptr ? *compiled->get_property("GPU_INT8") : "";
  };
  const std::string by_rule = takes_bytes_by_rule(*device_) ? "YES" : "NO";
  EXPECT_EQ(used({{"DETERMINISTIC", "YES"}}), by_rule);
  EXPECT_EQ(used({{"GPU_INT8", "YES"}}), "YES");
  EXPECT_EQ(used({{"GPU_INT8", "NO"}}), "NO");
  EXPECT_EQ(used({{"EXECUTION_MODE_HINT", "ACCURACY"}}), "NO");
  EXPECT_EQ(used({{"EXECUTION_MODE_HINT", "ACCURACY"}, {"GPU_INT8", "YES"}}), "YES");
  EXPECT_EQ(used({{"GPU_INT8", "AUTO"}, {"CACHE_DIR", ""}}), by_rule);
  EXPECT_EQ(count_type(compare_steps(0.11f), "Int8Conv"), 1u);
  EXPECT_EQ(count_type(compare_steps(1e-4f, {{"GPU_INT8", "NO"}}), "Int8Conv"), 0u);
}

TEST_F(GpuInt8, WhatIsAskedIsWhatIsCompiledAndExported) {
  Value* x = maker_.input({1, 24, 9, 8});
  Value* c = maker_.op("Conv", {fake(x, scale(-2.56f), scale(2.54f)), weights({24, 24, 1, 1}, 0)});
  c = maker_.op("GlobalAveragePool", {rounded(c, 0.05f, 128)});
  maker_.output(quantise(c, 0.01f, 128));
  const Properties properties = {{"GPU_INT8", "YES"}};
  const auto rows = device_->query_model(maker_.model(), properties);
  ASSERT_TRUE(rows) << rows.error().message();
  for (const NodeSupport& row : *rows) EXPECT_TRUE(row.supported()) << row.reason;
  const auto compiled = compile(maker_.model(), properties);
  ASSERT_NE(compiled, nullptr);
  std::ostringstream file;
  ASSERT_TRUE(compiled->export_model(file).ok());
  std::istringstream stream(file.str());
  const auto imported = device_->import_model(stream, {});
  ASSERT_TRUE(imported) << imported.error().message();
  EXPECT_EQ(*(*imported)->get_property("GPU_INT8"), "YES");
  const std::vector<Tensor> inputs = random_inputs(maker_.model());
  compare_tensors(infer(**imported, inputs)[0], infer(*compiled, inputs)[0], 0.0f, 0);
}

TEST_F(GpuInt8, WhatWasMeasuredIsKept) {
  if (takes_bytes_by_rule(*device_)) {
    GTEST_SKIP() << "the GPU has products of bytes: nothing is measured";
  }
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / fmt::format("gpu-int8-{}", ::getpid());
  Value* x = stored_input({1, 32, 32, 32}, 0.02f, 120);
  maker_.output(quantise(maker_.op("Conv", {x, weights({32, 32, 1, 1}, 0)}), 0.1f, 120));
  maker_.output(quantise(maker_.op("Conv", {x, weights({32, 32, 3, 3}, 0)}), 0.1f, 120));
  const Properties properties = {{"CACHE_DIR", folder.string()}};
  // The larger of the two decides. On a busy machine the first compiles may run out of time while
  // they build kernels; later ones have these.
  const std::string larger = "Int8 float32 n1 ic32 oc32 g1 32x32 k3x3";
  std::shared_ptr<CompiledModel> first;
  std::string kept;
  for (int i = 0; i < 5 && kept.find(larger) == std::string::npos; ++i) {
    first = compile(maker_.model(), properties);
    ASSERT_NE(first, nullptr);
    kept.clear();
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      std::ifstream file(entry.path(), std::ios::binary);
      if (entry.is_regular_file()) kept.append(std::istreambuf_iterator<char>(file), {});
    }
  }
  EXPECT_NE(kept.find(larger), std::string::npos);
  EXPECT_EQ(kept.find("Int8 float32 n1 ic32 oc32 g1 32x32 k1x1"), std::string::npos);
  const auto second = compile(maker_.model(), properties);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(*first->get_property("GPU_INT8"), *second->get_property("GPU_INT8"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace het::gpu_testing
