#include "inference/ops/products/conv_transpose.h"

#include "tests/ops/op_testing.h"

namespace het::op_testing {
namespace {

TEST(ConvTranspose, SpreadsEveryInputOverTheKernel) {
  const Tensor x = make_tensor<float>({1, 1, 2, 2}, {1, 2, 3, 4});
  const Tensor w = make_tensor<float>({1, 2, 2, 2}, {1, 10, 100, 1000, 1, 0, 0, 0});
  expect_values<float>(run_op_single({"ConvTranspose", {x, w}}), {1, 2, 3, 3},
                       {1, 12, 20, 103, 1234, 2040, 300, 3400, 4000, 1, 2, 0, 3, 4, 0, 0, 0, 0});
  const Tensor bias = make_tensor<float>({2}, {0.5, -1});
  const Tensor y =
      run_op_single({"ConvTranspose", {x, w, bias}, make_attributes({{"pads", Ints{1, 1, 1, 1}}})});
  expect_values<float>(y, {1, 2, 1, 1}, {1234.5, 3});
}

TEST(ConvTranspose, HalfTypesAndDouble) {
  const auto run = [&]<class T>() {
    const Tensor y = run_op_single(
        {"ConvTranspose", {make_tensor<T>({1, 1, 2}, {1, 2}), make_tensor<T>({1, 1, 2}, {1, 3})}});
    expect_values<T>(y, {1, 1, 3}, {1, 5, 6});
  };
  run.template operator()<Float16>();
  run.template operator()<BFloat16>();
  run.template operator()<double>();
}

TEST(ConvTranspose, StridesDilationsAndGroups) {
  const Tensor x = make_tensor<float>({1, 2, 2}, {1, 2, 3, 4});
  const Tensor w = make_tensor<float>({2, 1, 2}, {1, 10, 1, 100});
  const Attributes attributes =
      make_attributes({{"group", 2}, {"strides", Ints{3}}, {"dilations", Ints{2}}});
  // positions i * 3 + k * 2: 0, 2, 3, 5
  expect_values<float>(run_op_single({"ConvTranspose", {x, w}, attributes}), {1, 2, 6},
                       {1, 0, 10, 2, 0, 20, 3, 0, 300, 4, 0, 400});
}

TEST(ConvTranspose, OutputPaddingAddsPositionsAtTheEnd) {
  const Tensor x = make_tensor<float>({1, 1, 2}, {1, 2});
  const Tensor w = make_tensor<float>({1, 1, 3}, {1, 10, 100});
  const Attributes attributes =
      make_attributes({{"strides", Ints{2}}, {"pads", Ints{1, 1}}, {"output_padding", Ints{1}}});
  expect_values<float>(run_op_single({"ConvTranspose", {x, w}, attributes}), {1, 1, 4},
                       {10, 102, 20, 200});
}

TEST(ConvTranspose, OutputShapeDecidesThePads) {
  const Tensor x = make_tensor<float>({1, 1, 2}, {1, 2});
  const Tensor w = make_tensor<float>({1, 1, 3}, {1, 10, 100});
  const auto run = [&](const char* auto_pad, int64_t size) {
    return run_op_single(
        {"ConvTranspose",
         {x, w},
         make_attributes(
             {{"strides", Ints{2}}, {"auto_pad", auto_pad}, {"output_shape", Ints{size}}})});
  };
  // All five positions are 1, 10, 102, 20, 200.
  expect_values<float>(run("NOTSET", 4), {1, 1, 4}, {10, 102, 20, 200});
  expect_values<float>(run("SAME_UPPER", 4), {1, 1, 4}, {1, 10, 102, 20});
  expect_values<float>(run("SAME_LOWER", 4), {1, 1, 4}, {10, 102, 20, 200});
  expect_values<float>(run("NOTSET", 7), {1, 1, 7}, {1, 10, 102, 20, 200, 0, 0});
}

TEST(ConvTranspose, SamePadsGiveInputTimesStride) {
  const Tensor x = make_tensor<float>({1, 1, 3}, {1, 2, 3});
  const Tensor w = make_tensor<float>({1, 1, 3}, {1, 10, 100});
  const Tensor y =
      run_op_single({"ConvTranspose",
                     {x, w},
                     make_attributes({{"strides", Ints{2}}, {"auto_pad", "SAME_UPPER"}})});
  expect_values<float>(y, {1, 1, 6}, {1, 10, 102, 20, 203, 30});
}

TEST(ConvTranspose, ThreeSpatialDimensions) {
  const Tensor x = make_tensor<float>({1, 1, 1, 1, 2}, {1, 2});
  const Tensor w = make_ramp<float>({1, 1, 2, 1, 1}, 1, 9);
  expect_values<float>(run_op_single({"ConvTranspose", {x, w}}), {1, 1, 2, 1, 2}, {1, 2, 10, 20});
}

TEST(ConvTranspose, RefusesWhatDoesNotFit) {
  const Tensor x = make_ramp<float>({1, 2, 4, 4});
  const Tensor w = make_ramp<float>({2, 3, 3, 3});
  const auto refuse = [&](std::initializer_list<std::pair<std::string_view, Attribute>> attributes,
                          std::string_view message) {
    expect_op_error({"ConvTranspose", {x, w}, make_attributes(attributes)}, message);
  };
  refuse({{"group", 3}}, "3 groups do not fit");
  refuse({{"output_padding", Ints{-1, 0}}}, "attribute 'output_padding' contains -1");
  refuse({{"output_shape", Ints{4}}}, "output_shape has 1 values");
  refuse({{"output_shape", Ints{4, INT64_MAX}}}, "output_shape contains");
  refuse({{"pads", Ints{9, 0, 9, 0}}}, "leave nothing of the 6 positions");
  refuse({{"auto_pad", "UPPER"}}, "auto_pad is 'UPPER'");
  refuse({{"kernel_shape", Ints{3}}}, "kernel_shape is [3]");
  expect_op_error({"ConvTranspose", {x, make_ramp<float>({3, 2, 3, 3})}}, "groups do not fit");
  expect_op_error({"ConvTranspose", {x, w, make_ramp<float>({2})}}, "B has shape [2]");
  expect_op_error({"ConvTranspose", {make_ramp<float>({4}), w}}, "rank of 3 to 5");
}

}  // namespace
}  // namespace het::op_testing
