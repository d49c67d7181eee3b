#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(MatMulInteger, SumsDifferencesFromTheZeroPoints) {
  const Tensor a = make_tensor<uint8_t>({2, 2}, {11, 7, 3, 10});
  const Tensor b = make_tensor<int8_t>({2, 2}, {1, 4, 2, -5});
  expect_values<int32_t>(run_op_single({"MatMulInteger", {a, b}}), {2, 2}, {25, 9, 23, -38});
  const Tensor zero = Tensor::scalar<uint8_t>(10);
  expect_values<int32_t>(run_op_single({"MatMulInteger", {a, b, zero}}), {2, 2},
                         {1 - 6, 4 + 15, -7, -28});
}

TEST(MatMulInteger, ZeroPointsOfRowsAndColumns) {
  const Tensor a = make_tensor<uint8_t>({2, 1}, {5, 9});
  const Tensor b = make_tensor<uint8_t>({1, 2}, {7, 8});
  const Tensor rows = make_tensor<uint8_t>({2}, {1, 2});
  const Tensor columns = make_tensor<uint8_t>({2}, {3, 5});
  expect_values<int32_t>(run_op_single({"MatMulInteger", {a, b, rows, columns}}), {2, 2},
                         {16, 12, 28, 21});
  const Tensor stacked_rows = make_tensor<uint8_t>({2, 1, 1}, {1, 2});
  expect_values<int32_t>(
      run_op_single({"MatMulInteger", {make_tensor<uint8_t>({2, 1, 1}, {5, 9}), b, stacked_rows}}),
      {2, 1, 2}, {28, 32, 49, 56});
}

TEST(MatMulInteger, SumsWrapAroundInNothingSmallerThan32Bits) {
  const Tensor a = make_ramp<uint8_t>({1, 1000}, 255, 0);
  expect_values<int32_t>(
      run_op_single({"MatMulInteger", {a, make_ramp<uint8_t>({1000, 1}, 255, 0)}}), {1, 1},
      {65025000});
}

TEST(QLinearMatMul, ScalesTheExactSum) {
  const Tensor a = make_tensor<uint8_t>({1, 2}, {12, 14});
  const Tensor b = make_tensor<int8_t>({2, 2}, {1, 4, 2, -5});
  const Tensor zero_a = Tensor::scalar<uint8_t>(10);
  const Tensor zero_b = Tensor::scalar<int8_t>(0);
  // (2, 4) x b = (10, -12); times 0.5 * 1 / 0.25
  const auto run = [&](const Tensor& b_scale, const Tensor& b_zero, const Tensor& y_zero) {
    return run_op_single(
        {"QLinearMatMul",
         {a, Tensor::scalar(0.5f), zero_a, b, b_scale, b_zero, Tensor::scalar(0.25f), y_zero}});
  };
  expect_values<uint8_t>(run(Tensor::scalar(1.0f), zero_b, Tensor::scalar<uint8_t>(100)), {1, 2},
                         {120, 76});
  expect_values<int8_t>(run(Tensor::scalar(1.0f), zero_b, Tensor::scalar<int8_t>(-120)), {1, 2},
                        {-100, -128});
  const Tensor columns = make_tensor<float>({2}, {1, 0.5});
  expect_values<uint8_t>(
      run(columns, make_tensor<int8_t>({2}, {0, 1}), Tensor::scalar<uint8_t>(100)), {1, 2},
      {120, 82});
}

TEST(QLinearMatMul, HalfScales) {
  const Tensor a = make_tensor<int8_t>({1, 1}, {6});
  const Tensor scale = make_tensor<Float16>({}, {0.5});
  const Tensor zero = Tensor::scalar<int8_t>(0);
  expect_values<int8_t>(
      run_op_single({"QLinearMatMul", {a, scale, zero, a, scale, zero, scale, zero}}), {1, 1},
      {18});
}

TEST(QLinearMatMul, RefusesWhatDoesNotFit) {
  const Tensor a = make_ramp<uint8_t>({2, 3});
  const Tensor b = make_ramp<uint8_t>({3, 4});
  const Tensor s = Tensor::scalar(1.0f);
  const Tensor z = Tensor::scalar<uint8_t>(0);
  const auto refuse = [&](const std::vector<Tensor>& inputs, std::string_view message) {
    expect_op_error({"QLinearMatMul", inputs}, message);
  };
  refuse({a, make_ramp<float>({3}), z, b, s, z, s, z}, "they must be one value, [2] or [2,1]");
  refuse({a, s, z, b, make_ramp<float>({3}), z, s, z}, "they must be one value, [4] or [1,4]");
  refuse({a, s, z, a, s, z, s, z}, "the inner dimensions differ");
  refuse({a, s, z, b, s, z, make_ramp<float>({2}), z}, "the scale in input 6 has shape [2]");
  refuse({a, s, z, b, s, z, s, Tensor::scalar<int32_t>(0)}, "type int32 of input 7");
  expect_op_error({"MatMulInteger", {z, b}}, "scalars have no product");
  expect_op_error({"MatMulInteger", {a, b, make_ramp<uint8_t>({3})}}, "[2] or [2,1]");
}

}  // namespace
}  // namespace het::op_testing
