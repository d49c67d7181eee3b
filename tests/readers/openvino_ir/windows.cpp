#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/readers/openvino_ir/ir_file.h"

/// Convolutions, pooling, normalisation and resampling of IR, with values worked out by hand.
namespace het {
namespace {

using test::evaluate_layer;
using test::IrFile;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;

const std::string kPlainWindow =
    "strides=\"1,1\" dilations=\"1,1\" pads_begin=\"0,0\" pads_end=\"0,0\" auto_pad=\"explicit\"";

Tensor image(const Shape& shape, const std::vector<float>& values) {
  return Tensor::from<float>(shape, values);
}

/// 1, 2, 3 ... of a shape.
Tensor counted_windows(const Shape& shape) {
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  return image(shape, values);
}

TEST(IrWindows, ConvolutionPadsAndStrides) {
  // Ones under a 2x2 kernel, padded by 1 at the top and left, stride 2.
  const auto out =
      evaluate_layer({"Convolution", "opset1",
                      "strides=\"2, 2\" dilations=\"1, 1\" pads_begin=\"1, 1\" pads_end=\"0, 0\" "
                      "auto_pad=\"explicit\""},
                     counted_windows({1, 1, 3, 3}),
                     [](IrFile& f) {
                       return std::vector{f.floats({1, 1, 2, 2}, {1, 1, 1, 1})};
                     },
                     {1, 1, 2, 2});
  EXPECT_THAT(out, ElementsAre(1, 2 + 3, 4 + 7, 5 + 6 + 8 + 9));
}

TEST(IrWindows, SameUpperPutsTheOddPadBehind) {
  const auto out = evaluate_layer(
      {"Convolution", "opset1", "strides=\"1\" dilations=\"1\" auto_pad=\"same_upper\""},
      counted_windows({1, 1, 3}),
      [](IrFile& f) {
        return std::vector{f.floats({1, 1, 2}, {1, 10})};
      },
      {1, 1, 3});
  EXPECT_THAT(out, ElementsAre(21, 32, 3));
}

TEST(IrWindows, GroupConvolutionWeightsLoseTheirGroupDimension) {
  const auto out =
      evaluate_layer({"GroupConvolution", "opset1", kPlainWindow}, image({1, 2, 1, 1}, {3, 5}),
                     [](IrFile& f) {
                       return std::vector{f.floats({2, 2, 1, 1, 1}, {1, 2, 10, 20})};
                     },
                     {1, 4, 1, 1});
  EXPECT_THAT(out, ElementsAre(3, 6, 50, 100));
}

TEST(IrWindows, TransposedConvolution) {
  // Each input value stamps the kernel [1, 2], two steps apart.
  const auto out = evaluate_layer(
      {"ConvolutionBackpropData", "opset1",
       "strides=\"2\" dilations=\"1\" pads_begin=\"0\" pads_end=\"0\" output_padding=\"1\" "
       "auto_pad=\"explicit\""},
      counted_windows({1, 1, 2}),
      [](IrFile& f) {
        return std::vector{f.floats({1, 1, 2}, {1, 2})};
      },
      {1, 1, 5});
  EXPECT_THAT(out, ElementsAre(1, 2, 2, 4, 0));
}

TEST(IrWindows, TransposedConvolutionWithAnOutputShape) {
  const auto shaped = [](const std::string& data, int64_t size) {
    return evaluate_layer({"ConvolutionBackpropData", "opset1", data}, counted_windows({1, 1, 2}),
                          [&](IrFile& f) {
                            return std::vector{f.floats({1, 1, 3}, {1, 2, 4}), f.integers({size})};
                          },
                          {1, 1, size});
  };
  // Stride 2 covers 5 places: 1, 2, 4 + 2, 4, 8. Explicit pads: one more is appended.
  EXPECT_THAT(shaped("strides=\"2\" dilations=\"1\" pads_begin=\"0\" pads_end=\"0\" "
                     "auto_pad=\"explicit\"",
                     6),
              ElementsAre(1, 2, 6, 4, 8, 0));
  // One is cut: same_upper cuts in front, same_lower behind (OpenVINO 2026.4.1).
  EXPECT_THAT(shaped("strides=\"2\" dilations=\"1\" auto_pad=\"same_upper\"", 4),
              ElementsAre(2, 6, 4, 8));
  EXPECT_THAT(shaped("strides=\"2\" dilations=\"1\" auto_pad=\"same_lower\"", 4),
              ElementsAre(1, 2, 6, 4));
  // Without auto_pad what is too much is cut off behind.
  EXPECT_THAT(shaped("strides=\"2\" dilations=\"1\" auto_pad=\"valid\"", 4),
              ElementsAre(1, 2, 6, 4));
}

TEST(IrWindows, GroupedTransposedConvolution) {
  const auto out = evaluate_layer({"GroupConvolutionBackpropData", "opset1", kPlainWindow},
                                  image({1, 2, 1, 1}, {3, 5}),
                                  [](IrFile& f) {
                                    return std::vector{f.floats({2, 1, 2, 1, 1}, {1, 2, 10, 20})};
                                  },
                                  {1, 4, 1, 1});
  EXPECT_THAT(out, ElementsAre(3, 6, 50, 100));
}

std::string pool(const std::string& more) {
  return "kernel=\"2\" strides=\"2\" " + more;
}

TEST(IrWindows, PoolingRoundsAsItSays) {
  const std::string pads = "pads_begin=\"0\" pads_end=\"0\" ";
  EXPECT_THAT(evaluate_layer({"MaxPool", "opset1", pool(pads + "rounding_type=\"floor\"")},
                             counted_windows({1, 1, 5}), {}, {1, 1, 2}),
              ElementsAre(2, 4));
  EXPECT_THAT(evaluate_layer({"MaxPool", "opset1", pool(pads + "rounding_type=\"ceil\"")},
                             counted_windows({1, 1, 5}), {}, {1, 1, 3}),
              ElementsAre(2, 4, 5));
  // The last of ceil((4 + 2 - 2) / 3) + 1 = 3 windows begins at 6 of 5 padded places: OpenVINO's
  // ceil keeps it, its ceil_torch and ONNX drop it.
  const std::string behind = "kernel=\"2\" strides=\"3\" pads_begin=\"1\" pads_end=\"1\" ";
  EXPECT_THAT(evaluate_layer({"MaxPool", "opset14", behind + "rounding_type=\"ceil_torch\""},
                             counted_windows({1, 1, 4}), {}, {1, 1, 2}),
              ElementsAre(1, 4));
  const auto kept = evaluate_layer({"MaxPool", "opset8", behind + "rounding_type=\"ceil\""},
                                   counted_windows({1, 1, 4}), {}, {1, 1, 3});
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[1], 4);
}

TEST(IrWindows, AveragesCountThePaddingOrNot) {
  const std::string pads = "pads_begin=\"1\" pads_end=\"1\" rounding_type=\"floor\" ";
  EXPECT_THAT(evaluate_layer({"AvgPool", "opset1", pool(pads + "exclude-pad=\"true\"")},
                             counted_windows({1, 1, 4}), {}, {1, 1, 3}),
              ElementsAre(1, 2.5f, 4));
  EXPECT_THAT(evaluate_layer({"AvgPool", "opset1", pool(pads + "exclude-pad=\"false\"")},
                             counted_windows({1, 1, 4}), {}, {1, 1, 3}),
              ElementsAre(0.5f, 2.5f, 2));
}

TEST(IrWindows, IndicesCountFromTheirAxis) {
  // Also where the file does not say how large a plane is, as in exports with dynamic shapes.
  for (const int64_t declared : {int64_t{4}, kUnknownDim}) {
    IrFile file;
    const auto x = file.parameter("x", "f32", {1, 2, declared});
    const int64_t windows = declared == kUnknownDim ? kUnknownDim : 2;
    const auto pooled =
        file.layer("MaxPool", "opset8",
                   pool("pads_begin=\"0\" pads_end=\"0\" dilations=\"1\" axis=\"2\" "
                        "index_element_type=\"i32\""),
                   {x}, {{"FP32", {1, 2, windows}}, {"I32", {1, 2, windows}}});
    file.result(pooled);
    file.result({pooled.layer, 1});
    const auto model = file.read();
    ASSERT_TRUE(model) << model.error().message();
    ASSERT_TRUE((*model)->reshape({{"x", {1, 2, 4}}}).ok());
    const auto out = test::evaluate_model(**model, {image({1, 2, 4}, {1, 2, 4, 3, 8, 7, 5, 6})});
    ASSERT_EQ(out.size(), 2u);
    EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(2, 4, 8, 6));
    EXPECT_THAT(*to_float_vector(out[1]), ElementsAre(1, 2, 0, 3));
    EXPECT_EQ(out[1].type(), ElementType::Int32);
  }
}

