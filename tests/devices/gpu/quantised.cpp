// Quantised operators and products of whole numbers: equal to REF, not just near.
#include "tests/devices/gpu/gpu_testing.h"

namespace het::gpu_testing {
namespace {

class GpuQuantised : public GpuTest {
 protected:
  static Value* scale(ModelMaker& maker, float value) {
    return maker.constant(Tensor::scalar(value));
  }
  template <class T>
  static Value* zero(ModelMaker& maker, T value) {
    return maker.constant(Tensor::scalar(value));
  }
  static Value* microsoft(ModelMaker& maker, const std::string& type, std::vector<Value*> inputs,
                          Attributes attributes = {}) {
    return maker.op(type, std::move(inputs), std::move(attributes), "com.microsoft");
  }
};

TEST_F(GpuQuantised, PoolsAddWholeNumbers) {
  for (const int64_t last : {0, 1}) {
    for (const int64_t padding_counts : {0, 1}) {
      ModelMaker maker;
      Value* x = maker.input(last ? Shape{2, 11, 8, 19} : Shape{2, 19, 11, 8}, ElementType::UInt8);
      const std::vector<Value*> inputs{x, scale(maker, 0.031f), zero<uint8_t>(maker, 117),
                                       scale(maker, 0.017f), zero<uint8_t>(maker, 90)};
      Attributes attributes = make_attributes({{"channels_last", last}});
      maker.output(microsoft(maker, "QLinearGlobalAveragePool", inputs, attributes));
      attributes.set("kernel_shape", Ints{3, 2});
      attributes.set("strides", Ints{2, 1});
      attributes.set("pads", Ints{1, 0, 1, 1});
      attributes.set("count_include_pad", padding_counts);
      maker.output(microsoft(maker, "QLinearAveragePool", inputs, attributes));
      attributes.set("pads", Ints{0, 0, 0, 1});
      attributes.set("strides", Ints{3, 3});
      attributes.set("ceil_mode", int64_t{1});
      maker.output(microsoft(maker, "QLinearAveragePool", inputs, attributes));
      compare(maker.model(), 0.0f);
    }
  }
}

TEST_F(GpuQuantised, SignedBytesWithoutZeroPointOfTheOutput) {
  ModelMaker maker;
  Value* x = maker.input({1, 5, 6, 7}, ElementType::Int8);
  const Attributes window = make_attributes({{"kernel_shape", Ints{2, 2}}});
  maker.output(microsoft(maker, "QLinearAveragePool",
                         {x, scale(maker, 0.02f), zero<int8_t>(maker, -3), scale(maker, 0.03f)},
                         window));
  compare(maker.model(), 0.0f);
}

TEST_F(GpuQuantised, PartsComeToOneScale) {
  ModelMaker maker;
  Value* a = maker.input({2, 3, 5, 4}, ElementType::UInt8);
  Value* b = maker.input({2, 6, 5, 4}, ElementType::UInt8);
  maker.output(
      microsoft(maker, "QLinearConcat",
                {scale(maker, 0.02f), zero<uint8_t>(maker, 10), a, scale(maker, 0.03f),
                 zero<uint8_t>(maker, 100), b, scale(maker, 0.011f), zero<uint8_t>(maker, 200)},
                make_attributes({{"axis", int64_t{1}}})));
  compare(maker.model(), 0.0f);
}

TEST_F(GpuQuantised, ProductsOfBytes) {
  for (const ElementType type : {ElementType::UInt8, ElementType::Int8}) {
    ModelMaker maker;
    // Sums beyond what float32 holds.
    Value* a = maker.input({3, 1, 5, 900}, type);
    Value* b = maker.input({2, 900, 7}, ElementType::Int8);
    maker.output(maker.op("MatMulInteger", {a, b}));
    if (type == ElementType::UInt8) {
      maker.output(
          maker.op("MatMulInteger", {a, b, zero<uint8_t>(maker, 200), zero<int8_t>(maker, -100)}));
      Value* rows = maker.constant(random_bytes<uint8_t>({5}, 3));
      Value* columns = maker.constant(random_bytes<int8_t>({2, 1, 7}, 4));
      maker.output(maker.op("MatMulInteger", {a, b, rows, columns}));
    }
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuQuantised, ProductsOfWholeNumbersWrapAround) {
  for (const ElementType type : {ElementType::Int32, ElementType::Int64}) {
    ModelMaker maker;
    Value* factor = maker.constant(Tensor::scalar(1e6f));
    const auto numbers = [&](const Shape& shape) {
      return maker.op("Cast", {maker.op("Mul", {maker.input(shape), factor})}, cast_to(type));
    };
    Value* product = maker.op("MatMul", {numbers({2, 9, 21}), numbers({21, 18})});
    // Exact in float: the lowest bits.
    Value* bits = maker.constant(Tensor::from<int64_t>({1}, {(1 << 20) - 1}));
    maker.output(maker.op("BitwiseAnd", {product, maker.op("Cast", {bits}, cast_to(type))}));
    compare(maker.model(), 0.0f);
  }
}

TEST_F(GpuQuantised, ConvolutionsOfBytes) {
  ModelMaker maker;
  Value* x = maker.input({2, 6, 9, 8}, ElementType::UInt8);
  Value* w = maker.constant(random_bytes<int8_t>({4, 3, 3, 3}, 5));
  const Attributes attributes =
      make_attributes({{"group", int64_t{2}}, {"pads", Ints{1, 1, 1, 1}}, {"strides", Ints{2, 1}}});
  maker.output(maker.op("ConvInteger", {x, w}, attributes));
  maker.output(maker.op("ConvInteger", {x, w, zero<uint8_t>(maker, 130)}, attributes));
  Value* zeros = maker.constant(random_bytes<int8_t>({4}, 6));
  maker.output(maker.op("ConvInteger", {x, w, zero<uint8_t>(maker, 130), zeros}, attributes));
  Value* deep = maker.input({1, 600, 5, 5}, ElementType::UInt8);
  Value* weights = maker.constant(random_bytes<uint8_t>({2, 600, 3, 3}, 7));
  maker.output(maker.op("ConvInteger", {deep, weights}));
  compare(maker.model(), 0.0f);
}

}  // namespace
}  // namespace het::gpu_testing
