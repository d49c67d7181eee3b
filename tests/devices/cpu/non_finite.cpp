#include "devices/cpu/plan/non_finite.h"

#include <algorithm>
#include <sstream>

#include "devices/cpu/loops/finite_loop.h"
#include "devices/cpu/onednn/onednn.h"
#include "tests/devices/cpu/cpu_testing.h"
#include "tests/devices/special_values.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using device_testing::kInfinity;
using device_testing::kNan;

/// Values of random numbers with a few special ones, far apart.
Tensor with_specials(const Shape& shape) {
  Tensor made = cpu_testing::random_tensor(shape, 5);
  const int64_t count = made.element_count();
  made.data<float>()[count / 7] = kNan;
  made.data<float>()[count / 3] = kInfinity;
  made.data<float>()[count / 2] = -kInfinity;
  return made;
}

class CpuNonFinite : public device_testing::SpecialValues<CpuTest> {
 protected:
  static Value* activation(ModelMaker& maker, const std::string& type, Value* x) {
    if (type != "Clip") return maker.op(type, {x});
    return maker.op(
        type, {x, maker.constant(Tensor::scalar(0.0f)), maker.constant(Tensor::scalar(6.0f))});
  }

  static std::string exec_types(const std::vector<ProfileRow>& rows) {
    std::string all;
    for (const ProfileRow& row : rows) all += row.exec_type + " ";
    return all;
  }
};

constexpr const char* kActivations[] = {"Relu", "Clip",      "Sigmoid", "Tanh",
                                        "Elu",  "HardSwish", "Softplus"};

TEST_F(CpuNonFinite, ActivationsBehindConvolutions) {
  for (const int64_t kernel : {1, 3}) {
    for (const int64_t group : {1, 16}) {
      for (const char* type : kActivations) {
        SCOPED_TRACE(testing::Message() << type << ", kernel " << kernel << ", group " << group);
        ModelMaker maker;
        Value* x = maker.input({1, 16, 9, 10});
        maker.output(activation(maker, type, maker.conv(x, 16, 16, kernel, group)));
        expect_same(maker.model(), {with_specials({1, 16, 9, 10})});
      }
    }
  }
}

TEST_F(CpuNonFinite, ActivationsBehindProducts) {
  for (const char* type : kActivations) {
    SCOPED_TRACE(type);
    ModelMaker maker;
    Value* x = maker.input({6, 40});
    Value* sum =
        maker.op("Add", {maker.op("MatMul", {x, maker.random({40, 24})}), maker.random({24})});
    maker.output(activation(maker, type, sum));
    expect_same(maker.model(), {with_specials({6, 40})});
  }
}

TEST_F(CpuNonFinite, Softmax) {
  for (const char* type : {"Softmax", "LogSoftmax"}) {
    for (const Shape& shape : {Shape{6, 20}, Shape{6, 131}, Shape{2, 5, 64}}) {
      for (const int64_t axis : {1, -1}) {
        SCOPED_TRACE(testing::Message() << type << " of " << to_string(shape) << ", axis " << axis);
        ModelMaker maker;
        maker.output(maker.op(type, {maker.input(shape)}, make_attributes({{"axis", axis}})));
        expect_same(maker.model(), {with_specials(shape)});
      }
    }
    // Over channels, in the layout of a convolution.
    ModelMaker maker;
    Value* x = maker.input({1, 16, 5, 6});
    maker.output(maker.op(type, {maker.conv(x, 16, 24)}, make_attributes({{"axis", int64_t{1}}})));
    expect_same(maker.model(), {with_specials({1, 16, 5, 6})});
  }
}

TEST_F(CpuNonFinite, RowsOfAttention) {
  expect_rows_of_attention();
}