TEST(IrWindows, AdaptivePooling) {
  const auto out =
      evaluate_layer({"AdaptiveAvgPool", "opset8"}, counted_windows({1, 1, 4}),
                     [](IrFile& f) { return std::vector{f.integers({2})}; }, {1, 1, 2});
  EXPECT_THAT(out, ElementsAre(1.5f, 3.5f));
}

TEST(IrWindows, MeanVarianceNormalization) {
  // 1, 3: mean 2, variance 1. eps 3 inside the root gives 2, outside 1 + 3.
  const auto normalized = [](const std::string& data, const std::vector<int64_t>& axes) {
    return evaluate_layer({"MVN", "opset6", data}, image({1, 1, 1, 2}, {1, 3}),
                          [&](IrFile& f) { return std::vector{f.integers(axes)}; }, {1, 1, 1, 2});
  };
  EXPECT_THAT(normalized("eps=\"3\" eps_mode=\"INSIDE_SQRT\" normalize_variance=\"true\"", {2, 3}),
              ElementsAre(-0.5f, 0.5f));
  EXPECT_THAT(normalized("eps=\"3\" eps_mode=\"inside_sqrt\" normalize_variance=\"true\"", {3}),
              ElementsAre(-0.5f, 0.5f));
  EXPECT_THAT(normalized("eps=\"3\" eps_mode=\"OUTSIDE_SQRT\" normalize_variance=\"true\"", {2, 3}),
              ElementsAre(-0.25f, 0.25f));
  EXPECT_THAT(normalized("eps=\"3\" eps_mode=\"INSIDE_SQRT\" normalize_variance=\"false\"", {2, 3}),
              ElementsAre(-1, 1));
  // Version 1: channels 1, 3 are one population across channels, two without.
  const auto old = [](const std::string& data) {
    return evaluate_layer({"MVN", "opset2", data}, image({1, 2, 1, 1}, {1, 3}), {}, {1, 2, 1, 1});
  };
  EXPECT_THAT(old("across_channels=\"true\" normalize_variance=\"true\" eps=\"3\""),
              ElementsAre(-0.5f, 0.5f));
  EXPECT_THAT(old("across_channels=\"false\" normalize_variance=\"true\" eps=\"3\""),
              ElementsAre(0, 0));
}

