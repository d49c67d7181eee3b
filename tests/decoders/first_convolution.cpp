#include "inference/decoders/first_convolution.h"

#include <gtest/gtest.h>

#include "inference/decoders/picture_assumption.h"

namespace het {
namespace {

constexpr int64_t kFilters = 4;

/// A picture before a convolution of 4 filters, 3x3, whose weights are 1/27 times `scale`: what
/// comes out of even pictures has the spread of the pixels times `scale`.
struct Convolved {
  Model model{"graph"};
  Value* last = model.add_input("picture", {ElementType::Float32, {1, 3, 8, 8}});
  Value* weights;

  explicit Convolved(float scale)
      : weights(model.add_constant(
            "w", Tensor::from<float>({kFilters, 3, 3, 3},
                                     std::vector<float>(kFilters * 27, scale / 27.0f)))) {}

  Value* vector(const std::string& name, const std::vector<float>& values, const Shape& shape) {
    return model.add_constant(name, Tensor::from<float>(shape, values));
  }
  Convolved& node(const std::string& type, std::vector<Value*> inputs) {
    const std::string name = type + std::to_string(model.nodes().size());
    inputs.insert(inputs.begin(), last);
    last = model.add_node(name, type, "", std::move(inputs), {name})->output();
    return *this;
  }
  Value& input() {
    if (model.outputs().empty()) model.add_output("out", last);
    return *model.inputs()[0].value;
  }
};

const std::vector<float> kBiases{0.5f, -1.0f, 0.8f, -1.2f};

TEST(FirstConvolution, BiasesTellTheScaleOfPixels) {
  Convolved bytes(1.0f / 50.0f);
  bytes.node("Conv", {bytes.weights, bytes.vector("b", kBiases, {kFilters})});
  EXPECT_EQ(pixel_scale(bytes.input()), PixelScale::Bytes);
  EXPECT_NEAR(expected_pixel_spread(bytes.input()).value(), 50.0f, 5.0f);

  Convolved units(1.0f);
  units.node("Cast", {}).node("Transpose", {});
  units.node("Conv", {units.weights, units.vector("b", kBiases, {kFilters})});
  EXPECT_EQ(pixel_scale(units.input()), PixelScale::Units);

  Convolved added(1.0f / 50.0f);  // as OpenVINO IR has it
  added.node("Conv", {added.weights});
  added.node("Add", {added.vector("b", kBiases, {1, kFilters, 1, 1})});
  EXPECT_EQ(pixel_scale(added.input()), PixelScale::Bytes);
}

TEST(FirstConvolution, NormalisationOfBatchesTellsItExactly) {
  const auto scale_of = [](const std::vector<float>& variances) {
    Convolved graph(2.0f);
    graph.node("Conv", {graph.weights});
    Value* ones = graph.vector("ones", {1, 1, 1, 1}, {kFilters});
    graph.node("BatchNormalization", {ones, ones, ones, graph.vector("v", variances, {kFilters})});
    return expected_pixel_spread(graph.input());
  };
  EXPECT_NEAR(scale_of({1.0f, 0.9f, 1.1f, 1.0f}).value(), 0.52f, 0.03f);
  EXPECT_NEAR(scale_of({14400, 14400, 16900, 10000}).value(), 62.0f, 3.0f);
  EXPECT_FALSE(scale_of({1, 1, 1, 1}));  // never trained
}

TEST(FirstConvolution, WhatTellsNothing) {
  Convolved none(1.0f);
  none.node("Conv", {none.weights});
  EXPECT_EQ(pixel_scale(none.input()), PixelScale::Unknown);
  Convolved zero(1.0f);
  zero.node("Conv", {zero.weights, zero.vector("b", {0, 0, 0, 0}, {kFilters})});
  EXPECT_EQ(pixel_scale(zero.input()), PixelScale::Unknown);
  Convolved dead(0.0f);
  dead.node("Conv", {dead.weights, dead.vector("b", kBiases, {kFilters})});
  EXPECT_EQ(pixel_scale(dead.input()), PixelScale::Unknown);
  Convolved other(1.0f);
  other.node("Relu", {});
  EXPECT_EQ(pixel_scale(other.input()), PixelScale::Unknown);
  Convolved between(1.0f / 8.0f);  // may be either
  between.node("Conv", {between.weights, between.vector("b", kBiases, {kFilters})});
  EXPECT_EQ(pixel_scale(between.input()), PixelScale::Unknown);
}

TEST(FirstConvolution, AFamilyOfAnotherScaleIsAGuess) {
  Convolved bytes(1.0f / 50.0f);
  bytes.node("Conv", {bytes.weights, bytes.vector("b", kBiases, {kFilters})});
  DecoderConfig yolo;
  yolo.converter = "yolo_v8";
  const PictureAssumption corrected = assume_pictures(yolo, bytes.model, bytes.input());
  EXPECT_TRUE(corrected.is_guess);
  EXPECT_EQ(corrected.input.preprocess.range_high, 255.0f);
  EXPECT_NE(corrected.reason.find("trained for pixels of 0..255"), std::string::npos);
  yolo.converter = "yolo_x";
  EXPECT_FALSE(assume_pictures(yolo, bytes.model, bytes.input()).is_guess);

  Convolved units(1.0f);
  units.node("Conv", {units.weights, units.vector("b", kBiases, {kFilters})});
  yolo.converter = "yolo_v8";
  EXPECT_FALSE(assume_pictures(yolo, units.model, units.input()).is_guess);
  DecoderConfig classes;
  classes.converter = "label";
  const PictureAssumption classified = assume_pictures(classes, units.model, units.input());
  EXPECT_TRUE(classified.is_guess);
  EXPECT_FLOAT_EQ(classified.input.preprocess.mean[0], 0.485f);
}

}  // namespace
}  // namespace het
