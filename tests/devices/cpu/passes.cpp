#include "inference/passes/fusions/passes.h"

#include <functional>

#include "devices/cpu/plan/fuse.h"
#include "inference/passes/prepare_model.h"
#include "inference/passes/print_model.h"
#include "tests/devices/cpu/pass_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

class CpuPasses : public cpu_testing::PassTest {
 protected:
  /// Over 12 channels: more numbers than print_model() shows.
  static Value* batch_norm(ModelMaker& maker, Value* x) {
    Tensor variance = cpu_testing::random_tensor({12}, 3);
    for (float& value : variance.values<float>()) value = 0.5f + std::abs(value);
    return maker.op("BatchNormalization", {x, maker.random({12}), maker.random({12}),
                                           maker.random({12}), maker.constant(variance)});
  }
};

TEST_F(CpuPasses, PaddingGoesIntoTheConvolution) {
  ModelMaker maker;
  Value* x = maker.input({1, 2, 4, 4});
  Value* p = maker.op("Pad", {x, maker.ints({0, 0, 1, 0, 0, 0, 2, 1})});
  maker.output(maker.op("Conv", {p, maker.random({3, 2, 2, 2})}));
  check(maker.model(), fold_padding, R"(
input x0 : float32[1,2,4,4]
Pad0_y = Pad(x0, c0=[0,0,1,0,0,0,2,1]) : float32[1,2,7,5]
Conv1_y = Conv(Pad0_y, c1=float32[3,2,2,2]) : float32[1,3,6,4]
output y0 = Conv1_y
)",
        R"(
input x0 : float32[1,2,4,4]
Conv1_y_2 = Conv(x0, c1=float32[3,2,2,2]) {pads=[1,0,2,1]} : float32[1,3,6,4]
output y0 = Conv1_y_2
)");
}

TEST_F(CpuPasses, AConvolutionOverEvenAndOddPixelsReadsThePicture) {
  ModelMaker maker;
  Value* x = maker.input({1, 2, 4, 6});
  const auto every_second = [&](Value* v, int64_t axis, int64_t start) {
    return maker.op("Slice", {v, maker.ints({start}), maker.ints({INT64_MAX}), maker.ints({axis}),
                              maker.ints({2})});
  };
  std::vector<Value*> parts;
  for (const int64_t column : {0, 1}) {
    for (const int64_t row : {0, 1}) {
      parts.push_back(every_second(every_second(x, 2, row), 3, column));
    }
  }
  Value* all = maker.op("Concat", parts, make_attributes({{"axis", int64_t{1}}}));
  std::vector<float> weights;
  for (int i = 0; i < 8; ++i) weights.push_back(static_cast<float>(i));
  maker.output(maker.op("Conv", {all, maker.constant(Tensor::from<float>({1, 8, 1, 1}, weights))}));
  maker.output(maker.op("Relu", {x}));
  Model& model = maker.model();
  const std::unique_ptr<Model> prepared = model.clone();
  ASSERT_TRUE(prepare_model(*prepared).ok());
  ASSERT_TRUE(fold_space_to_depth(*prepared).ok());
  prepared->remove_unused();
  ASSERT_TRUE(prepared->sort().ok());
  // The parts come as (row, column) 00, 10, 01, 11, two channels each.
  EXPECT_EQ("\n" + print_model(*prepared), R"(
input x0 : float32[1,2,4,6]
Relu10_y = Relu(x0) : float32[1,2,4,6]
Conv9_y_2 = Conv(x0, c32_2=[0,4,2,6,1,5,3,7]) {pads=[0,0,0,0] strides=[2,2]} : float32[1,1,2,3]
output y0 = Conv9_y_2
output y1 = Relu10_y
)");
  compare(model);
}

TEST_F(CpuPasses, EvenAndOddPixelsWithPaddingAndStride) {
  for (const bool twice : {false, true}) {
    ModelMaker maker;
    Value* x = maker.input({2, 3, 12, 16});
    std::vector<Value*> parts;
    for (const int64_t row : {0, 1}) {
      for (const int64_t column : {0, 1}) {
        // The same part twice leaves another out.
        parts.push_back(
            maker.op("Slice", {x, maker.ints({twice ? 0 : row, column}), maker.ints({12, 16}),
                               maker.ints({2, 3}), maker.ints({2, 2})}));
      }
    }
    Value* all = maker.op("Concat", parts, make_attributes({{"axis", int64_t{1}}}));
    maker.output(maker.op(
        "Conv", {all, maker.random({8, 12, 3, 3}, 0.2f), maker.random({8})},
        make_attributes(
            {{"pads", Ints{1, 0, 2, 1}}, {"strides", Ints{1, 2}}, {"kernel_shape", Ints{3, 3}}})));
    size_t copies = 0;
    for (const ProfileRow& row : compare(maker.model())) {
      copies += row.layer_type == "Concat" && row.status == ProfileStatus::Executed;
    }
    EXPECT_EQ(copies, twice ? 1u : 0u);
  }
}