TEST(IrWindows, OtherNormalizations) {
  // gamma (x - mean) / sqrt(variance + eps) + beta = 2 (7 - 1) / 3 + 10
  const auto constants = [](IrFile& f) {
    return std::vector{f.floats({1}, {2}), f.floats({1}, {10}), f.floats({1}, {1}),
                       f.floats({1}, {8})};
  };
  EXPECT_THAT(evaluate_layer({"BatchNormInference", "opset5", "epsilon=\"1\""},
                             image({1, 1, 1, 1}, {7}), constants, {1, 1, 1, 1}),
              ElementsAre(14));
  // 3 / sqrt(9 + 16 + 0) and 4 / 5
  EXPECT_THAT(evaluate_layer({"GRN", "opset1", "bias=\"0\""}, image({1, 2, 1, 1}, {3, 4}), {},
                             {1, 2, 1, 1}),
              ElementsAre(0.6f, 0.8f));
  // Mean of squares 12.5: 3 / sqrt(12.5 + 12.5) times 10
  EXPECT_THAT(evaluate_layer({"RMS", "opset14", "epsilon=\"12.5\""}, image({2}, {3, 4}),
                             [](IrFile& f) { return std::vector{f.floats({}, {10})}; }, {2}),
              ElementsAre(FloatNear(6, 1e-5f), FloatNear(8, 1e-5f)));
  // x / (bias + alpha / size * sum)^beta = 2 / (1 + 3 / 1 * 4)
  EXPECT_THAT(evaluate_layer({"LRN", "opset1", "alpha=\"3\" beta=\"1\" bias=\"1\" size=\"1\""},
                             image({1, 1, 1, 1}, {2}),
                             [](IrFile& f) { return std::vector{f.integers({1})}; }, {1, 1, 1, 1}),
              ElementsAre(FloatNear(2.0f / 13.0f, 1e-6f)));
}

/// Interpolate-4 of a row of two pixels to `size` of them.
std::vector<float> resized(const std::string& data, const std::vector<float>& row, int64_t size) {
  const auto width = static_cast<int64_t>(row.size());
  return evaluate_layer({"Interpolate", "opset4", data + " shape_calculation_mode=\"sizes\""},
                        image({1, 1, 1, width}, row),
                        [&](IrFile& f) {
                          return std::vector{
                              f.integers({size}),
                              f.floats({1}, {static_cast<float>(size) / static_cast<float>(width)}),
                              f.integers({3})};
                        },
                        {1, 1, 1, size});
}

