#include "op_testing.h"

/// Trilu, ReverseSequence, CenterCropPad, BitCast, TensorScatter, AffineGrid, Col2Im and Det.
namespace het::op_testing {
namespace {

OpCall trilu(const Tensor& x, bool upper, int64_t k) {
  return {
      "Trilu", {x, Tensor::scalar(k)}, make_attributes({{"upper", static_cast<int64_t>(upper)}})};
}

TEST(Trilu, KeepsATriangle) {
  const Tensor x = make_ramp<float>({2, 3}, 1);
  expect_values<float>(run_op_single({"Trilu", {x}}), {2, 3}, {1, 2, 3, 0, 5, 6});
  expect_values<float>(run_op_single(trilu(x, true, 1)), {2, 3}, {0, 2, 3, 0, 0, 6});
  expect_values<float>(run_op_single(trilu(x, true, -1)), {2, 3}, {1, 2, 3, 4, 5, 6});
  expect_values<float>(run_op_single(trilu(x, false, 0)), {2, 3}, {1, 0, 0, 4, 5, 0});
  expect_values<float>(run_op_single(trilu(x, false, -5)), {2, 3}, {0, 0, 0, 0, 0, 0});
  expect_values<float>(run_op_single(trilu(x, true, INT64_MAX)), {2, 3}, {0, 0, 0, 0, 0, 0});
  expect_values<int64_t>(run_op_single(trilu(make_ramp<int64_t>({2, 2, 2}, 1), false, 0)),
                         {2, 2, 2}, {1, 0, 3, 4, 5, 0, 7, 8});
  expect_values<float>(run_op_single({"Trilu", {make_ramp<float>({0, 3})}}), {0, 3}, {});
  expect_op_error({"Trilu", {make_ramp<float>({3})}}, "rank");
  expect_op_error({"Trilu", {x, int64_tensor({1, 2})}}, "one number");
}

OpCall reverse(const Tensor& x, const Ints& lengths, int64_t batch_axis, int64_t time_axis) {
  return {"ReverseSequence",
          {x, int64_tensor(lengths)},
          make_attributes({{"batch_axis", batch_axis}, {"time_axis", time_axis}})};
}

TEST(ReverseSequence, ReversesTheBeginning) {
  const Tensor x = make_ramp<float>({3, 2});
  expect_values<float>(run_op_single(reverse(x, {3, 2}, 1, 0)), {3, 2}, {4, 3, 2, 1, 0, 5});
  expect_values<float>(run_op_single(reverse(x, {1, 2, 0}, 0, 1)), {3, 2}, {0, 1, 3, 2, 4, 5});
  expect_values<float>(run_op_single(reverse(make_ramp<float>({2, 0}), {0, 0}, 0, 1)), {2, 0}, {},
                       0);
}

TEST(ReverseSequence, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({3, 2});
  expect_op_error(reverse(x, {4, 1}, 1, 0), "length 4");
  expect_op_error(reverse(x, {1}, 1, 0), "batch is 2");
  expect_op_error(reverse(x, {1, 1}, 1, 1), "must be 0 and 1");
}

TEST(CenterCropPad, CropsAndPads) {
  const Tensor x = make_ramp<float>({5});
  const auto to = [&](int64_t length) {
    return run_op_single({"CenterCropPad", {x, int64_tensor({length})}});
  };
  expect_values<float>(to(3), {3}, {1, 2, 3});
  expect_values<float>(to(2), {2}, {1, 2});
  expect_values<float>(to(8), {8}, {0, 0, 1, 2, 3, 4, 0, 0});
  expect_values<float>(to(0), {0}, {});
  expect_values<float>(run_op_single({"CenterCropPad",
                                      {make_ramp<float>({2, 3}), int64_tensor({1})},
                                      make_attributes({{"axes", Ints{-1}}})}),
                       {2, 1}, {1, 4});
  expect_op_error({"CenterCropPad", {x, int64_tensor({1, 2})}}, "one entry");
  expect_op_error({"CenterCropPad", {x, int64_tensor({-1})}}, "one entry");
}

TEST(BitCast, KeepsTheBits) {
  const auto cast = [](const Tensor& x, int64_t to) {
    return OpCall{"BitCast", {x}, make_attributes({{"to", to}})};
  };
  expect_values<int32_t>(run_op_single(cast(make_tensor<float>({1}, {1}), 6)), {1}, {0x3f800000});
  expect_values<Float16>(run_op_single(cast(make_tensor<uint16_t>({1}, {0x3c00}), 10)), {1}, {1});
  expect_values<bool>(run_op_single(cast(make_tensor<uint8_t>({2}, {2, 0}), 9)), {2}, {1, 0});
  expect_op_error(cast(make_ramp<float>({1}), 7), "differ in width");
}

TEST(TensorScatter, LinearAndCircular) {
  const Tensor cache = make_tensor<float>({2, 3, 1}, std::vector<double>(6));
  const Tensor update = make_tensor<float>({2, 2, 1}, {1, 2, 3, 4});
  expect_values<float>(run_op_single({"TensorScatter", {cache, update, int64_tensor({0, 1})}}),
                       {2, 3, 1}, {1, 2, 0, 0, 3, 4});
  expect_values<float>(run_op_single({"TensorScatter", {cache, update}}), {2, 3, 1},
                       {1, 2, 0, 3, 4, 0});
  expect_values<float>(run_op_single({"TensorScatter",
                                      {cache, update, int64_tensor({2, 5})},
                                      make_attributes({{"mode", "circular"}})}),
                       {2, 3, 1}, {2, 0, 1, 4, 0, 3});
  expect_op_error({"TensorScatter", {cache, update, int64_tensor({0, 2})}}, "do not lie inside");
  expect_op_error({"TensorScatter", {cache, make_ramp<float>({2, 4, 1})}}, "do not fit");
  expect_op_error({"TensorScatter", {cache, update}, make_attributes({{"axis", int64_t{0}}})},
                  "batch dimension");
}

OpCall affine_grid(const Tensor& theta, const Ints& size, bool align_corners) {
  return {"AffineGrid",
          {theta, int64_tensor(size)},
          make_attributes({{"align_corners", static_cast<int64_t>(align_corners)}})};
}

TEST(AffineGrid, IdentityAndTranslation) {
  const Tensor identity = make_tensor<float>({1, 2, 3}, {1, 0, 0, 0, 1, 0});
  expect_values<float>(run_op_single(affine_grid(identity, {1, 1, 2, 2}, true)), {1, 2, 2, 2},
                       {-1, -1, 1, -1, -1, 1, 1, 1});
  expect_values<float>(run_op_single(affine_grid(identity, {1, 1, 1, 2}, false)), {1, 1, 2, 2},
                       {-0.5, 0, 0.5, 0});
  expect_values<double>(
      run_op_single(
          affine_grid(make_tensor<double>({1, 2, 3}, {2, 1, 10, 0, 1, 20}), {1, 3, 1, 2}, true)),
      {1, 1, 2, 2}, {8, 20, 12, 20});
}

TEST(AffineGrid, VolumesZeroSizesAndRefusals) {
  const Tensor theta = make_tensor<float>({1, 3, 4}, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 5});
  expect_values<float>(run_op_single(affine_grid(theta, {1, 1, 2, 1, 1}, true)), {1, 2, 1, 1, 3},
                       {0, 0, 4, 0, 0, 6});
  expect_values<float>(run_op_single(affine_grid(theta, {1, 1, 0, 1, 1}, false)), {1, 0, 1, 1, 3},
                       {});
  expect_op_error(affine_grid(theta, {1, 1, 2, 2}, false), "[N,2,3]");
  expect_op_error(affine_grid(theta, {2, 1, 2, 2, 2}, false), "does not fit");
}

TEST(Col2Im, AddsOverlappingBlocks) {
  // 2x2 blocks at the 4 places of a 3x3 image, all ones: every pixel counts its blocks.
  const Tensor ones = make_tensor<float>({1, 4, 4}, std::vector<double>(16, 1));
  expect_values<float>(
      run_op_single({"Col2Im", {ones, int64_tensor({3, 3}), int64_tensor({2, 2})}}), {1, 1, 3, 3},
      {1, 2, 1, 2, 4, 2, 1, 2, 1});
  expect_values<int32_t>(
      run_op_single({"Col2Im",
                     {make_ramp<int32_t>({1, 4, 4}), int64_tensor({4, 4}), int64_tensor({2, 2})},
                     make_attributes({{"strides", Ints{2, 2}}})}),
      {1, 1, 4, 4}, {0, 4, 1, 5, 8, 12, 9, 13, 2, 6, 3, 7, 10, 14, 11, 15});
  expect_values<float>(
      run_op_single({"Col2Im",
                     {make_ramp<float>({1, 1, 9}), int64_tensor({1, 1}), int64_tensor({1, 1})},
                     make_attributes({{"pads", Ints{1, 1, 1, 1}}})}),
      {1, 1, 1, 1}, {4});
}

TEST(Col2Im, ZeroSizesAndRefusals) {
  const Tensor image = int64_tensor({3, 3});
  const Tensor block = int64_tensor({2, 2});
  expect_values<float>(run_op_single({"Col2Im", {make_ramp<float>({0, 4, 4}), image, block}}),
                       {0, 1, 3, 3}, {});
  expect_op_error({"Col2Im", {make_ramp<float>({1, 3, 4}), image, block}}, "do not fit");
  expect_op_error({"Col2Im", {make_ramp<float>({1, 4, 5}), image, block}}, "do not fit");
  expect_op_error({"Col2Im",
                   {make_ramp<float>({1, 4, 4}), image, block},
                   make_attributes({{"strides", Ints{0, 1}}})},
                  "strides");
  expect_op_error({"Col2Im", {make_ramp<float>({1, 4, 4}), image, int64_tensor({2})}},
                  "block_shape");
}

TEST(Det, MatricesAndBatches) {
  expect_values<float>(run_op_single({"Det", {make_tensor<float>({2, 2}, {0, 1, 2, 3})}}), {},
                       {-2});
  expect_values<double>(
      run_op_single(
          {"Det", {make_tensor<double>({3, 2, 2}, {1, 2, 3, 4, 1, 2, 2, 1, 1, 2, 2, 4})}}),
      {3}, {-2, -3, 0});
  expect_values<float>(run_op_single({"Det", {make_ramp<float>({2, 0, 0})}}), {2}, {1, 1});
  expect_op_error({"Det", {make_ramp<float>({2, 3})}}, "not square");
  expect_op_error({"Det", {make_ramp<float>({2})}}, "rank");
}

}  // namespace
}  // namespace het::op_testing