TEST_F(CpuPasses, BatchNormalizationAndScalesGoIntoWeights) {
  ModelMaker maker;
  Value* x = maker.input({1, 2, 4, 4});
  Value* n = batch_norm(maker, maker.op("Conv", {x, maker.random({12, 2, 1, 1})}));
  Value* m = maker.op("Mul", {n, maker.random({1, 12, 1, 1})});
  maker.output(maker.op("Add", {maker.random({12, 1, 1}), m}));
  check(maker.model(), fold_channel_affine, R"(
input x0 : float32[1,2,4,4]
Conv0_y = Conv(x0, c0=float32[12,2,1,1]) : float32[1,12,4,4]
BatchNormalization1_y = BatchNormalization(Conv0_y, c1=float32[12], c2=float32[12], c3=float32[12], c4=float32[12]) : float32[1,12,4,4]
Mul2_y = Mul(BatchNormalization1_y, c5=float32[1,12,1,1]) : float32[1,12,4,4]
Add3_y = Add(c6=float32[12,1,1], Mul2_y) : float32[1,12,4,4]
output y0 = Add3_y
)",
        R"(
input x0 : float32[1,2,4,4]
Add3_y_2 = Conv(x0, c0_2_2=float32[12,2,1,1], Conv0/bias_3=float32[12]) : float32[1,12,4,4]
output y0 = Add3_y_2
)");
}

TEST_F(CpuPasses, BatchNormalizationGoesIntoTransposedWeights) {
  ModelMaker maker;
  Value* x = maker.input({1, 4, 3, 3});
  Value* c = maker.op("ConvTranspose", {x, maker.random({4, 6, 2, 2})},
                      make_attributes({{"group", int64_t{2}}, {"strides", Ints{2, 2}}}));
  maker.output(batch_norm(maker, c));
  check(maker.model(), fold_channel_affine, R"(
input x0 : float32[1,4,3,3]
ConvTranspose0_y = ConvTranspose(x0, c0=float32[4,6,2,2]) {group=2 strides=[2,2]} : float32[1,12,6,6]
BatchNormalization1_y = BatchNormalization(ConvTranspose0_y, c1=float32[12], c2=float32[12], c3=float32[12], c4=float32[12]) : float32[1,12,6,6]
output y0 = BatchNormalization1_y
)",
        R"(
input x0 : float32[1,4,3,3]
BatchNormalization1_y_2 = ConvTranspose(x0, c0_2=float32[4,6,2,2], ConvTranspose0/bias=float32[12]) {group=2 strides=[2,2]} : float32[1,12,6,6]
output y0 = BatchNormalization1_y_2
)");
}

TEST_F(CpuPasses, WhatIsDoneToAConcatenationGoesIntoItsConvolutions) {
  const Attributes along = make_attributes({{"axis", int64_t{1}}});
  ModelMaker maker;
  Value* x = maker.input({1, 4, 6, 6});
  Value* concat = maker.op("Concat", {maker.conv(x, 4, 7), maker.conv(x, 4, 5, 3)}, along);
  Value* normal = batch_norm(maker, concat);
  maker.output(maker.op("Mul", {normal, maker.op("Sigmoid", {normal})}));
  const std::vector<ProfileRow> rows = compare(maker.model(), 5e-5f);
  EXPECT_EQ(count_type(rows, "Conv"), 2u);
  for (const char* left : {"Elementwise", "Swish", "Mul", "BatchNormalization"}) {
    EXPECT_EQ(count_type(rows, left), 0u) << left;
  }
}

TEST_F(CpuPasses, AConcatenationOfOtherPartsKeepsWhatIsDoneToIt) {
  const Attributes along = make_attributes({{"axis", int64_t{1}}});
  // Read by something else, mostly of values that others read, along another dimension.
  const std::vector<std::pair<std::string, std::function<Value*(ModelMaker&)>>> cases = {
      {"read twice",
       [&](ModelMaker& m) {
         Value* x = m.input({1, 4, 6, 6});
         Value* y = m.op("Concat", {m.conv(x, 4, 7), m.conv(x, 4, 5)}, along);
         m.output(m.op("Neg", {y}));
         return y;
       }},
      {"shared parts",
       [&](ModelMaker& m) {
         Value* x = m.input({1, 4, 6, 6});
         Value* a = m.conv(x, 4, 7);
         m.output(m.op("Neg", {a}));
         return m.op("Concat", {a, m.conv(x, 4, 5)}, along);
       }},
      {"rows", [&](ModelMaker& m) {
         Value* x = m.input({1, 4, 6, 6});
         return m.op("Concat", {m.conv(x, 4, 12), m.conv(x, 4, 12)},
                     make_attributes({{"axis", int64_t{2}}}));
       }}};
  for (const auto& [name, make] : cases) {
    SCOPED_TRACE(name);
    ModelMaker maker;
    Value* normal = batch_norm(maker, make(maker));
    maker.output(maker.op("Relu", {normal}));
    EXPECT_EQ(count_type(compare(maker.model(), 5e-5f), "Elementwise"), 1u);
  }
}

