#include "devices/cpu/onednn/onednn.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

struct ConvCase {
  Shape src;
  int64_t oc;
  Ints kernel;
  Ints strides;
  Ints dilations;
  Ints pads;
  int64_t group;
};

class CpuConvolution : public CpuTest, public testing::WithParamInterface<ConvCase> {};

TEST_P(CpuConvolution, EqualsReference) {
  const ConvCase& c = GetParam();
  ModelMaker maker;
  Shape weights = {c.oc, c.src[1] / c.group};
  weights.insert(weights.end(), c.kernel.begin(), c.kernel.end());
  Value* x = maker.input(c.src);
  Value* y = maker.op("Conv", {x, maker.random(weights, 0.2f), maker.random({c.oc})},
                      make_attributes({{"strides", c.strides},
                                       {"dilations", c.dilations},
                                       {"pads", c.pads},
                                       {"group", c.group}}));
  maker.output(y);
  const auto rows = compare(maker.model());
  EXPECT_NE(implementation(rows, "Conv0"), "ref");
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, CpuConvolution,
    testing::Values(
        ConvCase{{1, 3, 17, 19}, 16, {3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}, 1},
        ConvCase{{2, 32, 9, 9}, 48, {1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}, 1},
        ConvCase{{1, 20, 12, 10}, 10, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1},
        ConvCase{{1, 16, 12, 10}, 33, {3, 3}, {1, 2}, {1, 1}, {0, 1, 2, 3}, 1},
        ConvCase{{1, 16, 20, 20}, 16, {3, 3}, {1, 1}, {3, 2}, {3, 2, 3, 2}, 1},
        ConvCase{{1, 32, 14, 14}, 32, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 32},
        ConvCase{{1, 21, 14, 14}, 21, {5, 5}, {2, 2}, {1, 1}, {2, 2, 2, 2}, 21},
        ConvCase{{1, 32, 14, 14}, 64, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 4},
        ConvCase{{1, 18, 11, 11}, 12, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 3},
        ConvCase{{1, 8, 9, 9}, 16, {3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 8},
        ConvCase{{1, 16, 30}, 24, {3}, {2}, {1}, {1, 1}, 1},
        ConvCase{{1, 8, 6, 7, 8}, 16, {3, 3, 3}, {1, 2, 1}, {1, 1, 1}, {1, 1, 1, 1, 1, 1}, 1}));

TEST_F(CpuTest, ConvolutionWithAutoPadAndWithoutBias) {
  for (const char* mode : {"SAME_UPPER", "SAME_LOWER", "VALID"}) {
    ModelMaker maker;
    Value* x = maker.input({1, 16, 15, 14});
    maker.output(maker.op("Conv", {x, maker.random({16, 16, 4, 3}, 0.1f)},
                          make_attributes({{"auto_pad", mode}, {"strides", Ints{2, 2}}})));
    compare(maker.model());
  }
}

TEST_F(CpuTest, ConvolutionWithComputedWeightsRunsTheReference) {
  ModelMaker maker;
  Value* x = maker.input({1, 4, 8, 8});
  Value* w = maker.input({6, 4, 3, 3});
  maker.output(maker.op("Conv", {x, w}));
  EXPECT_EQ(implementation(compare(maker.model()), "Conv0"), "ref");
}

struct TransposedCase {
  int64_t ic;
  int64_t oc;
  int64_t kernel;
  int64_t stride;
  int64_t group;
  Ints pads;
  Ints output_padding;
};

class CpuTransposedConvolution : public CpuTest,
                                 public testing::WithParamInterface<TransposedCase> {};

TEST_P(CpuTransposedConvolution, EqualsReference) {
  const TransposedCase& c = GetParam();
  ModelMaker maker;
  Value* x = maker.input({1, c.ic, 7, 9});
  Value* weights = maker.random({c.ic, c.oc / c.group, c.kernel, c.kernel}, 0.2f);
  Value* y = maker.op("ConvTranspose", {x, weights, maker.random({c.oc})},
                      make_attributes({{"strides", Ints{c.stride, c.stride}},
                                       {"pads", c.pads},
                                       {"output_padding", c.output_padding},
                                       {"group", c.group}}));
  maker.output(maker.op("Relu", {y}));
  compare(maker.model());
}

INSTANTIATE_TEST_SUITE_P(Shapes, CpuTransposedConvolution,
                         testing::Values(TransposedCase{16, 16, 2, 2, 1, {0, 0, 0, 0}, {0, 0}},
                                         TransposedCase{24, 10, 4, 2, 1, {1, 1, 1, 1}, {0, 0}},
                                         TransposedCase{16, 16, 3, 2, 1, {1, 1, 1, 1}, {1, 1}},
                                         TransposedCase{8, 8, 3, 2, 8, {0, 1, 1, 0}, {0, 0}}));

TEST_F(CpuTest, CrossedBoundsOfAClipBehindAConvolution) {
  ModelMaker maker;
  Value* x = maker.input({1, 8, 4, 4});
  Value* y = maker.conv(x, 8, 8);
  // The upper bound wins: 0.25 everywhere.
  maker.output(maker.op(
      "Clip", {y, maker.constant(Tensor::scalar(0.75f)), maker.constant(Tensor::scalar(0.25f))}));
  compare(maker.model());
  const auto compiled = compile(maker.model());
  ASSERT_NE(compiled, nullptr);
  const Tensor result = infer(*compiled, random_inputs(maker.model()))[0];
  for (const float value : result.values<float>()) ASSERT_EQ(value, 0.25f);
}

TEST_F(CpuTest, ActivationBehindAnExtendedDeconvolution) {
  ModelMaker maker;
  Value* x = maker.input({1, 1, 1, 1, 1});
  Value* y =
      maker.op("ConvTranspose", {x, maker.random({1, 1, 1, 1, 1})},
               make_attributes({{"dilations", Ints{1, 1, 2}}, {"output_padding", Ints{0, 0, 1}}}));
  maker.output(maker.op("Relu", {y}));
  compare(maker.model());
}

/// oneDNN has no generated code for groups of few channels; its reference takes hundreds of times
/// as long.
TEST_F(CpuTest, GroupsOfFewChannelsHaveGeneratedCode) {
  for (const char* precision : {"f32", "bf16"}) {
    if (precision == std::string("bf16") && !cpu::has_bfloat16()) continue;
    for (const auto& [groups, inputs, outputs] :
         {std::tuple(32, 4, 4), std::tuple(8, 2, 4), std::tuple(16, 8, 4), std::tuple(6, 4, 4)}) {
      SCOPED_TRACE(fmt::format("{} {} groups {}->{}", precision, groups, inputs, outputs));
      ModelMaker maker;
      Value* x = maker.conv(maker.input({1, 8, 12, 13}), 8, groups * inputs);
      Value* y = maker.op("Conv",
                          {x, maker.random({groups * outputs, inputs, 3, 3}, 0.2f),
                           maker.random({groups * outputs})},
                          make_attributes({{"pads", Ints(4, 1)}, {"group", int64_t{groups}}}));
      maker.output(maker.conv(maker.op("Relu", {y}), groups * outputs, 8));
      const Properties properties{{"INFERENCE_PRECISION_HINT", precision}};
      const float tolerance = precision == std::string("f32") ? 2e-5f : 0.05f;
      const auto rows = compare(maker.model(), tolerance, properties);
      const std::string name = implementation(rows, y->producer()->name());
      // What is joined fills a block.
      if (groups % 4 == 0) {
        EXPECT_EQ(name.find("ref"), std::string::npos) << name;
      }
    }
  }
}

TEST_F(CpuTest, Bfloat16ConvolutionsStayClose) {
  Properties properties{{"INFERENCE_PRECISION_HINT", "bf16"}};
  ModelMaker maker;
  Value* x = maker.input({1, 16, 12, 12});
  Value* a = maker.conv(x, 16, 32, 3);
  Value* b = maker.conv(a, 32, 32, 1);
  maker.output(maker.op("Relu", {maker.op("Add", {a, b})}));
  maker.output(maker.op(
      "MatMul", {maker.op("Reshape", {b, maker.ints({32, 144})}), maker.random({144, 10}, 0.1f)}));
  if (!cpu::has_bfloat16()) {
    GTEST_SKIP() << cpu_testing::kNoBfloat16;
  }
  compare(maker.model(), 0.03f, properties);
  EXPECT_EQ(*compile(maker.model(), properties)->get_property("INFERENCE_PRECISION_HINT"), "bf16");
}

TEST_F(CpuTest, Float16ArithmeticIsRefused) {
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({4})}));
  const auto compiled =
      device_->compile_model(maker.model(), {{"INFERENCE_PRECISION_HINT", "f16"}}, nullptr);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), StatusCode::NotSupported);
  EXPECT_NE(compiled.error().message().find("f16"), std::string::npos);
}

}  // namespace
}  // namespace het
