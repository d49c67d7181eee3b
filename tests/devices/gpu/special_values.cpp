#include "tests/devices/special_values.h"

#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

using device_testing::kInfinity;
using device_testing::kNan;
using GpuSpecialValues = device_testing::SpecialValues<GpuTest>;

TEST_F(GpuSpecialValues, FunctionsOfOneValue) {
  ModelMaker maker;
  Value* x = maker.input({3, 37});
  for (const char* type : {"Relu", "Sigmoid", "Tanh", "Softplus", "Exp", "HardSigmoid", "Elu",
                           "LeakyRelu", "Abs", "Neg", "Sqrt", "Floor", "Round", "Erf"}) {
    maker.output(maker.op(type, {x}));
  }
  maker.output(maker.op(
      "Clip", {x, maker.constant(Tensor::scalar(-1.0f)), maker.constant(Tensor::scalar(6.0f))}));
  expect_same(maker.model(), {values({3, 37}, 1)});
}

TEST_F(GpuSpecialValues, ExtremesAndReductions) {
  for (const char* type : {"Max", "Min"}) {
    ModelMaker maker;
    Value* x = maker.input({3, 37});
    Value* y = maker.input({3, 37});
    maker.output(maker.op(type, {x, y}));
    maker.output(maker.op(type, {y, x}));
    maker.output(maker.op(std::string("Reduce") + type, {x, maker.ints({0})}));
    maker.output(maker.op(std::string("Reduce") + type, {x, maker.ints({1})}));
    expect_same(maker.model(), {values({3, 37}, 1), values({3, 37}, 5)});
  }
}

TEST_F(GpuSpecialValues, MaximaOfPicturesAndWhatFollowsAConvolution) {
  const Shape shape{1, 20, 9, 10};
  ModelMaker maker;
  Value* x = maker.input(shape);
  maker.output(maker.op("MaxPool", {x}, make_attributes({{"kernel_shape", Ints{3, 3}}})));
  Tensor ones = *Tensor::allocate({ElementType::Float32, {20, 1, 1, 1}});
  for (float& value : ones.values<float>()) value = 1.0f;
  Value* same =
      maker.op("Conv", {x, maker.constant(ones)}, make_attributes({{"group", int64_t{20}}}));
  maker.output(maker.op("Relu", {same}));
  expect_same(maker.model(), {values(shape, 1)});
  Tensor low = *Tensor::allocate({ElementType::Float32, shape});
  for (float& value : low.values<float>()) value = -kInfinity;
  expect_same(maker.model(), {low});
}

TEST_F(GpuSpecialValues, LimitsOfRecurrencesAndNorms) {
  ModelMaker recurrent;
  Value* x = recurrent.input({2, 1, 3});
  recurrent.output(recurrent.op("GRU",
                                {x, recurrent.random({1, 12, 3}), recurrent.random({1, 12, 4})},
                                make_attributes({{"hidden_size", int64_t{4}}, {"clip", 0.5f}})));
  expect_same(recurrent.model(), {Tensor::from<float>({2, 1, 3}, {1, kNan, 2, 3, 4, 5})});

  ModelMaker norm;
  Value* rows = norm.input({2, 3});
  norm.output(norm.op("NormalizeL2", {rows, norm.ints({1})},
                      make_attributes({{"eps", 0.001f}, {"eps_mode", std::string("max")}}), "het"));
  expect_same(norm.model(), {Tensor::from<float>({2, 3}, {1, kNan, 2, 3, 4, 5})});
}

}  // namespace
}  // namespace het::gpu_testing
