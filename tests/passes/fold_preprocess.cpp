#include "inference/passes/fold_preprocess.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "inference/ops/op.h"
#include "inference/passes/convert_ports.h"
#include "inference/passes/print_model.h"

namespace het {
namespace {

/// Runs the references node by node; the model has one input and one output.
Tensor run(Model& model, const Tensor& input) {
  EXPECT_TRUE(model.sort().ok());
  std::map<const Value*, Tensor> tensors{{model.inputs()[0].value, input}};
  for (const auto& node : model.nodes()) {
    std::vector<const Tensor*> inputs;
    for (const Value* value : node->inputs()) {
      inputs.push_back(value == nullptr       ? nullptr
                       : value->is_constant() ? &value->constant()
                                              : &tensors.at(value));
    }
    const auto results = evaluate_node(*node, inputs);
    EXPECT_TRUE(results) << results.error().message();
    if (!results) return {};
    for (size_t i = 0; i < results->size(); ++i) tensors[node->output(i)] = (*results)[i];
  }
  return tensors.at(model.outputs()[0].value);
}

/// What preprocess() does with the pixels of an NCHW tensor.
Tensor normalised(const Tensor& pixels, const std::optional<PreprocessDesc>& desc) {
  if (!desc) return pixels;
  Tensor result = *pixels.clone();
  const int64_t channels = pixels.shape()[1];
  const int64_t plane = pixels.shape()[2] * pixels.shape()[3];
  for (int64_t i = 0; i < result.element_count(); ++i) {
    const auto c = static_cast<size_t>(i / plane % channels);
    float& value = result.data<float>()[i];
    value =
        (desc->range_low + value / 255.0f * (desc->range_high - desc->range_low) - desc->mean[c]) /
        desc->std[c];
  }
  return result;
}

Tensor random_pixels(const Shape& shape) {
  std::mt19937 generator(7);
  std::uniform_int_distribution<int> pixel(0, 255);
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (float& value : values) value = static_cast<float>(pixel(generator));
  return Tensor::from<float>(shape, values);
}

void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.shape(), b.shape());
  const std::vector<float> x = *to_float_vector(a);
  const std::vector<float> y = *to_float_vector(b);
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_NEAR(x[i], y[i], 1e-4f * (1.0f + std::abs(x[i]))) << "element " << i;
  }
}

/// A convolution of `kernel` x `kernel` taps on three channels with two outputs.
Model make_model(int64_t kernel, int64_t pad, bool with_bias) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, 5, 6}, Layout::Plain});
  std::vector<float> weights(static_cast<size_t>(2 * 3 * kernel * kernel));
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = std::sin(static_cast<float>(i) + 1.0f);
  std::vector<Value*> inputs{
      x, model.add_constant("w", Tensor::from<float>({2, 3, kernel, kernel}, weights))};
  if (with_bias) {
    inputs.push_back(model.add_constant("b", Tensor::from<float>({2}, {0.5f, -3.0f})));
  }
  Attributes attributes;
  attributes.set("pads", std::vector<int64_t>(4, pad));
  model.add_output("y", model.add_node("conv", "Conv", "", inputs, {"y"}, attributes)->output());
  return model;
}

PreprocessDesc picture() {
  PreprocessDesc desc;
  desc.range_high = 1.0f;
  desc.mean = {0.485f, 0.456f, 0.406f};
  desc.std = {0.229f, 0.224f, 0.225f};
  return desc;
}