TEST_F(CpuPasses, RowsAddedToProductsBecomeBias) {
  ModelMaker maker;
  Value* x = maker.input({2, 3, 4});
  Value* y = maker.op("MatMul", {x, maker.random({4, 10})});
  maker.output(maker.op("Add", {y, maker.random({10})}));
  check(maker.model(), fold_channel_affine, R"(
input x0 : float32[2,3,4]
MatMul0_y = MatMul(x0, c0=float32[4,10]) : float32[2,3,10]
Add1_y = Add(MatMul0_y, c1=float32[10]) : float32[2,3,10]
output y0 = Add1_y
)",
        R"(
input x0 : float32[2,3,4]
Add1_y_2 = het.MatMul(x0, c0=float32[4,10], c1=float32[10]) : float32[2,3,10]
output y0 = Add1_y_2
)");
}

TEST_F(CpuPasses, LoneBatchNormalizationBecomesElementwise) {
  ModelMaker maker;
  maker.output(batch_norm(maker, maker.input({1, 12, 4, 4})));
  check(maker.model(), lower_batch_norm, R"(
input x0 : float32[1,12,4,4]
BatchNormalization0_y = BatchNormalization(x0, c0=float32[12], c1=float32[12], c2=float32[12], c3=float32[12]) : float32[1,12,4,4]
output y0 = BatchNormalization0_y
)",
        R"(
input x0 : float32[1,12,4,4]
BatchNormalization0_y_2 = het.Elementwise(x0, BatchNormalization0/scale=float32[1,12,1,1], BatchNormalization0/shift=float32[1,12,1,1]) {alphas=[0,0] betas=[0,0] program=[Mul 0 1,Add 3 2]} : float32[1,12,4,4]
output y0 = BatchNormalization0_y_2
)");
}

TEST_F(CpuPasses, FakeQuantizeBecomesElementwise) {
  ModelMaker maker;
  Value* x = maker.input({1, 12, 4, 4});
  const auto scalar = [&](float value) { return maker.constant(Tensor::scalar(value)); };
  maker.output(maker.op("FakeQuantize", {x, scalar(-1), scalar(1), scalar(-2), scalar(2)},
                        make_attributes({{"levels", 5}}), "het"));
  check(maker.model(), lower_fake_quantize, R"(
input x0 : float32[1,12,4,4]
FakeQuantize0_y = het.FakeQuantize(x0, c0=-1, c1=1, c2=-2, c3=2) {levels=5} : float32[1,12,4,4]
output y0 = FakeQuantize0_y
)",
        R"(
input x0 : float32[1,12,4,4]
FakeQuantize0_y_2 = het.Elementwise(x0) {alphas=[-1,2,0,1] betas=[1,2,0,-2] program=[Clip 0,Linear 1,Round 2,Linear 3]} : float32[1,12,4,4]
output y0 = FakeQuantize0_y_2
)");
}

TEST_F(CpuPasses, FakeQuantizeWithLimitsPerChannel) {
  ModelMaker maker;
  Value* x = maker.input({1, 12, 4, 4});
  Tensor high = cpu_testing::random_tensor({1, 12, 1, 1}, 3);
  for (float& value : high.values<float>()) value = 0.5f + std::abs(value);
  const auto scalar = [&](float value) { return maker.constant(Tensor::scalar(value)); };
  maker.output(maker.op("FakeQuantize",
                        {x, scalar(-1), maker.constant(high), scalar(-2), scalar(2)},
                        make_attributes({{"levels", 5}}), "het"));
  check(maker.model(), lower_fake_quantize, R"(
input x0 : float32[1,12,4,4]
FakeQuantize0_y = het.FakeQuantize(x0, c0=-1, c1=float32[1,12,1,1], c2=-2, c3=2) {levels=5} : float32[1,12,4,4]
output y0 = FakeQuantize0_y
)",
        R"(
input x0 : float32[1,12,4,4]
FakeQuantize0_y_2 = het.Elementwise(x0, FakeQuantize0/low=float32[1,12,1,1], FakeQuantize0/high=float32[1,12,1,1], FakeQuantize0/input_scale=float32[1,12,1,1], FakeQuantize0/input_shift=float32[1,12,1,1]) {alphas=[0,0,0,0,0,1] betas=[0,0,0,0,0,-2] program=[Max 0 1,Min 5 2,Mul 6 3,Add 7 4,Round 8,Linear 9]} : float32[1,12,4,4]
output y0 = FakeQuantize0_y_2
)");
}

TEST_F(CpuPasses, FakeQuantizeWithoutARangeIsLeftToTheReference) {
  ModelMaker maker;
  Value* x = maker.input({1, 12, 4, 4});
  const auto scalar = [&](float value) { return maker.constant(Tensor::scalar(value)); };
  maker.output(maker.op("FakeQuantize", {x, scalar(.25f), scalar(.25f), scalar(-1), scalar(1)},
                        make_attributes({{"levels", 2}}), "het"));
  const std::string graph = R"(
input x0 : float32[1,12,4,4]
FakeQuantize0_y = het.FakeQuantize(x0, c0=0.25, c1=0.25, c2=-1, c3=1) {levels=2} : float32[1,12,4,4]
output y0 = FakeQuantize0_y
)";
  check(maker.model(), lower_fake_quantize, graph, graph);
}

