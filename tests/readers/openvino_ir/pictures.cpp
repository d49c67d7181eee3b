#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/openvino_ir/ir_file.h"

/// Pictures in YUV, blocks, patches and transforms, with values worked out by hand.
namespace het {
namespace {

using test::evaluate_file;
using test::evaluate_layer;
using test::IrFile;
using test::IrPort;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;

Tensor bytes(const Shape& shape, const std::vector<uint8_t>& values) {
  return Tensor::from<uint8_t>(shape, values);
}

TEST(IrPictures, ColoursOfBt601) {
  // Two by two pixels in one plane. y 81, u 90, v 240 is red: 1.164 * 65 + 1.596 * 112 = 254.4,
  // 1.164 * 65 - 0.391 * -38 - 0.813 * 112 = -0.54, 1.164 * 65 + 2.018 * -38 = -1.02.
  const auto picture = [](const std::string& type, const std::vector<uint8_t>& values) {
    IrFile file;
    const IrPort x = file.parameter("x", "u8", {1, 3, 2, 1});
    file.result(file.layer(type, "opset8", "", {x}, {{"U8", {1, 2, 2, 3}}}));
    const auto out = evaluate_file(file, {bytes({1, 3, 2, 1}, values)});
    return out.empty() ? std::vector<float>() : *to_float_vector(out[0]);
  };
  const std::vector<uint8_t> red{81, 81, 81, 16, 90, 240};
  // The dark pixel: 1.596 * 112 = 178.8, 14.86 - 91.06 < 0, -76.7 < 0.
  EXPECT_THAT(picture("NV12toRGB", red), ElementsAre(254, 0, 0, 254, 0, 0, 254, 0, 0, 179, 0, 0));
  EXPECT_THAT(picture("I420toBGR", red), ElementsAre(0, 0, 254, 0, 0, 254, 0, 0, 254, 0, 0, 179));
}

TEST(IrPictures, PlanesApartAndAColourOfItsOwnPerSquare) {
  // Four by two pixels: grey 100 on the left (1.164 * 84 = 97.776), red-free blue on the right.
  IrFile file;
  const IrPort y = file.parameter("y", "f32", {1, 2, 4, 1});
  const IrPort uv = file.parameter("uv", "f32", {1, 1, 2, 2});
  file.result(file.layer("NV12toRGB", "opset8", "", {y, uv}, {{"FP32", {1, 2, 4, 3}}}));
  const auto out =
      evaluate_file(file, {Tensor::from<float>({1, 2, 4, 1}, std::vector<float>(8, 100)),
                           Tensor::from<float>({1, 1, 2, 2}, {128, 128, 138, 128})});
  ASSERT_EQ(out.size(), 1u);
  const auto values = *to_float_vector(out[0]);
  for (const size_t pixel : {0u, 1u, 4u, 5u}) {
    EXPECT_THAT(std::vector(values.begin() + 3 * pixel, values.begin() + 3 * pixel + 3),
                Each(FloatNear(97.776f, 1e-3f)));
  }
  for (const size_t pixel : {2u, 3u, 6u, 7u}) {
    EXPECT_NEAR(values[3 * pixel + 1], 97.776f - 3.91f, 1e-3f);
    EXPECT_NEAR(values[3 * pixel + 2], 97.776f + 20.18f, 1e-3f);
  }
}

TEST(IrPictures, BlocksBetweenBatchAndPlaces) {
  // A row of four with one pad on either side, blocks of two: even places first.
  const Tensor x = Tensor::from<float>({1, 4}, {1, 2, 3, 4});
  const auto lists = [](IrFile& f) {
    return std::vector{f.integers({1, 2}), f.integers({0, 1}), f.integers({0, 1})};
  };
  EXPECT_THAT(evaluate_layer({"SpaceToBatch", "opset2"}, x, lists, {2, 3}),
              ElementsAre(0, 2, 4, 1, 3, 0));
  EXPECT_THAT(evaluate_layer({"BatchToSpace", "opset2"},
                             Tensor::from<float>({2, 3}, {0, 2, 4, 1, 3, 0}), lists, {1, 4}),
              ElementsAre(1, 2, 3, 4));
}

TEST(IrPictures, BlocksOfOneDimension) {
  // Channels a b c d of two places; blocks_first: the block is the first digit of a channel.
  const Tensor x = Tensor::from<float>({1, 4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const auto depth = [&](const std::string& mode) {
    return evaluate_layer({"DepthToSpace", "opset1", "block_size=\"2\" mode=\"" + mode + "\""}, x,
                          {}, {1, 2, 4});
  };
  EXPECT_THAT(depth("blocks_first"), ElementsAre(1, 5, 2, 6, 3, 7, 4, 8));
  EXPECT_THAT(depth("depth_first"), ElementsAre(1, 3, 2, 4, 5, 7, 6, 8));
  const auto space = [&](const std::string& mode, const std::vector<float>& values) {
    return evaluate_layer({"SpaceToDepth", "opset1", "block_size=\"2\" mode=\"" + mode + "\""},
                          Tensor::from<float>({1, 2, 4}, values), {}, {1, 4, 2});
  };
  EXPECT_THAT(space("blocks_first", {1, 5, 2, 6, 3, 7, 4, 8}), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(space("depth_first", {1, 3, 2, 4, 5, 7, 6, 8}), ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
}

TEST(IrPictures, PatchesInOrderOfPlaces) {
  // Patches of 1 x 2 every two columns: the left elements, then the right ones.
  EXPECT_THAT(evaluate_layer({"ExtractImagePatches", "opset3",
                              "sizes=\"1,2\" strides=\"1,2\" rates=\"1,1\" auto_pad=\"valid\""},
                             Tensor::from<float>({1, 1, 1, 4}, {1, 2, 3, 4}), {}, {1, 2, 1, 2}),
              ElementsAre(1, 3, 2, 4));
  EXPECT_THAT(
      evaluate_layer({"ExtractImagePatches", "opset3",
                      "sizes=\"1,2\" strides=\"1,1\" rates=\"1,2\" auto_pad=\"same_upper\""},
                     Tensor::from<float>({1, 1, 1, 3}, {1, 2, 3}), {}, {1, 2, 1, 3}),
      ElementsAre(0, 1, 2, 2, 3, 0));
}

TEST(IrPictures, AdaptivePoolsOfUnequalBins) {
  // Five elements in two bins: 0 to 2 and 2 to 4.
  const Tensor x = Tensor::from<float>({1, 1, 5}, {1, 2, 9, 4, 5});
  const auto size = [](IrFile& f) { return std::vector{f.integers({2})}; };
  EXPECT_THAT(evaluate_layer({"AdaptiveAvgPool", "opset8"}, x, size, {1, 1, 2}), ElementsAre(4, 6));
  IrFile file;
  const IrPort in = file.parameter("x", "f32", {1, 1, 5});
  const IrPort pool =
      file.layer("AdaptiveMaxPool", "opset8", "index_element_type=\"i32\"",
                 {in, file.integers({2})}, {{"FP32", {1, 1, 2}}, {"I32", {1, 1, 2}}});
  file.result({pool.layer, 0});
  file.result({pool.layer, 1});
  const auto out = evaluate_file(file, {x});
  ASSERT_EQ(out.size(), 2u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(9, 9));
  EXPECT_EQ(out[1].type(), ElementType::Int32);
  EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(2, 2));
}

TEST(IrPictures, NormalisationOverOtherDimensionsThanTheChannels) {
  // Squares 1, 4, 9 along the row: means of three 5/3, 14/3, 13/3; bias 1, alpha 3, beta 1.
  const auto out =
      evaluate_layer({"LRN", "opset1", "alpha=\"3\" beta=\"1\" bias=\"1\" size=\"3\""},
                     Tensor::from<float>({1, 1, 1, 3}, {1, 2, 3}),
                     [](IrFile& f) { return std::vector{f.integers({3})}; }, {1, 1, 1, 3});
  EXPECT_THAT(out, ElementsAre(FloatNear(1 / 6.f, 1e-5f), FloatNear(2 / 15.f, 1e-5f),
                               FloatNear(3 / 14.f, 1e-5f)));
}

TEST(IrPictures, TransformsOfRealSignals) {
  // The sum of 1, 2, 3, 4 is 10; the first frequency -2 + 2i, the last -2.
  const Tensor x = Tensor::from<float>({1, 4}, {1, 2, 3, 4});
  const auto axes = [](IrFile& f) { return std::vector{f.integers({-1})}; };
  const auto near = [](float value) { return FloatNear(value, 1e-5f); };
  EXPECT_THAT(evaluate_layer({"RDFT", "opset9"}, x, axes, {1, 3, 2}),
              ElementsAre(near(10), near(0), near(-2), near(2), near(-2), near(0)));
  EXPECT_THAT(evaluate_layer({"IRDFT", "opset9"},
                             Tensor::from<float>({1, 3, 2}, {10, 0, -2, 2, -2, 0}), axes, {1, 4}),
              ElementsAre(near(1), near(2), near(3), near(4)));
  // Two values of the first dimension: their sum and their difference.
  EXPECT_THAT(evaluate_layer({"DFT", "opset7"}, Tensor::from<float>({2, 1, 2}, {1, 2, 3, 5}),
                             [](IrFile& f) { return std::vector{f.integers({0})}; }, {2, 1, 2}),
              ElementsAre(near(4), near(7), near(-2), near(-3)));
}

TEST(IrPictures, PoolsThatRoundUpWithoutPads) {
  // Five elements, windows of two every two: the third one is half outside.
  EXPECT_THAT(evaluate_layer({"AvgPool", "opset1",
                              "kernel=\"2\" strides=\"2\" auto_pad=\"valid\" "
                              "rounding_type=\"ceil\" exclude-pad=\"true\""},
                             Tensor::from<float>({1, 1, 5}, {1, 2, 3, 4, 5}), {}, {1, 1, 3}),
              ElementsAre(1.5f, 3.5f, 5));
}

}  // namespace
}  // namespace het