TEST_F(CpuNonFinite, WinogradConvolutionsSpoilNoNeighbours) {
  ModelMaker maker;
  Value* x = maker.input({1, 64, 28, 28});
  maker.output(maker.conv(x, 64, 64, 3));
  const auto compiled = compile(maker.model(), {{"PERF_COUNT", "YES"}});
  ASSERT_NE(compiled, nullptr);
  std::vector<ProfileRow> rows;
  infer(*compiled, {cpu_testing::random_tensor({1, 64, 28, 28}, 1)}, &rows);
  ASSERT_NE(exec_types(rows).find("winograd"), std::string::npos) << exec_types(rows);
  infer(*compiled, {with_specials({1, 64, 28, 28})}, &rows);
  EXPECT_EQ(exec_types(rows).find("winograd"), std::string::npos) << exec_types(rows);
  expect_same(maker.model(), {with_specials({1, 64, 28, 28})});
}

TEST_F(CpuNonFinite, StridedWinogradConvolutionsSpoilNoNeighbours) {
  ModelMaker maker;
  Value* x = maker.input({1, 64, 57, 56});
  Value* weights = maker.random({64, 64, 3, 3}, 0.05f);
  maker.output(maker.op("Conv", {x, weights},
                        make_attributes({{"pads", Ints(4, 1)}, {"strides", Ints{2, 2}}})));
  const auto compiled = compile(maker.model(), {{"PERF_COUNT", "YES"}});
  ASSERT_NE(compiled, nullptr);
  std::vector<ProfileRow> rows;
  infer(*compiled, {cpu_testing::random_tensor({1, 64, 57, 56}, 1)}, &rows);
  ASSERT_NE(exec_types(rows).find("winograd"), std::string::npos) << exec_types(rows);
  infer(*compiled, {with_specials({1, 64, 57, 56})}, &rows);
  EXPECT_EQ(exec_types(rows).find("winograd"), std::string::npos) << exec_types(rows);
  expect_same(maker.model(), {with_specials({1, 64, 57, 56})});
}

TEST_F(CpuNonFinite, WinogradConvolutionsInBFloat16SpoilNoNeighbours) {
  if (!cpu::has_bfloat16()) {
    GTEST_SKIP() << cpu_testing::kNoBfloat16;
  }
  if (cpu::bfloat16_speed() > 2.0)
    GTEST_SKIP() << "direct convolutions by AMX are faster than Winograd's";
  ModelMaker maker;
  Value* x = maker.input({1, 64, 28, 28});
  // The source of the second is not looked at: the first one looks at the picture.
  maker.output(maker.conv(maker.conv(x, 64, 40, 3), 40, 64, 3));
  const Properties properties = {{"PERF_COUNT", "YES"}, {"INFERENCE_PRECISION_HINT", "bf16"}};
  const auto compiled = compile(maker.model(), properties);
  ASSERT_NE(compiled, nullptr);
  std::vector<ProfileRow> rows;
  infer(*compiled, {cpu_testing::random_tensor({1, 64, 28, 28}, 1)}, &rows);
  ASSERT_NE(exec_types(rows).find("winograd"), std::string::npos) << exec_types(rows);
  Tensor picture = cpu_testing::random_tensor({1, 64, 28, 28}, 5);
  picture.data<float>()[0] = kNan;                 // channel 0, pixel 0, 0
  picture.data<float>()[28 * 28 - 1] = kInfinity;  // pixel 27, 27
  const std::vector<Tensor> got = infer(*compiled, {picture}, &rows);
  EXPECT_EQ(exec_types(rows).find("winograd"), std::string::npos) << exec_types(rows);
  for (int64_t c = 0; c < 64; ++c) {
    for (int64_t y = 0; y < 28; ++y) {
      for (int64_t x0 = 0; x0 < 28; ++x0) {
        const float value = got[0].data<float>()[(c * 28 + y) * 28 + x0];
        const bool is_near = (y <= 2 && x0 <= 2) || (y >= 25 && x0 >= 25);
        ASSERT_EQ(std::isfinite(value), !is_near) << c << " " << y << " " << x0;
      }
    }
  }
}

