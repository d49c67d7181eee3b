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

TEST_F(GpuSpecialValues, LimitsWithoutNumbers) {
  expect_limits_without_numbers();
}

TEST_F(GpuSpecialValues, NumbersForNan) {
  expect_numbers_for_nan();
}

TEST_F(GpuSpecialValues, MaximaOfRegions) {
  expect_maxima_of_regions();
}

TEST_F(GpuSpecialValues, NumbersTimesAFunctionOfThem) {
  expect_gates();
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

TEST_F(GpuSpecialValues, RowsOfAttention) {
  expect_rows_of_attention();
}

/// A limit that is NaN bounds nothing, on its own or fused behind something.
TEST_F(GpuSpecialValues, LimitsThatAreNaN) {
  ModelMaker maker;
  Value* x = maker.input({3, 37});
  Value* nan = maker.constant(Tensor::scalar(kNan));
  Value* one = maker.constant(Tensor::scalar(1.0f));
  maker.output(maker.op("Clip", {x, nan}));
  maker.output(maker.op("Clip", {x, nan, one}));
  maker.output(maker.op("Clip", {maker.op("Neg", {x}), one, nan}));
  expect_same(maker.model(), {values({3, 37}, 1)});
}

/// Sums of values, of squares and of exponentials that half cannot hold, with results that it can.
TEST_F(GpuSpecialValues, SumsBeyondHalf) {
  ModelMaker maker;
  Value* picture = maker.input({1, 4, 9, 10});
  Value* rows = maker.input({4, 256});
  Value* zeros = maker.input({1, 70000});
  const Tensor ones = Tensor::from<float>({4}, {1, 1, 1, 1});
  maker.output(maker.op("GlobalAveragePool", {picture}));
  maker.output(maker.op("AveragePool", {picture}, make_attributes({{"kernel_shape", Ints{3, 3}}})));
  maker.output(maker.op("ReduceMean", {picture, maker.ints({2, 3})}));
  maker.output(maker.op(
      "InstanceNormalization",
      {picture, maker.constant(ones), maker.constant(Tensor::from<float>({4}, {0, 0, 0, 0}))}));
  Tensor scale = *Tensor::allocate({ElementType::Float32, {256}});
  for (float& value : scale.values<float>()) value = 1.0f;
  maker.output(maker.op("LayerNormalization", {rows, maker.constant(scale)}));
  maker.output(maker.op("Softmax", {rows}));
  maker.output(maker.op("Softmax", {zeros}));
  maker.output(maker.op("ReduceL2", {rows, maker.ints({1})}));
  const auto compiled = compile(maker.model(), {{"INFERENCE_PRECISION_HINT", "f16"}});
  ASSERT_NE(compiled, nullptr);
  Tensor large = random_tensor({1, 4, 9, 10}, 1);
  for (float& value : large.values<float>())
    value = std::clamp(30000.0f + 10000.0f * value, 0.0f, 60000.0f);
  Tensor steep = random_tensor({4, 256}, 2);
  for (float& value : steep.values<float>()) value = std::clamp(2000.0f * value, -6000.0f, 6000.0f);
  Tensor flat = *Tensor::allocate({ElementType::Float32, {1, 70000}});
  for (float& value : flat.values<float>()) value = 0.0f;
  const std::vector<Tensor> inputs{large, steep, flat};
  const auto reference = ref_->compile_model(maker.model(), {}, nullptr);
  ASSERT_TRUE(reference) << reference.error().message();
  const std::vector<Tensor> got = infer(*compiled, inputs);
  const std::vector<Tensor> wanted = infer(**reference, inputs);
  for (size_t o = 0; o < got.size(); ++o) {
    const auto a = *to_float_vector(got[o]);
    const auto b = *to_float_vector(wanted[o]);
    float largest = 0.0f;
    for (const float value : b) largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_NEAR(a[i], b[i], 0.01f * largest) << "output " << o << " at " << i;
    }
  }
}

}  // namespace
}  // namespace het::gpu_testing
