#include <limits>

#include "inference/passes/fusions/passes.h"
#include "inference/passes/fusions/rewrite.h"
#include "tests/devices/cpu/pass_testing.h"

namespace het {
namespace {

using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;

using CpuNormalisationPasses = cpu_testing::PassTest;

TEST_F(CpuNormalisationPasses, MeansAndRootsBecomeNormalisations) {
  ModelMaker maker;
  const auto scalar = [&](float value) { return maker.constant(Tensor::scalar(value)); };
  const auto mean = [&](Value* v) { return maker.op("ReduceMean", {v, maker.ints({-1})}); };
  Value* x = maker.input({2, 3, 13});
  Value* difference = maker.op("Sub", {x, mean(x)});
  Value* variance = mean(maker.op("Pow", {difference, scalar(2)}));
  Value* deviation = maker.op("Sqrt", {maker.op("Add", {variance, scalar(0.25f)})});
  Value* layer = maker.op("Div", {difference, deviation});
  layer = maker.op("Add", {maker.op("Mul", {layer, maker.random({13})}), maker.random({13})});
  const auto root = [&](Value* v) {
    return maker.op("Sqrt", {maker.op("Add", {scalar(0.5f), mean(maker.op("Mul", {v, v}))})});
  };
  Value* reciprocal = maker.op("Div", {scalar(1), root(layer)});
  Value* rms = maker.op("Mul", {maker.random({13}), maker.op("Mul", {layer, reciprocal})});
  maker.output(maker.op("Mul", {maker.op("Reciprocal", {root(rms)}), rms}));
  check(maker.model(), fuse_normalisations, R"(
input x0 : float32[2,3,13]
ReduceMean0_y = ReduceMean(x0, c0=[-1]) : float32[2,3,1]
Sub1_y = Sub(x0, ReduceMean0_y) : float32[2,3,13]
Pow2_y = Pow(Sub1_y, c1=2) : float32[2,3,13]
ReduceMean3_y = ReduceMean(Pow2_y, c2=[-1]) : float32[2,3,1]
Add4_y = Add(ReduceMean3_y, c3=0.25) : float32[2,3,1]
Sqrt5_y = Sqrt(Add4_y) : float32[2,3,1]
Div6_y = Div(Sub1_y, Sqrt5_y) : float32[2,3,13]
Mul7_y = Mul(Div6_y, c4=float32[13]) : float32[2,3,13]
Add8_y = Add(Mul7_y, c5=float32[13]) : float32[2,3,13]
Mul9_y = Mul(Add8_y, Add8_y) : float32[2,3,13]
ReduceMean10_y = ReduceMean(Mul9_y, c8=[-1]) : float32[2,3,1]
Add11_y = Add(c7=0.5, ReduceMean10_y) : float32[2,3,1]
Sqrt12_y = Sqrt(Add11_y) : float32[2,3,1]
Div13_y = Div(c6=1, Sqrt12_y) : float32[2,3,1]
Mul14_y = Mul(Add8_y, Div13_y) : float32[2,3,13]
Mul15_y = Mul(c9=float32[13], Mul14_y) : float32[2,3,13]
Mul16_y = Mul(Mul15_y, Mul15_y) : float32[2,3,13]
ReduceMean17_y = ReduceMean(Mul16_y, c11=[-1]) : float32[2,3,1]
Add18_y = Add(c10=0.5, ReduceMean17_y) : float32[2,3,1]
Sqrt19_y = Sqrt(Add18_y) : float32[2,3,1]
Reciprocal20_y = Reciprocal(Sqrt19_y) : float32[2,3,1]
Mul21_y = Mul(Reciprocal20_y, Mul15_y) : float32[2,3,13]
output y0 = Mul21_y
)",
        R"(
input x0 : float32[2,3,13]
Add8_y_2 = LayerNormalization(x0, c4=float32[13], c5=float32[13]) {axis=-1 epsilon=0.25} : float32[2,3,13]
Mul15_y_2 = RMSNormalization(Add8_y_2, c9=float32[13]) {axis=-1 epsilon=0.5} : float32[2,3,13]
Mul21_y_2 = RMSNormalization(Mul15_y_2, Mul21/ones=float32[13]) {axis=-1 epsilon=0.5} : float32[2,3,13]
output y0 = Mul21_y_2
)");
}

TEST_F(CpuNormalisationPasses, ScalesGoIntoInstanceNormalization) {
  ModelMaker maker;
  Value* x = maker.input({2, 3, 4, 4});
  Value* scale = maker.constant(Tensor::from<float>({3}, {1, 2, -1}));
  Value* bias = maker.constant(Tensor::from<float>({3}, {0.5f, 0, 1}));
  Value* y = maker.op("InstanceNormalization", {x, scale, bias});
  Value* factor = maker.constant(Tensor::from<float>({1, 3, 1, 1}, {3, 4, 5}));
  Value* shift = maker.constant(Tensor::from<float>({3, 1, 1}, {1, 1, 2}));
  maker.output(maker.op("Add", {maker.op("Mul", {y, factor}), shift}));
  check(maker.model(), fold_channel_affine, R"(
input x0 : float32[2,3,4,4]
InstanceNormalization0_y = InstanceNormalization(x0, c0=[1,2,-1], c1=[0.5,0,1]) : float32[2,3,4,4]
Mul1_y = Mul(InstanceNormalization0_y, c2=[3,4,5]) : float32[2,3,4,4]
Add2_y = Add(Mul1_y, c3=[1,1,2]) : float32[2,3,4,4]
output y0 = Add2_y
)",
        R"(
input x0 : float32[2,3,4,4]
Add2_y_2 = InstanceNormalization(x0, c0_2=[3,8,-5], InstanceNormalization0/bias_2=[2.5,1,7]) : float32[2,3,4,4]
output y0 = Add2_y_2
)");
}