TEST_F(CpuPasses, GatesBecomeSwishAndHardSwish) {
  ModelMaker maker;
  Value* x = maker.input({1, 2, 4, 4});
  Value* swish = maker.op("Mul", {x, maker.op("Sigmoid", {x})});
  Value* gate =
      maker.op("HardSigmoid", {swish}, make_attributes({{"alpha", 1.0f / 6.0f}, {"beta", 0.5f}}));
  Value* hard = maker.op("Mul", {gate, swish});
  const auto scalar = [&](float value) { return maker.constant(Tensor::scalar(value)); };
  Value* clip = maker.op("Clip", {maker.op("Add", {hard, scalar(3)}), scalar(0), scalar(6)});
  Value* paddle = maker.op("Div", {maker.op("Mul", {hard, clip}), scalar(6)});
  Value* clip2 = maker.op("Clip", {maker.op("Add", {paddle, scalar(3)}), scalar(0), scalar(6)});
  maker.output(maker.op("Mul", {paddle, maker.op("Div", {clip2, scalar(6)})}));
  check(maker.model(), fuse_gated_activations, R"(
input x0 : float32[1,2,4,4]
Sigmoid0_y = Sigmoid(x0) : float32[1,2,4,4]
Mul1_y = Mul(x0, Sigmoid0_y) : float32[1,2,4,4]
HardSigmoid2_y = HardSigmoid(Mul1_y) {alpha=0.16666667 beta=0.5} : float32[1,2,4,4]
Mul3_y = Mul(HardSigmoid2_y, Mul1_y) : float32[1,2,4,4]
Add4_y = Add(Mul3_y, c0=3) : float32[1,2,4,4]
Clip5_y = Clip(Add4_y, c1=0, c2=6) : float32[1,2,4,4]
Mul6_y = Mul(Mul3_y, Clip5_y) : float32[1,2,4,4]
Div7_y = Div(Mul6_y, c3=6) : float32[1,2,4,4]
Add8_y = Add(Div7_y, c4=3) : float32[1,2,4,4]
Clip9_y = Clip(Add8_y, c5=0, c6=6) : float32[1,2,4,4]
Div10_y = Div(Clip9_y, c7=6) : float32[1,2,4,4]
Mul11_y = Mul(Div7_y, Div10_y) : float32[1,2,4,4]
output y0 = Mul11_y
)",
        R"(
input x0 : float32[1,2,4,4]
Mul1_y_2 = het.Swish(x0) : float32[1,2,4,4]
Mul3_y_2 = het.HardSwish(Mul1_y_2) : float32[1,2,4,4]
Div7_y_2 = het.HardSwish(Mul3_y_2) : float32[1,2,4,4]
Mul11_y_2 = het.HardSwish(Div7_y_2) : float32[1,2,4,4]
output y0 = Mul11_y_2
)");
}

TEST_F(CpuPasses, ErfGatesBecomeGelu) {
  ModelMaker maker;
  const auto scalar = [&](float value) { return maker.constant(Tensor::scalar(value)); };
  const auto gate = [&](Value* x) {
    return maker.op("Add",
                    {maker.op("Erf", {maker.op("Div", {x, scalar(1.41421354f)})}), scalar(1)});
  };
  Value* x = maker.input({2, 3});
  Value* behind = maker.op("Mul", {maker.op("Mul", {x, gate(x)}), scalar(0.5f)});
  Value* before = maker.op("Mul", {maker.op("Mul", {behind, scalar(0.5f)}), gate(behind)});
  maker.output(maker.op("Mul", {before, maker.op("Mul", {gate(before), scalar(0.5f)})}));
  // Another factor is no Gelu.
  maker.output(maker.op("Mul", {maker.op("Mul", {x, gate(x)}), scalar(0.25f)}));
  Model& model = maker.model();
  const std::unique_ptr<Model> prepared = model.clone();
  ASSERT_TRUE(prepare_model(*prepared).ok());
  ASSERT_TRUE(fuse_gated_activations(*prepared).ok());
  prepared->remove_unused();
  ASSERT_TRUE(prepared->sort().ok());
  EXPECT_EQ("\n" + print_model(*prepared), R"(
input x0 : float32[2,3]
Div15_y = Div(x0, c9=1.4142135) : float32[2,3]
Erf16_y = Erf(Div15_y) : float32[2,3]
Add17_y = Add(Erf16_y, c10=1) : float32[2,3]
Mul18_y = Mul(x0, Add17_y) : float32[2,3]
Mul19_y = Mul(Mul18_y, c11=0.25) : float32[2,3]
Mul4_y_2 = Gelu(x0) : float32[2,3]
Mul9_y_2 = Gelu(Mul4_y_2) : float32[2,3]
Mul14_y_2 = Gelu(Mul9_y_2) : float32[2,3]
output y0 = Mul14_y_2
output y1 = Mul19_y
)");
  compare(model);
}