TEST_F(CpuNonFinite, ChannelsThatFillNoBlock) {
  ModelMaker maker;
  Value* x = maker.input({1, 3, 9, 10});
  maker.output(maker.conv(maker.conv(x, 3, 20), 20, 5, 3));
  Tensor given = cpu_testing::random_tensor({1, 3, 9, 10}, 5);
  given.data<float>()[100] = kInfinity;
  expect_same(maker.model(), {given});
}

TEST_F(CpuNonFinite, Normalisations) {
  for (const char* type : {"LayerNormalization", "RMSNormalization"}) {
    SCOPED_TRACE(type);
    ModelMaker maker;
    Value* x = maker.input({4, 40});
    maker.output(maker.op(type, {x, maker.random({40})}));
    Tensor given = cpu_testing::random_tensor({4, 40}, 5);
    given.data<float>()[3] = kNan;
    given.data<float>()[50] = kInfinity;
    // Their squares are beyond what floats hold.
    given.data<float>()[90] = 1e25f;
    given.data<float>()[93] = -1e25f;
    expect_same(maker.model(), {given});
  }
  for (const int64_t channels : {3, 16}) {
    ModelMaker maker;
    Value* x = maker.input({1, channels, 5, 6});
    Value* conv = maker.conv(x, channels, 16);
    maker.output(maker.op("InstanceNormalization", {conv, maker.random({16}), maker.random({16})}));
    maker.output(maker.op("GroupNormalization", {conv, maker.random({16}), maker.random({16})},
                          make_attributes({{"num_groups", int64_t{4}}})));
    Tensor given = cpu_testing::random_tensor({1, channels, 5, 6}, 5);
    for (float& value : given.values<float>()) value *= 1e22f;
    expect_same(maker.model(), {given});
  }
}

TEST_F(CpuNonFinite, LimitsThatAreNoNumbers) {
  for (const float limit : {kNan, kInfinity, -kInfinity}) {
    SCOPED_TRACE(limit);
    ModelMaker maker;
    Value* x = maker.input({1, 8, 3, 4});
    maker.output(maker.op("Clip", {maker.conv(x, 8, 8), maker.constant(Tensor::scalar(limit))}));
    expect_same(maker.model(), {cpu_testing::random_tensor({1, 8, 3, 4}, 5)});
  }
}

TEST_F(CpuNonFinite, LogarithmsOfSubnormalNumbers) {
  for (const ElementType type : {ElementType::Float32, ElementType::Float64}) {
    ModelMaker maker;
    Value* x = maker.input({3}, type);
    maker.output(maker.op("Log", {x}));
    maker.output(maker.op("Pow", {x, maker.constant(Tensor::scalar(0.5f))}));
    const Tensor given = type == ElementType::Float32
                             ? Tensor::from<float>({3}, {1e-40f, 0.0f, 1.0f})
                             : Tensor::from<double>({3}, {1e-310, 0.0, 1.0});
    const auto compiled = compile(maker.model());
    ASSERT_NE(compiled, nullptr);
    const std::vector<Tensor> got = infer(*compiled, {given});
    // 0, or what they are.
    const float logarithm = (*to_float_vector(got[0]))[0];
    EXPECT_TRUE(logarithm == -kInfinity ||
                std::abs(logarithm - (type == ElementType::Float32 ? -92.1034f : -713.801f)) <
                    0.01f)
        << logarithm;
    EXPECT_LT((*to_float_vector(got[1]))[0], 1e-19f);
  }
}

TEST_F(CpuNonFinite, WhatTheModelMakesOnItsWay) {
  // 0 / 0, the logarithm of a negative number and a power that is no number, in front of a product.
  for (const char* type : {"Div", "Log", "Pow"}) {
    SCOPED_TRACE(type);
    ModelMaker maker;
    Value* x = maker.input({1, 16, 5, 5});
    Value* y = std::string_view(type) == "Log" ? maker.op(type, {x}) : maker.op(type, {x, x});
    maker.output(maker.op("Relu", {maker.conv(y, 16, 8)}));
    Tensor given = cpu_testing::random_tensor({1, 16, 5, 5}, 3);
    given.data<float>()[7] = 0.0f;
    given.data<float>()[8] = -1.5f;
    expect_same(maker.model(), {given});
  }
}