TEST(FoldPreprocess, MeanAndScaleBecomeWeightsAndBias) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, 1, 1}, Layout::Plain});
  Value* w = model.add_constant("w", Tensor::from<float>({1, 3, 1, 1}, {2, 3, 5}));
  Value* b = model.add_constant("b", Tensor::from<float>({1}, {1}));
  model.add_output("y", model.add_node("conv", "Conv", "", {x, w, b}, {"y"})->output());
  ASSERT_TRUE(add_normalisation(model, 0, {10, 20, 30}, {2, 4, 5}).ok());
  ASSERT_TRUE(model.sort().ok());
  EXPECT_EQ(print_model(model),
            "input x : float32[1,3,1,1]\n"
            "x/mean = Sub(x, x/mean/values=[10,20,30]) : ?\n"
            "x/scale = Div(x/mean, x/scale/values=[2,4,5]) : ?\n"
            "y = Conv(x/scale, w=[2,3,5], b=[1]) : ?\n"
            "output y = y\n");
  EXPECT_EQ(fold_preprocess(model), 1u);
  // 2 / 2, 3 / 4, 5 / 5; 1 - 2 * 10 / 2 - 3 * 20 / 4 - 5 * 30 / 5
  EXPECT_EQ(print_model(model),
            "input x : float32[1,3,1,1]\n"
            "y = Conv(x, w/folded=[1,0.75,1], b/folded=[-54]) : ?\n"
            "output y = y\n");
  EXPECT_EQ(model.nodes()[0]->original_names(),
            (std::vector<std::string>{"conv", "x/mean", "x/scale"}));
  EXPECT_EQ(fold_preprocess(model), 0u);
}

TEST(FoldPreprocess, PicturesLoseTheirNormalisationWithoutPadding) {
  for (const bool with_bias : {false, true}) {
    Model model = make_model(3, 0, with_bias);
    model.set_preprocess(0, picture());
    const Tensor pixels = random_pixels({1, 3, 5, 6});
    const Tensor before = run(model, normalised(pixels, model.inputs()[0].preprocess));
    EXPECT_EQ(fold_preprocess(model), 1u);
    EXPECT_EQ(*model.inputs()[0].preprocess, PreprocessDesc{});
    expect_close(before, run(model, pixels));
  }
}

TEST(FoldPreprocess, AMeanStaysInFrontOfAPaddedConvolution) {
  Model model = make_model(3, 1, true);
  model.set_preprocess(0, picture());
  const Tensor pixels = random_pixels({1, 3, 5, 6});
  const Tensor before = run(model, normalised(pixels, model.inputs()[0].preprocess));
  EXPECT_EQ(fold_preprocess(model), 1u);
  const PreprocessDesc& left = *model.inputs()[0].preprocess;
  EXPECT_EQ(left.std, PreprocessDesc{}.std);
  EXPECT_EQ(left.range_high, 255.0f);
  EXPECT_NEAR(left.mean[0], 0.485f * 255.0f, 1e-4f);
  EXPECT_NEAR(left.mean[2], 0.406f * 255.0f, 1e-4f);
  // Borders included: a zero of the padding is still the mean colour.
  expect_close(before, run(model, normalised(pixels, left)));
  EXPECT_EQ(fold_preprocess(model), 0u) << "nothing is left to fold";
}

TEST(FoldPreprocess, AScaleAloneFoldsWithPadding) {
  Model model = make_model(3, 1, false);
  PreprocessDesc desc;
  desc.range_high = 1.0f;
  model.set_preprocess(0, desc);
  const Tensor pixels = random_pixels({1, 3, 5, 6});
  const Tensor before = run(model, normalised(pixels, desc));
  EXPECT_EQ(fold_preprocess(model), 1u);
  EXPECT_EQ(*model.inputs()[0].preprocess, PreprocessDesc{});
  EXPECT_EQ(model.nodes()[0]->input(2), nullptr) << "no shift, no bias";
  expect_close(before, run(model, pixels));
}

TEST(FoldPreprocess, ReversedChannelsAndBytes) {
  for (const int64_t pad : {0, 1}) {
    Model model = make_model(3, pad, true);
    ASSERT_TRUE(add_normalisation(model, 0, {100, 110, 120}, {58, 57, 56}).ok());
    ASSERT_TRUE(reverse_channels(model, 0).ok());
    ASSERT_TRUE(set_input_type(model, 0, ElementType::UInt8).ok());
    const Tensor floats = random_pixels({1, 3, 5, 6});
    Tensor pixels = *Tensor::allocate({ElementType::UInt8, floats.shape(), Layout::Plain});
    std::ranges::transform(floats.values<float>(), pixels.data<uint8_t>(),
                           [](float value) { return static_cast<uint8_t>(value); });
    const Tensor before = run(model, pixels);
    EXPECT_EQ(model.nodes().size(), 5u);
    EXPECT_EQ(fold_preprocess(model), 1u);
    expect_close(before, run(model, pixels));
    const std::string text = print_model(model);
    EXPECT_EQ(text.find("Gather"), std::string::npos) << text;
    EXPECT_EQ(text.find("Div"), std::string::npos) << text;
    // The mean stays with padding, in the order of the input's channels.
    EXPECT_EQ(text.find("x/mean = Sub(x/Cast, x/mean/values=[120,110,100])") != std::string::npos,
              pad == 1)
        << text;
  }
}

