#include <limits>

#include "inference/ops/packed_integer.h"
#include "inference/ops/quantisation/quantization.h"
#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

/// A tensor of a packed integer type.
Tensor make_packed(ElementType type, const Shape& shape, const std::vector<int64_t>& values) {
  Tensor tensor = *Tensor::allocate({type, shape});
  std::fill_n(tensor.bytes(), tensor.size_bytes(), std::byte{0});
  for (size_t i = 0; i < values.size(); ++i) {
    store_integer(tensor.bytes(), type, static_cast<int64_t>(i), values[i]);
  }
  return tensor;
}

std::vector<int64_t> integers(const Tensor& tensor) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < tensor.element_count(); ++i) {
    values.push_back(load_integer(tensor.bytes(), tensor.type(), i));
  }
  return values;
}

TEST(QuantizeLinear, RoundsHalvesToEvenAndSaturates) {
  const Tensor x = make_tensor<float>({7}, {0, 1, 3, 5, -300, 1000, -1});
  const Tensor scale = Tensor::scalar(2.0f);
  expect_values<uint8_t>(run_op_single({"QuantizeLinear", {x, scale}}), {7},
                         {0, 0, 2, 2, 0, 255, 0});
  expect_values<uint8_t>(run_op_single({"QuantizeLinear", {x, scale, Tensor::scalar<uint8_t>(10)}}),
                         {7}, {10, 10, 12, 12, 0, 255, 10});
  expect_values<int8_t>(run_op_single({"QuantizeLinear", {x, scale, Tensor::scalar<int8_t>(-1)}}),
                        {7}, {-1, -1, 1, 1, -128, 127, -1});
  expect_values<int16_t>(run_op_single({"QuantizeLinear", {x, scale, Tensor::scalar<int16_t>(0)}}),
                         {7}, {0, 0, 2, 2, -150, 500, 0});
  expect_values<uint16_t>(
      run_op_single({"QuantizeLinear", {x, scale, Tensor::scalar<uint16_t>(65500)}}), {7},
      {65500, 65500, 65502, 65502, 65350, 65535, 65500});
}

TEST(QuantizeLinear, InfinityAndNan) {
  const Tensor x = make_tensor<float>({3}, {kInf, -kInf, kNaN});
  expect_values<uint8_t>(
      run_op_single({"QuantizeLinear", {x, Tensor::scalar(1.0f), Tensor::scalar<uint8_t>(9)}}), {3},
      {255, 0, 9});
}

TEST(QuantizeLinear, TakesTheOutputTypeFromAnAttribute) {
  const Tensor x = make_tensor<float>({3}, {-9, 3, 100});
  const auto run = [&](int64_t onnx_type) {
    return run_op_single({"QuantizeLinear",
                          {x, Tensor::scalar(1.0f)},
                          make_attributes({{"output_dtype", onnx_type}})});
  };
  expect_values<int8_t>(run(3), {3}, {-9, 3, 100});
  const Tensor int4 = run(22);
  ASSERT_FALSE(int4.empty());
  EXPECT_EQ(int4.type(), ElementType::Int4);
  EXPECT_EQ(integers(int4), (Ints{-8, 3, 7}));
  EXPECT_EQ(integers(run(21)), (Ints{0, 3, 15}));
}

TEST(QuantizeLinear, OneScaleForEachIndexOfTheAxis) {
  const Tensor x = make_tensor<float>({1, 2, 2}, {2, 4, 20, 40});
  const Tensor scale = make_tensor<float>({2}, {1, 10});
  const Tensor zero = make_tensor<uint8_t>({2}, {0, 1});
  expect_values<uint8_t>(run_op_single({"QuantizeLinear", {x, scale, zero}}), {1, 2, 2},
                         {2, 4, 3, 5});
  expect_values<uint8_t>(
      run_op_single({"QuantizeLinear", {x, scale, zero}, make_attributes({{"axis", -1}})}),
      {1, 2, 2}, {2, 1, 20, 5});
  // A list has one axis only, whatever the attribute's default says.
  expect_values<uint8_t>(
      run_op_single({"QuantizeLinear", {make_tensor<float>({2}, {3, 30}), scale}}), {2}, {3, 3});
}