TEST_F(CpuNormalisationPasses, RowsOfGroupsBecomeGroupNormalization) {
  ModelMaker maker;
  Value* x = maker.input({2, 4, 3, 3});
  const auto by_group = [&](float scale, float bias) {
    Value* rows = maker.op("Reshape", {x, maker.ints({2, 2, -1})});
    Value* normal = maker.op("InstanceNormalization",
                             {rows, maker.constant(Tensor::from<float>({2}, {1, scale})),
                              maker.constant(Tensor::from<float>({2}, {0, bias}))},
                             make_attributes({{"epsilon", 0.25f}}));
    return maker.op("Reshape", {normal, maker.ints({2, 4, 3, 3})});
  };
  Value* scaled = maker.op(
      "Mul", {by_group(2, 1), maker.constant(Tensor::from<float>({4, 1, 1}, {1, 2, 3, 4}))});
  maker.output(
      maker.op("Add", {scaled, maker.constant(Tensor::from<float>({1, 4, 1, 1}, {5, 6, 7, 8}))}));
  // Operands along the rows belong to no channel.
  maker.output(
      maker.op("Mul", {by_group(3, 2), maker.constant(Tensor::from<float>({3, 1}, {1, 2, 3}))}));
  check(maker.model(), fuse_group_norm, R"(
input x0 : float32[2,4,3,3]
Reshape0_y = Reshape(x0, c0=[2,2,-1]) : float32[2,2,18]
InstanceNormalization1_y = InstanceNormalization(Reshape0_y, c1=[1,2], c2=[0,1]) {epsilon=0.25} : float32[2,2,18]
Reshape2_y = Reshape(InstanceNormalization1_y, c3=[2,4,3,3]) : float32[2,4,3,3]
Mul3_y = Mul(Reshape2_y, c4=[1,2,3,4]) : float32[2,4,3,3]
Add4_y = Add(Mul3_y, c5=[5,6,7,8]) : float32[2,4,3,3]
Reshape5_y = Reshape(x0, c6=[2,2,-1]) : float32[2,2,18]
InstanceNormalization6_y = InstanceNormalization(Reshape5_y, c7=[1,3], c8=[0,2]) {epsilon=0.25} : float32[2,2,18]
Reshape7_y = Reshape(InstanceNormalization6_y, c9=[2,4,3,3]) : float32[2,4,3,3]
Mul8_y = Mul(Reshape7_y, c10=[1,2,3]) : float32[2,4,3,3]
output y0 = Add4_y
output y1 = Mul8_y
)",
        R"(
input x0 : float32[2,4,3,3]
Add4_y_2 = GroupNormalization(x0, InstanceNormalization1/channel_scale=[1,2,6,8], InstanceNormalization1/channel_bias=[5,6,10,12]) {epsilon=0.25 num_groups=2} : float32[2,4,3,3]
Reshape7_y_2 = GroupNormalization(x0, InstanceNormalization6/channel_scale=[1,1,3,3], InstanceNormalization6/channel_bias=[0,0,2,2]) {epsilon=0.25 num_groups=2} : float32[2,4,3,3]
Mul8_y = Mul(Reshape7_y_2, c10=[1,2,3]) : float32[2,4,3,3]
output y0 = Add4_y_2
output y1 = Mul8_y
)");
}

/// 0 times an infinity is NaN, where the definition adds a finite bias first.
TEST_F(CpuNormalisationPasses, FactorsOfGroupsThatAreNotFiniteStay) {
  ModelMaker maker;
  Value* rows = maker.op("Reshape", {maker.input({1, 2, 2, 2}), maker.ints({1, 2, -1})});
  Value* normal =
      maker.op("InstanceNormalization", {rows, maker.constant(Tensor::from<float>({2}, {1, 2})),
                                         maker.constant(Tensor::from<float>({2}, {0, 1}))});
  Value* back = maker.op("Reshape", {normal, maker.ints({1, 2, 2, 2})});
  const float infinite = std::numeric_limits<float>::infinity();
  maker.output(
      maker.op("Mul", {back, maker.constant(Tensor::from<float>({2, 1, 1}, {3.0f, infinite}))}));
  const std::unique_ptr<Model> prepared = maker.model().clone();
  ASSERT_TRUE(prepare_model(*prepared).ok());
  ASSERT_TRUE(run_rewrites(*prepared, {fuse_group_norm}).ok());
  ASSERT_EQ(prepared->nodes().size(), 2u);
  EXPECT_EQ(prepared->nodes()[0]->op_type(), "GroupNormalization");
  EXPECT_EQ(prepared->nodes()[1]->op_type(), "Mul");
}

}  // namespace
}  // namespace het