TEST_F(CpuNonFinite, Constants) {
  ModelMaker maker;
  Value* x = maker.input({1, 3, 5, 5});
  Tensor weights = cpu_testing::random_tensor({8, 3, 1, 1}, 3);
  weights.data<float>()[4] = kNan;
  weights.data<float>()[9] = -kInfinity;
  maker.output(maker.op("Relu", {maker.op("Conv", {x, maker.constant(weights)})}));
  expect_same(maker.model(), {cpu_testing::random_tensor({1, 3, 5, 5}, 1)});

  // An exported model is imported with the kernels that it was planned with.
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  std::stringstream file;
  ASSERT_TRUE(compiled->export_model(file).ok());
  const auto imported = device_->import_model(file, {});
  ASSERT_TRUE(imported) << imported.error().message();
  const Tensor given = cpu_testing::random_tensor({1, 3, 5, 5}, 1);
  const auto wanted = *to_float_vector(infer(*compiled, {given})[0]);
  const auto got = *to_float_vector(infer(**imported, {given})[0]);
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(wanted[i] == got[i] || (std::isnan(wanted[i]) && std::isnan(got[i]))) << i;
  }
}

TEST_F(CpuNonFinite, EveryExecutionByItself) {
  ModelMaker maker;
  Value* x = maker.input({1, 64, 28, 28});
  maker.output(maker.op("Relu", {maker.conv(x, 64, 64, 3)}));
  const auto compiled = compile(maker.model(), {{"NUM_STREAMS", "2"}});
  ASSERT_NE(compiled, nullptr);
  const Tensor plain = cpu_testing::random_tensor({1, 64, 28, 28}, 1);
  const std::vector<Tensor> before = infer(*compiled, {plain});
  const auto special = *to_float_vector(infer(*compiled, {with_specials({1, 64, 28, 28})})[0]);
  EXPECT_TRUE(std::ranges::any_of(special, [](float value) { return std::isnan(value); }));
  EXPECT_TRUE(
      std::ranges::equal(before[0].values<float>(), infer(*compiled, {plain})[0].values<float>()));
}

TEST(FiniteLoop, FindsOneAtEachPlace) {
  for (const size_t count : {1, 7, 8, 63, 64, 65, 200}) {
    std::vector<float> values(count, 3.4e38f);
    const auto finite = [&] {
      return cpu::all_finite(ElementType::Float32,
                             reinterpret_cast<const std::byte*>(values.data()),
                             static_cast<int64_t>(count));
    };
    EXPECT_TRUE(finite());
    for (size_t i = 0; i < count; ++i) {
      for (const float special : {kNan, -kNan, kInfinity, -kInfinity}) {
        values[i] = special;
        EXPECT_FALSE(finite()) << special << " at " << i << " of " << count;
      }
      values[i] = -0.0f;
    }
  }
  const uint16_t halves[] = {0x7BFF, 0x7C00};
  EXPECT_TRUE(cpu::all_finite_float16(halves, 1));
  EXPECT_FALSE(cpu::all_finite_float16(halves, 2));
  EXPECT_TRUE(cpu::all_finite_bfloat16(halves, 2));
  const double wide[] = {1e308, -static_cast<double>(kInfinity)};
  const auto* bits = reinterpret_cast<const std::byte*>(wide);
  EXPECT_TRUE(cpu::all_finite(ElementType::Float64, bits, 1));
  EXPECT_FALSE(cpu::all_finite(ElementType::Float64, bits, 2));
  EXPECT_TRUE(cpu::all_finite(ElementType::Int32, bits, 2));
}

}  // namespace
}  // namespace het