TEST(FoldPreprocess, ATransposeInBetweenStays) {
  Model model = make_model(3, 0, true);
  ASSERT_TRUE(add_normalisation(model, 0, {100, 110, 120}, {}).ok());
  ASSERT_TRUE(set_input_layout(model, 0, "NCHW->NHWC").ok());
  EXPECT_EQ(model.inputs()[0].value->desc().shape, (Shape{1, 5, 6, 3}));
  const Tensor pixels = random_pixels({1, 5, 6, 3});
  const Tensor before = run(model, pixels);
  EXPECT_EQ(fold_preprocess(model), 1u);
  EXPECT_EQ(model.nodes().size(), 2u);
  expect_close(before, run(model, pixels));
}

TEST(FoldPreprocess, DepthwiseWeights) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, 2, 2}, Layout::Plain});
  Value* w = model.add_constant("w", Tensor::from<float>({3, 1, 1, 1}, {1, 2, 3}));
  Attributes attributes;
  attributes.set("group", int64_t{3});
  model.add_output("y", model.add_node("conv", "Conv", "", {x, w}, {"y"}, attributes)->output());
  ASSERT_TRUE(add_normalisation(model, 0, {1, 2, 3}, {1, 2, 4}).ok());
  const Tensor pixels = random_pixels({1, 3, 2, 2});
  const Tensor before = run(model, pixels);
  EXPECT_EQ(fold_preprocess(model), 1u);
  EXPECT_EQ(*to_float_vector(model.nodes()[0]->input(1)->constant()),
            (std::vector<float>{1, 1, 0.75}));
  EXPECT_EQ(*to_float_vector(model.nodes()[0]->input(2)->constant()),
            (std::vector<float>{-1, -2, -2.25}));
  expect_close(before, run(model, pixels));
}

TEST(FoldPreprocess, NothingHappensWhereSomethingElseReadsTheInput) {
  Model model = make_model(3, 0, true);
  ASSERT_TRUE(add_normalisation(model, 0, {100}, {}).ok());
  model.add_output("raw", model.inputs()[0].value);
  EXPECT_EQ(fold_preprocess(model), 0u);
  EXPECT_EQ(model.nodes().size(), 2u);
}

TEST(FoldPreprocess, NormalisationOfAByteInputMovesIntoTheModel) {
  Model model = make_model(3, 1, true);
  model.set_preprocess(0, picture());
  const Tensor pixels = random_pixels({1, 3, 5, 6});
  const Tensor before = run(model, normalised(pixels, model.inputs()[0].preprocess));
  ASSERT_TRUE(set_input_type(model, 0, ElementType::UInt8).ok());
  const auto moved = move_normalisation(model, 0);
  ASSERT_TRUE(moved && *moved);
  EXPECT_EQ(*model.inputs()[0].preprocess, PreprocessDesc{});
  Tensor bytes = *Tensor::allocate({ElementType::UInt8, pixels.shape(), Layout::Plain});
  std::ranges::transform(pixels.values<float>(), bytes.data<uint8_t>(),
                         [](float value) { return static_cast<uint8_t>(value); });
  expect_close(before, run(model, bytes));
  EXPECT_EQ(fold_preprocess(model), 1u);
  expect_close(before, run(model, bytes));
}

TEST(FoldPreprocess, WrongNumbersOfValuesAreRefused) {
  Model model = make_model(1, 0, true);
  const Status two = add_normalisation(model, 0, {1, 2}, {});
  EXPECT_EQ(two.code(), StatusCode::InvalidArgument);
  EXPECT_NE(two.message().find("3 channels, but 2 mean values"), std::string::npos)
      << two.message();
  EXPECT_FALSE(add_normalisation(model, 0, {}, {0}).ok());
}

}  // namespace
}  // namespace het