TEST(IrWindows, InterpolateModes) {
  EXPECT_THAT(
      resized("mode=\"linear_onnx\" coordinate_transformation_mode=\"align_corners\"", {0, 3}, 4),
      ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(resized("mode=\"linear\" coordinate_transformation_mode=\"half_pixel\"", {0, 4}, 4),
              ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(
      resized("mode=\"linear_onnx\" coordinate_transformation_mode=\"asymmetric\"", {0, 4}, 4),
      ElementsAre(0, 2, 4, 4));
  // Places 0, 0.5, 1, 1.5 of the source; simple rounds down where it enlarges.
  EXPECT_THAT(resized("mode=\"nearest\" coordinate_transformation_mode=\"asymmetric\" "
                      "nearest_mode=\"simple\"",
                      {7, 8}, 4),
              ElementsAre(7, 7, 8, 8));
  // Places 0 and 1.5: up where it shrinks.
  EXPECT_THAT(resized("mode=\"nearest\" coordinate_transformation_mode=\"asymmetric\" "
                      "nearest_mode=\"simple\"",
                      {7, 8, 9}, 2),
              ElementsAre(7, 9));
  // (x + 0.5) / 2 = 0.25, 0.75, 1.25, 1.75, rounded down.
  EXPECT_THAT(resized("mode=\"nearest\" coordinate_transformation_mode=\"tf_half_pixel_for_nn\" "
                      "nearest_mode=\"floor\"",
                      {7, 8}, 4),
              ElementsAre(7, 7, 8, 8));
}

TEST(IrWindows, InterpolateOfOpset1AndOfOpset11) {
  const auto first = evaluate_layer(
      {"Interpolate", "opset1",
       "axes=\"2,3\" mode=\"linear\" align_corners=\"1\" antialias=\"0\" pads_begin=\"0\" "
       "pads_end=\"0\""},
      image({1, 1, 1, 2}, {0, 3}),
      [](IrFile& f) {
        return std::vector{f.integers({1, 4})};
      },
      {1, 1, 1, 4});
  EXPECT_THAT(first, ElementsAre(0, 1, 2, 3));
  const auto newest =
      evaluate_layer({"Interpolate", "opset11",
                      "mode=\"nearest\" shape_calculation_mode=\"scales\" "
                      "coordinate_transformation_mode=\"asymmetric\" nearest_mode=\"floor\""},
                     image({1, 1, 1, 2}, {7, 8}),
                     [](IrFile& f) {
                       return std::vector{f.floats({1}, {2}), f.integers({3})};
                     },
                     {1, 1, 1, 4});
  EXPECT_THAT(newest, ElementsAre(7, 7, 8, 8));
}

/// Scales that do not lead to a whole size: corners lie on corners all the same, and Pillow's
/// filter follows from the sizes, 3 of 2.
TEST(IrWindows, InterpolateByScalesOfOtherThanWholeSizes) {
  const auto run = [](const std::string& attributes) {
    return evaluate_layer({"Interpolate", "opset11",
                           attributes + " shape_calculation_mode=\"scales\" pads_begin=\"0\" "
                                        "pads_end=\"0\""},
                          image({1, 1, 1, 2}, {0, 3}),
                          [](IrFile& f) {
                            return std::vector{f.floats({1}, {1.75f}), f.integers({3})};
                          },
                          {1, 1, 1, 3});
  };
  EXPECT_THAT(run("mode=\"linear_onnx\" coordinate_transformation_mode=\"align_corners\""),
              ElementsAre(0, 1.5f, 3));
  EXPECT_THAT(run("mode=\"bilinear_pillow\" coordinate_transformation_mode=\"half_pixel\""),
              ElementsAre(0, 1.5f, 3));
}

TEST(IrWindows, SimpleRoundingOfGrowingAndShrinkingDimensions) {
  // Column places 0.5 and 2.5 rounded up: 1 and 3.
  const auto out = evaluate_layer({"Interpolate", "opset11",
                                   "mode=\"nearest\" shape_calculation_mode=\"sizes\" "
                                   "coordinate_transformation_mode=\"half_pixel\" "
                                   "nearest_mode=\"simple\""},
                                  image({1, 1, 2, 4}, {0, 1, 2, 3, 10, 11, 12, 13}),
                                  [](IrFile& f) {
                                    return std::vector{f.integers({4, 2}), f.integers({2, 3})};
                                  },
                                  {1, 1, 4, 2});
  // Row places -0.25, 0.25, 0.75, 1.25 rounded down: 0, 0, 0, 1.
  EXPECT_THAT(out, ElementsAre(1, 3, 1, 3, 1, 3, 11, 13));
}

TEST(IrWindows, PillowModesWidenTheirFilterAndStayInside) {
  // Four pixels to two: triangles two wide, at 0.5 and 2.5. Weights of the first: 1 - |x - 0.5| / 2
  // = 0.75, 0.75, 0.25 of pixels 0, 1, 2, over their sum.
  const auto out = evaluate_layer(
      {"Interpolate", "opset11", "mode=\"bilinear_pillow\" shape_calculation_mode=\"sizes\""},
      image({1, 1, 1, 4}, {7, 14, 21, 28}),
      [](IrFile& f) {
        return std::vector{f.integers({2}), f.integers({3})};
      },
      {1, 1, 1, 2});
  EXPECT_THAT(out, ElementsAre(FloatNear((3 * 7 + 3 * 14 + 21) / 7.0f, 1e-4f),
                               FloatNear((14 + 3 * 21 + 3 * 28) / 7.0f, 1e-4f)));
}

TEST(IrWindows, DepthSpaceAndChannels) {
  // Channels of one place: blocks_first is [block y, block x, channel], depth_first the channel
  // first. Both give one channel per 2x2 block here from 8 channels.
  const Tensor x = counted_windows({1, 8, 1, 1});
  EXPECT_THAT(evaluate_layer({"DepthToSpace", "opset1", "block_size=\"2\" mode=\"blocks_first\""},
                             x, {}, {1, 2, 2, 2}),
              ElementsAre(1, 3, 5, 7, 2, 4, 6, 8));
  EXPECT_THAT(evaluate_layer({"DepthToSpace", "opset1", "block_size=\"2\" mode=\"depth_first\""}, x,
                             {}, {1, 2, 2, 2}),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  const Tensor y = counted_windows({1, 2, 2, 2});
  EXPECT_THAT(evaluate_layer({"SpaceToDepth", "opset1", "block_size=\"2\" mode=\"blocks_first\""},
                             y, {}, {1, 8, 1, 1}),
              ElementsAre(1, 5, 2, 6, 3, 7, 4, 8));
  EXPECT_THAT(evaluate_layer({"SpaceToDepth", "opset1", "block_size=\"2\" mode=\"depth_first\""}, y,
                             {}, {1, 8, 1, 1}),
              ElementsAre(1, 2, 3, 4, 5, 6, 7, 8));
  EXPECT_THAT(evaluate_layer({"ShuffleChannels", "opset1", "axis=\"1\" group=\"2\""},
                             counted_windows({1, 6, 1, 1}), {}, {1, 6, 1, 1}),
              ElementsAre(1, 4, 2, 5, 3, 6));
}

TEST(IrWindows, SamplingAtComputedPlaces) {
  // The middle of the picture lies between four pixels.
  const auto sampled = evaluate_layer(
      {"GridSample", "opset9", "align_corners=\"false\" mode=\"bilinear\" padding_mode=\"zeros\""},
      counted_windows({1, 1, 2, 2}),
      [](IrFile& f) {
        return std::vector{f.floats({1, 1, 1, 2}, {0, 0})};
      },
      {1, 1, 1, 1});
  EXPECT_THAT(sampled, ElementsAre(2.5f));
  // half_pixel_for_nn moves the scaled region by half a pixel; half_pixel moves it to and fro,
  // which is nothing at scale 1: the region's middle is then the last pixel.
  const auto pool = [](const std::string& mode) {
    return evaluate_layer({"ROIAlign", "opset9",
                           "pooled_h=\"1\" pooled_w=\"1\" sampling_ratio=\"1\" "
                           "spatial_scale=\"1\" mode=\"avg\" aligned_mode=\"" +
                               mode + "\""},
                          counted_windows({1, 1, 2, 2}),
                          [](IrFile& f) {
                            return std::vector{f.floats({1, 4}, {0, 0, 2, 2}), f.integers({0})};
                          },
                          {1, 1, 1, 1});
  };
  EXPECT_THAT(pool("half_pixel_for_nn"), ElementsAre(2.5f));
  EXPECT_THAT(pool("half_pixel"), ElementsAre(4.0f));
}

}  // namespace
}  // namespace het