TEST_F(CpuPasses, MeansOfOtherRowsStay) {
  for (const int64_t axis : {int64_t{1}, int64_t{2}}) {
    ModelMaker maker;
    Value* x = maker.input({2, 3, 13});
    Value* squares = maker.op("ReduceMean", {maker.op("Mul", {x, x}), maker.ints({axis})});
    Value* shifted = maker.op("Add", {squares, maker.constant(Tensor::scalar(0.5f))});
    maker.output(maker.op("Div", {x, maker.op("Sqrt", {shifted})}));
    size_t fused = 0;
    for (const ProfileRow& row : compare(maker.model())) {
      fused += row.layer_type == "RMSNormalization";
    }
    EXPECT_EQ(fused, axis == 2 ? 1u : 0u);
  }
}

TEST_F(CpuPasses, OperandsAreRepeatedWhereTheyAreRead) {
  ModelMaker maker;
  Value* x = maker.input({2, 3, 5});
  Value* norm = maker.input({2, 3, 1});
  Value* wide = maker.op("Expand", {norm, maker.ints({2, 3, 5})});
  maker.output(maker.op("Div", {x, wide}));
  maker.output(maker.op("Mul", {wide, wide}));  // nothing else says how wide it is
  maker.output(maker.op("Concat", {x, wide}, make_attributes({{"axis", 1}})));
  check(maker.model(), drop_expand, R"(
input x0 : float32[2,3,5]
input x1 : float32[2,3,1]
Expand0_y = Expand(x1, c0=[2,3,5]) : float32[2,3,5]
Div1_y = Div(x0, Expand0_y) : float32[2,3,5]
Mul2_y = Mul(Expand0_y, Expand0_y) : float32[2,3,5]
Concat3_y = Concat(x0, Expand0_y) {axis=1} : float32[2,6,5]
output y0 = Div1_y
output y1 = Mul2_y
output y2 = Concat3_y
)",
        R"(
input x0 : float32[2,3,5]
input x1 : float32[2,3,1]
Expand0_y = Expand(x1, c0=[2,3,5]) : float32[2,3,5]
Div1_y = Div(x0, x1) : float32[2,3,5]
Mul2_y = Mul(Expand0_y, Expand0_y) : float32[2,3,5]
Concat3_y = Concat(x0, Expand0_y) {axis=1} : float32[2,6,5]
output y0 = Div1_y
output y1 = Mul2_y
output y2 = Concat3_y
)");
}

TEST_F(CpuPasses, ActivationsAndSumsGoIntoTheConvolution) {
  ModelMaker maker;
  Value* x = maker.input({1, 16, 4, 4});
  Value* r = maker.input({1, 16, 4, 4});
  Value* c = maker.op("Conv", {x, maker.random({16, 16, 1, 1}, 0.2f)});
  Value* s = maker.op("Add", {r, c});
  maker.output(maker.op("LeakyRelu", {s}, make_attributes({{"alpha", 0.25f}})));
  check(maker.model(), cpu::fuse_tails, R"(
input x0 : float32[1,16,4,4]
input x1 : float32[1,16,4,4]
Conv0_y = Conv(x0, c0=float32[16,16,1,1]) : float32[1,16,4,4]
Add1_y = Add(x1, Conv0_y) : float32[1,16,4,4]
LeakyRelu2_y = LeakyRelu(Add1_y) {alpha=0.25} : float32[1,16,4,4]
output y0 = LeakyRelu2_y
)",
        R"(
input x0 : float32[1,16,4,4]
input x1 : float32[1,16,4,4]
LeakyRelu2_y_2 = het.Conv(x0, c0=float32[16,16,1,1], -, x1) {tail=[Sum,Relu] tail_alphas=[0,0.25] tail_betas=[0,0]} : float32[1,16,4,4]
output y0 = LeakyRelu2_y_2
)");
}

TEST_F(CpuPasses, APReluWithOneSlopeIsALeakyRelu) {
  ModelMaker maker;
  Value* x = maker.input({1, 16, 4, 4});
  const auto conv = [&](Value* v) {
    return maker.op("Conv", {v, maker.random({16, 16, 1, 1}, 0.2f)});
  };
  Value* one = maker.op("PRelu", {conv(x), maker.constant(Tensor::scalar(-0.5f))});
  const Tensor equal = Tensor::from<float>({16, 1, 1}, std::vector<float>(16, 0.25f));
  Value* all = maker.op("PRelu", {conv(one), maker.constant(equal)});
  maker.output(maker.op("PRelu", {conv(all), maker.random({16, 1, 1})}));
  check(maker.model(), cpu::fuse_tails, R"(
input x0 : float32[1,16,4,4]
Conv0_y = Conv(x0, c0=float32[16,16,1,1]) : float32[1,16,4,4]
PRelu1_y = PRelu(Conv0_y, c1=-0.5) : float32[1,16,4,4]
Conv2_y = Conv(PRelu1_y, c2=float32[16,16,1,1]) : float32[1,16,4,4]
PRelu3_y = PRelu(Conv2_y, c3=float32[16,1,1]) : float32[1,16,4,4]
Conv4_y = Conv(PRelu3_y, c4=float32[16,16,1,1]) : float32[1,16,4,4]
PRelu5_y = PRelu(Conv4_y, c5=float32[16,1,1]) : float32[1,16,4,4]
output y0 = PRelu5_y
)",
        R"(
input x0 : float32[1,16,4,4]
PRelu1_y_2 = het.Conv(x0, c0=float32[16,16,1,1]) {tail=[Relu] tail_alphas=[-0.5] tail_betas=[0]} : float32[1,16,4,4]
PRelu3_y_2 = het.Conv(PRelu1_y_2, c2=float32[16,16,1,1]) {tail=[Relu] tail_alphas=[0.25] tail_betas=[0]} : float32[1,16,4,4]
Conv4_y = Conv(PRelu3_y_2, c4=float32[16,16,1,1]) : float32[1,16,4,4]
PRelu5_y = PRelu(Conv4_y, c5=float32[16,1,1]) : float32[1,16,4,4]
output y0 = PRelu5_y
)");
}

