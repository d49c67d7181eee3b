#include "tests/devices/special_values.h"
#include "tests/devices/cpu/cpu_testing.h"

namespace het {
namespace {

using cpu_testing::CpuTest;
using cpu_testing::Ints;
using cpu_testing::make_attributes;
using cpu_testing::ModelMaker;
using device_testing::kInfinity;
using device_testing::kNan;

using CpuSpecialValues = device_testing::SpecialValues<CpuTest>;

TEST_F(CpuSpecialValues, FunctionsOfOneValue) {
  for (const char* type : {"Relu", "Sigmoid", "Tanh", "Softplus", "Exp", "HardSigmoid", "HardSwish",
                           "Elu", "LeakyRelu", "Abs", "Neg", "Sqrt", "Floor", "Round", "Erf"}) {
    SCOPED_TRACE(type);
    ModelMaker maker;
    maker.output(maker.op(type, {maker.input({3, 37})}));
    expect_same(maker.model(), {values({3, 37}, 1)});
  }
  ModelMaker maker;
  Value* x = maker.input({3, 37});
  maker.output(maker.op(
      "Clip", {x, maker.constant(Tensor::scalar(-1.0f)), maker.constant(Tensor::scalar(6.0f))}));
  expect_same(maker.model(), {values({3, 37}, 2)});
}

TEST_F(CpuSpecialValues, LimitsWithoutNumbers) {
  expect_limits_without_numbers();
}

TEST_F(CpuSpecialValues, NumbersForNan) {
  expect_numbers_for_nan();
}

TEST_F(CpuSpecialValues, MaximaOfRegions) {
  expect_maxima_of_regions();
}

TEST_F(CpuSpecialValues, NumbersTimesAFunctionOfThem) {
  expect_gates();
}

TEST_F(CpuSpecialValues, ChainsOfFunctions) {
  ModelMaker maker;
  Value* x = maker.input({3, 37});
  Value* y = maker.input({3, 37});
  Value* sum = maker.op("Max", {maker.op("Relu", {x}), maker.op("Tanh", {y})});
  maker.output(maker.op("Min", {maker.op("Sigmoid", {sum}), y}));
  expect_same(maker.model(), {values({3, 37}, 1), values({3, 37}, 9)});
}

TEST_F(CpuSpecialValues, ExtremesInEitherOrder) {
  for (const char* type : {"Max", "Min"}) {
    SCOPED_TRACE(type);
    ModelMaker maker;
    Value* x = maker.input({3, 37});
    Value* y = maker.input({3, 37});
    maker.output(maker.op(type, {x, y}));
    maker.output(maker.op(type, {y, x}));
    maker.output(maker.op(type, {x, maker.constant(Tensor::scalar(0.5f))}));
    maker.output(maker.op(type, {maker.constant(Tensor::scalar(0.5f)), x}));
    expect_same(maker.model(), {values({3, 37}, 1), values({3, 37}, 5)});
  }
}

TEST_F(CpuSpecialValues, ReductionsToExtremes) {
  for (const char* type : {"ReduceMax", "ReduceMin"}) {
    for (const int64_t axis : {0, 1, 2}) {
      SCOPED_TRACE(testing::Message() << type << " along " << axis);
      for (const size_t start : {1, 4, 8}) {
        ModelMaker maker;
        maker.output(maker.op(type, {maker.input({4, 3, 37}), maker.ints({axis})},
                              make_attributes({{"keepdims", int64_t{0}}})));
        expect_same(maker.model(), {values({4, 3, 37}, start)});
      }
    }
  }
  // One NaN at each place of a row: in front, in the middle of a vector, in the rest.
  for (size_t place = 0; place < 21; ++place) {
    for (const char* type : {"ReduceMax", "ReduceMin"}) {
      ModelMaker maker;
      maker.output(
          maker.op(type, {maker.input({21})}, make_attributes({{"keepdims", int64_t{0}}})));
      Tensor row = cpu_testing::random_tensor({21}, 3);
      row.data<float>()[place] = kNan;
      expect_same(maker.model(), {row});
    }
  }
}

TEST_F(CpuSpecialValues, MaximaOfPictures) {
  for (const int64_t channels : {1, 3, 8, 16, 20}) {
    SCOPED_TRACE(testing::Message() << channels << " channels");
    const Shape shape{2, channels, 9, 10};
    ModelMaker maker;
    Value* x = maker.input(shape);
    const Attributes three = make_attributes(
        {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}});
    maker.output(maker.op("MaxPool", {x}, three));
    maker.output(maker.op("GlobalMaxPool", {x}));
    // Behind a convolution, in the layout that it leaves.
    Tensor ones = *Tensor::allocate({ElementType::Float32, {channels, 1, 1, 1}});
    for (float& value : ones.values<float>()) value = 1.0f;
    Value* same =
        maker.op("Conv", {x, maker.constant(ones)}, make_attributes({{"group", channels}}));
    maker.output(maker.op("MaxPool", {same}, three));
    expect_same(maker.model(), {values(shape, 1)});
    Tensor low = *Tensor::allocate({ElementType::Float32, shape});
    for (float& value : low.values<float>()) value = -kInfinity;
    expect_same(maker.model(), {low});
  }
}

TEST_F(CpuSpecialValues, FactorsBehindAConvolutionThatAreNoNumbers) {
  for (const char* type : {"Div", "Mul"}) {
    SCOPED_TRACE(type);
    ModelMaker maker;
    Value* x = maker.input({1, 1, 1, 2});
    Value* conv = maker.op("Conv", {x, maker.constant(Tensor::from<float>({1, 1, 1, 2}, {2, 0}))});
    const float factor = std::string_view(type) == "Div" ? 0.0f : kInfinity;
    maker.output(maker.op(type, {conv, maker.constant(Tensor::from<float>({1, 1, 1}, {factor}))}));
    expect_same(maker.model(), {Tensor::from<float>({1, 1, 1, 2}, {1, 1})});
  }
}

}  // namespace
}  // namespace het