TEST(QuantizeLinear, OneScaleForEachBlock) {
  const Tensor x = make_tensor<float>({2, 3}, {1, 2, 30, 4, 5, 60});
  const Tensor scale = make_tensor<float>({2, 2}, {1, 10, 1, 20});
  const Attributes blocks = make_attributes({{"axis", 1}, {"block_size", 2}});
  expect_values<uint8_t>(run_op_single({"QuantizeLinear", {x, scale}, blocks}), {2, 3},
                         {1, 2, 3, 4, 5, 3});
  const Tensor rows = make_tensor<float>({1, 3}, {1, 2, 30});
  expect_values<uint8_t>(
      run_op_single(
          {"QuantizeLinear", {x, rows}, make_attributes({{"axis", 0}, {"block_size", 2}})}),
      {2, 3}, {1, 1, 1, 4, 2, 2});
}

TEST(QuantizeLinear, HalfTypesDivideInTheirOwnPrecision) {
  // 2049 is no Float16: it rounds to 2048 first.
  const Tensor x = make_tensor<float>({1}, {2049});
  const Tensor zero = Tensor::scalar<int16_t>(0);
  expect_values<int16_t>(
      run_op_single({"QuantizeLinear", {x, make_tensor<Float16>({}, {1}), zero}}), {1}, {2048});
  expect_values<int16_t>(run_op_single({"QuantizeLinear",
                                        {x, make_tensor<Float16>({}, {1}), zero},
                                        make_attributes({{"precision", 1}})}),
                         {1}, {2049});
  expect_values<uint8_t>(
      run_op_single(
          {"QuantizeLinear", {make_tensor<BFloat16>({1}, {6}), make_tensor<BFloat16>({}, {2})}}),
      {1}, {3});
}

TEST(DequantizeLinear, SubtractsAndScales) {
  const Tensor scale = Tensor::scalar(0.5f);
  const auto run = [&]<class T>(double zero, const std::vector<double>& expected) {
    const Tensor x = make_tensor<T>({3}, {0, 3, 100});
    expect_values<float>(
        run_op_single({"DequantizeLinear", {x, scale, make_tensor<T>({}, {zero})}}), {3}, expected);
  };
  run.template operator()<uint8_t>(2, {-1, 0.5, 49});
  run.template operator()<int8_t>(-2, {1, 2.5, 51});
  run.template operator()<uint16_t>(2, {-1, 0.5, 49});
  run.template operator()<int16_t>(2, {-1, 0.5, 49});
  run.template operator()<int32_t>(0, {0, 1.5, 50});
  expect_values<float>(
      run_op_single({"DequantizeLinear", {make_tensor<int32_t>({1}, {-100000}), scale}}), {1},
      {-50000});
}

TEST(DequantizeLinear, AxesBlocksAndPackedTypes) {
  const Tensor x = make_packed(ElementType::Int4, {2, 3}, {-8, -1, 7, 1, 2, 3});
  const Tensor scale = make_tensor<float>({3}, {1, 10, 100});
  expect_values<float>(run_op_single({"DequantizeLinear", {x, scale}}), {2, 3},
                       {-8, -10, 700, 1, 20, 300});
  const Tensor blocks = make_tensor<float>({2, 2}, {1, 10, 100, 1000});
  const Tensor zero = make_packed(ElementType::Int4, {2, 2}, {0, 1, 0, -1});
  expect_values<float>(
      run_op_single({"DequantizeLinear", {x, blocks, zero}, make_attributes({{"block_size", 2}})}),
      {2, 3}, {-8, -1, 60, 100, 200, 4000});
  const Tensor pairs = make_packed(ElementType::UInt2, {5}, {0, 1, 2, 3, 3});
  expect_values<float>(run_op_single({"DequantizeLinear", {pairs, Tensor::scalar(2.0f)}}), {5},
                       {0, 2, 4, 6, 6});
}

TEST(DequantizeLinear, TheScaleOrAnAttributeGivesTheOutputType) {
  const Tensor x = make_tensor<int8_t>({2}, {-3, 4});
  expect_values<Float16>(run_op_single({"DequantizeLinear", {x, make_tensor<Float16>({}, {0.5})}}),
                         {2}, {-1.5, 2});
  expect_values<BFloat16>(
      run_op_single(
          {"DequantizeLinear", {x, Tensor::scalar(0.5f)}, make_attributes({{"output_dtype", 16}})}),
      {2}, {-1.5, 2});
}