TEST_F(CpuPasses, ATailHasEveryKindOnce) {
  ModelMaker maker;
  Value* x = maker.input({1, 16, 4, 4});
  Value* c = maker.op("Conv", {x, maker.random({16, 16, 1, 1}, 0.2f)});
  const auto scalar = [&](float value) { return maker.constant(Tensor::scalar(value)); };
  Value* scaled = maker.op("Add", {maker.op("Mul", {c, scalar(2)}), scalar(1)});
  maker.output(maker.op("Relu", {maker.op("Mul", {maker.op("Relu", {scaled}), scalar(-3)})}));
  check(maker.model(), cpu::fuse_tails, R"(
input x0 : float32[1,16,4,4]
Conv0_y = Conv(x0, c0=float32[16,16,1,1]) : float32[1,16,4,4]
Mul1_y = Mul(Conv0_y, c1=2) : float32[1,16,4,4]
Add2_y = Add(Mul1_y, c2=1) : float32[1,16,4,4]
Relu3_y = Relu(Add2_y) : float32[1,16,4,4]
Mul4_y = Mul(Relu3_y, c3=-3) : float32[1,16,4,4]
Relu5_y = Relu(Mul4_y) : float32[1,16,4,4]
output y0 = Relu5_y
)",
        R"(
input x0 : float32[1,16,4,4]
Relu3_y_2 = het.Conv(x0, c0=float32[16,16,1,1]) {tail=[Linear,Relu] tail_alphas=[2,0] tail_betas=[1,0]} : float32[1,16,4,4]
Mul4_y = Mul(Relu3_y_2, c3=-3) : float32[1,16,4,4]
Relu5_y = Relu(Mul4_y) : float32[1,16,4,4]
output y0 = Relu5_y
)");
}

TEST_F(CpuPasses, AValueReadTwiceStaysOutsideTheTail) {
  ModelMaker maker;
  Value* x = maker.input({1, 16, 4, 4});
  Value* c = maker.op("Conv", {x, maker.random({16, 16, 1, 1}, 0.2f)});
  maker.output(maker.op("Relu", {c}));
  maker.output(c);
  check(maker.model(), cpu::fuse_tails, R"(
input x0 : float32[1,16,4,4]
Conv0_y = Conv(x0, c0=float32[16,16,1,1]) : float32[1,16,4,4]
Relu1_y = Relu(Conv0_y) : float32[1,16,4,4]
output y0 = Relu1_y
output y1 = Conv0_y
)",
        R"(
input x0 : float32[1,16,4,4]
Conv0_y = Conv(x0, c0=float32[16,16,1,1]) : float32[1,16,4,4]
Relu1_y = Relu(Conv0_y) : float32[1,16,4,4]
output y0 = Relu1_y
output y1 = Conv0_y
)");
}

TEST_F(CpuPasses, ProductsTakeTailsToo) {
  ModelMaker maker;
  Value* x = maker.input({4, 8});
  Value* r = maker.input({4, 6});
  Value* y = maker.op("Gemm", {x, maker.random({8, 6}), maker.random({6})});
  maker.output(maker.op("Add", {maker.op("Gelu", {y}), r}));
  ASSERT_NE(maker.model().nodes()[1]->op(), nullptr);
  check(maker.model(), cpu::fuse_tails, R"(
input x0 : float32[4,8]
input x1 : float32[4,6]
Gemm0_y = Gemm(x0, c0=float32[8,6], c1=[2.8359678,0.88514966,0.5841086,0.091183916,0.35777348,1.9432845]) : float32[4,6]
Gelu1_y = Gelu(Gemm0_y) : float32[4,6]
Add2_y = Add(Gelu1_y, x1) : float32[4,6]
output y0 = Add2_y
)",
        R"(
input x0 : float32[4,8]
input x1 : float32[4,6]
Add2_y_2 = het.Gemm(x0, c0=float32[8,6], c1=[2.8359678,0.88514966,0.5841086,0.091183916,0.35777348,1.9432845], x1) {tail=[GeluErf,Sum] tail_alphas=[0,0] tail_betas=[0,0]} : float32[4,6]
output y0 = Add2_y_2
)");
}

TEST_F(CpuPasses, ElementwiseChainsBecomeOneNode) {
  ModelMaker maker;
  Value* x = maker.input({1, 12, 4, 4});
  Value* y = maker.input({1, 1, 4, 4});
  Value* a = maker.op("Add", {x, y});
  Value* b = maker.op("Exp", {a});
  Value* c = maker.op("Div", {a, b});
  maker.output(maker.op("Mul", {c, maker.random({12, 1, 1})}));
  check(maker.model(), fuse_elementwise, R"(
input x0 : float32[1,12,4,4]
input x1 : float32[1,1,4,4]
Add0_y = Add(x0, x1) : float32[1,12,4,4]
Exp1_y = Exp(Add0_y) : float32[1,12,4,4]
Div2_y = Div(Add0_y, Exp1_y) : float32[1,12,4,4]
Mul3_y = Mul(Div2_y, c0=float32[12,1,1]) : float32[1,12,4,4]
output y0 = Mul3_y
)",
        R"(
input x0 : float32[1,12,4,4]
input x1 : float32[1,1,4,4]
Mul3_y_2_2 = het.Elementwise(x0, x1, c0=float32[12,1,1]) {alphas=[0,0,0,0] betas=[0,0,0,0] program=[Add 0 1,Exp 3,Div 3 4,Mul 5 2]} : float32[1,12,4,4]
output y0 = Mul3_y_2_2
)");
}

TEST_F(CpuPasses, ReshapesAndTransposeBecomeAChannelShuffle) {
  ModelMaker maker;
  Value* x = maker.input({2, 12, 3, 5});
  Value* a = maker.op("Reshape", {x, maker.ints({2, 3, 4, 3, 5})});
  Value* b = maker.op("Transpose", {a}, make_attributes({{"perm", Ints{0, 2, 1, 3, 4}}}));
  maker.output(maker.op("Reshape", {b, maker.ints({2, 12, 3, 5})}));
  check(maker.model(), fuse_channel_shuffles, R"(
input x0 : float32[2,12,3,5]
Reshape0_y = Reshape(x0, c0=[2,3,4,3,5]) : float32[2,3,4,3,5]
Transpose1_y = Transpose(Reshape0_y) {perm=[0,2,1,3,4]} : float32[2,4,3,3,5]
Reshape2_y = Reshape(Transpose1_y, c1=[2,12,3,5]) : float32[2,12,3,5]
output y0 = Reshape2_y
)",
        R"(
input x0 : float32[2,12,3,5]
Reshape2_y_2 = het.ChannelShuffle(x0) {group=3} : float32[2,12,3,5]
output y0 = Reshape2_y_2
)");
}

TEST_F(CpuPasses, EveryOtherChannelIsASlice) {
  ModelMaker maker;
  Value* x = maker.input({2, 12, 3, 5});
  Value* a = maker.op("Reshape", {x, maker.ints({8, 3, 15})});
  Value* b = maker.op("Transpose", {a}, make_attributes({{"perm", Ints{1, 0, 2}}}));
  Value* c = maker.op("Reshape", {b, maker.ints({3, -1, 4, 3, 5})});
  const auto pick = [&](int64_t index) {
    return maker.op("Gather", {c, maker.constant(Tensor::scalar(index))});
  };
  maker.output(pick(0));
  maker.output(pick(-1));
  check(maker.model(), fuse_channel_slices, R"(
input x0 : float32[2,12,3,5]
Reshape0_y = Reshape(x0, c0=[8,3,15]) : float32[8,3,15]
Transpose1_y = Transpose(Reshape0_y) {perm=[1,0,2]} : float32[3,8,15]
Reshape2_y = Reshape(Transpose1_y, c1=[3,-1,4,3,5]) : float32[3,2,4,3,5]
Gather3_y = Gather(Reshape2_y, c2=0) : float32[2,4,3,5]
Gather4_y = Gather(Reshape2_y, c3=-1) : float32[2,4,3,5]
output y0 = Gather3_y
output y1 = Gather4_y
)",
        R"(
input x0 : float32[2,12,3,5]
Gather3_y_2 = Slice(x0, Gather3/starts=[0], Gather3/ends=[12], Gather3/axes=[1], Gather3/steps=[3]) : float32[2,4,3,5]
Gather4_y_2 = Slice(x0, Gather4/starts=[2], Gather4/ends=[12], Gather4/axes=[1], Gather4/steps=[3]) : float32[2,4,3,5]
output y0 = Gather3_y_2
output y1 = Gather4_y_2
)");
}

TEST_F(CpuPasses, OtherReadersOfChannelGroupsKeepThem) {
  ModelMaker maker;
  Value* x = maker.input({1, 12, 3, 5});
  Value* a = maker.op("Reshape", {x, maker.ints({6, 2, 15})});
  Value* b = maker.op("Transpose", {a}, make_attributes({{"perm", Ints{1, 0, 2}}}));
  Value* c = maker.op("Reshape", {b, maker.ints({2, 1, 6, 3, 5})});
  maker.output(maker.op("Gather", {c, maker.constant(Tensor::scalar(int64_t{0}))}));
  maker.output(maker.op("Relu", {c}));
  const auto rows = compare(maker.model(), 0.0f);
  EXPECT_EQ(count_type(rows, "Slice"), 0u);
  EXPECT_EQ(count_type(rows, "Transpose"), 1u);
}