TEST(QuantizeLinear, NarrowFloats) {
  const Tensor x = make_tensor<float>({4}, {1, 3, 1000, -2});
  const auto run = [&](int64_t onnx_type, int64_t saturate) {
    const Tensor y =
        run_op_single({"QuantizeLinear",
                       {x, Tensor::scalar(2.0f)},
                       make_attributes({{"output_dtype", onnx_type}, {"saturate", saturate}})});
    return run_op_single({"DequantizeLinear", {y, Tensor::scalar(2.0f)}});
  };
  expect_values<float>(run(17, 1), {4}, {1, 3, 896, -2});   // float8e4m3fn: at most 448
  expect_values<float>(run(17, 0), {4}, {1, 3, kNaN, -2});  // 500 does not fit
  expect_values<float>(run(19, 1), {4}, {1, 3, 1024, -2});  // float8e5m2: two bits of mantissa
  expect_values<float>(run(23, 1), {4}, {1, 3, 12, -2});    // float4e2m1: at most 6
}

TEST(DynamicQuantizeLinear, MapsTheRangeWithZeroOntoBytes) {
  const auto y = run_op_ok(
      {"DynamicQuantizeLinear", {make_tensor<float>({6}, {0, 2, -3, -2.5, 1.34, 0.5})}, {}, 3});
  expect_values<uint8_t>(y[0], {6}, {153, 255, 0, 26, 221, 179});
  expect_values<float>(y[1], {}, {5.0 / 255});
  expect_values<uint8_t>(y[2], {}, {153});
}

TEST(DynamicQuantizeLinear, OneSidedAndZeroInputs) {
  const auto positive =
      run_op_ok({"DynamicQuantizeLinear", {make_tensor<float>({2}, {1, 51})}, {}, 3});
  expect_values<uint8_t>(positive[0], {2}, {5, 255});
  expect_values<uint8_t>(positive[2], {}, {0});
  const auto zero = run_op_ok({"DynamicQuantizeLinear", {make_tensor<float>({2}, {0, 0})}, {}, 3});
  expect_values<uint8_t>(zero[0], {2}, {0, 0});
  expect_values<float>(zero[1], {}, {1});
}

TEST(Quantization, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({2, 3});
  const Tensor scale = make_ramp<float>({3}, 1);
  for (const char* type : {"QuantizeLinear", "DequantizeLinear"}) {
    const Tensor data = type[0] == 'Q' ? x : make_ramp<uint8_t>({2, 3});
    expect_op_error({type, {data, make_ramp<float>({2}, 1)}}, "must have shape [3]");
    expect_op_error({type, {data, scale}, make_attributes({{"axis", 2}})}, "axis");
    expect_op_error({type, {data, make_ramp<float>({2, 2}, 1)}}, "with block_size 0");
    expect_op_error(
        {type, {data, make_ramp<float>({2, 3}, 1)}, make_attributes({{"block_size", 2}})},
        "must have shape [2,2]");
    expect_op_error({type, {data, scale}, make_attributes({{"block_size", -1}})}, "block_size");
    expect_op_error({type, {data, scale, make_ramp<uint8_t>({2})}}, "the zero point has shape [2]");
    expect_op_error({type, {data, make_ramp<double>({3})}}, "type float64 of input 1 'scale'");
  }
  expect_op_error({"QuantizeLinear",
                   {x, Tensor::scalar(1.0f), Tensor::scalar<uint8_t>(0)},
                   make_attributes({{"output_dtype", 3}})},
                  "output_dtype is int8, but the zero point is uint8");
  expect_op_error(
      {"QuantizeLinear", {x, Tensor::scalar(1.0f)}, make_attributes({{"output_dtype", 1}})},
      "output_dtype is float32");
  expect_op_error({"DequantizeLinear",
                   {make_ramp<uint8_t>({2}), Tensor::scalar(1.0f), Tensor::scalar<int8_t>(0)}},
                  "types uint8 and int8");
  expect_op_error({"DequantizeLinear", {x, Tensor::scalar(1.0f)}}, "type float32 of input 0 'x'");
  expect_op_error({"DynamicQuantizeLinear", {make_ramp<double>({2})}}, "type float64");
}

}  // namespace
}  // namespace het::op_testing