TEST_F(CpuPasses, ChannelShufflesOfBlockedTensors) {
  for (const int64_t channels : {32, 20, 116}) {
    ModelMaker maker;
    Value* x = maker.conv(maker.input({2, 16, 5, 7}), 16, channels);
    Value* a = maker.op("Reshape", {x, maker.ints({2, 2, channels / 2, 5, 7})});
    Value* b = maker.op("Transpose", {a}, make_attributes({{"perm", Ints{0, 2, 1, 3, 4}}}));
    Value* c = maker.op("Reshape", {b, maker.ints({2, channels, 5, 7})});
    maker.output(maker.conv(c, channels, 16));
    const auto rows = compare(maker.model(), 1e-4f);
    EXPECT_EQ(implementation(rows, "Reshape1"), "own_blocked");
  }
}

TEST_F(CpuPasses, QuantisedConstantsBecomeFloat) {
  ModelMaker maker;
  Value* x = maker.input({1, 2, 4, 4});
  Value* w =
      maker.op("DequantizeLinear",
               {maker.constant(cpu_testing::random_bytes<int8_t>({3, 2, 1, 1}, 4)),
                maker.constant(Tensor::scalar(0.1f)), maker.constant(Tensor::scalar(int8_t{3}))});
  ASSERT_NE(w->producer()->op(), nullptr) << w->producer()->unsupported_reason();
  maker.output(maker.op("Conv", {x, w}));
  check(maker.model(), fold_dequantized_constants, R"(
input x0 : float32[1,2,4,4]
DequantizeLinear0_y = DequantizeLinear(c0=[119,102,12,-84,121,91], c1=0.1, c2=3) : float32[3,2,1,1]
Conv1_y = Conv(x0, DequantizeLinear0_y) : float32[1,3,4,4]
output y0 = Conv1_y
)",
        R"(
input x0 : float32[1,2,4,4]
Conv1_y = Conv(x0, DequantizeLinear0_y=[11.6,9.900001,0.90000004,-8.7,11.8,8.8]) : float32[1,3,4,4]
output y0 = Conv1_y
)");
}

TEST_F(CpuPasses, Float16ModelsComputeInFloat32) {
  ModelMaker maker;
  Value* x = maker.input({2, 3}, ElementType::Float16);
  std::vector<Float16> rows;
  for (int i = 0; i < 6; ++i) rows.emplace_back(0.5f * static_cast<float>(i));
  Value* w = maker.constant(Tensor::from<Float16>({2, 3}, rows));
  maker.output(maker.op("Relu", {maker.op("Add", {x, w})}));
  const std::unique_ptr<Model> prepared = maker.model().clone();
  ASSERT_TRUE(prepare_model(*prepared).ok());
  ASSERT_TRUE(compute_in_float32(*prepared).ok());
  EXPECT_EQ("\n" + print_model(*prepared), R"(
input x0 : float16[2,3]
x0/widen = Cast(x0) {to=1} : float32[2,3]
Add0_y = Add(x0/widen, c0=[0,0.5,1,1.5,2,2.5]) : float32[2,3]
Relu1_y = Relu(Add0_y) : float32[2,3]
y0/narrow = Cast(Relu1_y) {to=10} : float16[2,3]
output y0 = y0/narrow
)");
  const auto compiled = compile(maker.model());
  EXPECT_EQ(compiled->inputs()[0].desc.type, ElementType::Float16);
  EXPECT_EQ(compiled->outputs()[0].desc.type, ElementType::Float16);
  const auto out = infer(*compiled, {Tensor::from<Float16>({2, 3}, rows)});
  EXPECT_EQ(*to_float_vector(out[0]), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST_F(CpuPasses, Float16ModelsWithStubsComputeInFloat32) {
  Model model("net");
  Value* x = model.add_input("x", {ElementType::Float16, {2}});
  Attributes attributes;
  attributes.set("output_types", std::vector<std::string>{"float16", "int64"});
  attributes.set("output_ranks", std::vector<int64_t>{1, 0});
  attributes.set("output_dims", std::vector<int64_t>{3});
  Node* stub = model.add_node("stub", "Stub", "het", {x}, {"a", "b"}, attributes);
  model.add_output("y", model.add_node("relu", "Relu", "", {stub->output(0)}, {"c"})->output());
  model.add_output("z", stub->output(1));
  ASSERT_TRUE(prepare_model(model).ok());
  ASSERT_TRUE(compute_in_float32(model).ok());
  EXPECT_EQ(model.find_value("a")->desc(), (TensorDesc{ElementType::Float32, {3}}));
  EXPECT_EQ(model.find_value("b")->desc().type, ElementType::Int64);
  EXPECT_EQ(model.find_value("c")->desc().type, ElementType::Float32);
  EXPECT_EQ(model.outputs()[0].value->desc().type, ElementType::Float16);
}

}  // namespace
}  // namespace het
