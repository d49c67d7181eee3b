#include "inference/decoders/model_inputs.h"

#include <gtest/gtest.h>

namespace het {
namespace {

Model model_with(const std::vector<std::pair<std::string, Shape>>& inputs) {
  Model model("several");
  for (const auto& [name, shape] : inputs) model.add_input(name, {ElementType::Float32, shape});
  return model;
}

InputPreproc entry(std::string layer_name, std::string format = "image") {
  InputPreproc preproc;
  preproc.layer_name = std::move(layer_name);
  preproc.format = std::move(format);
  return preproc;
}

std::string message(const std::vector<InputPreproc>& entries, const Model& model) {
  const auto bound = bind_inputs({entries, {}}, model);
  return bound ? "" : bound.error().message();
}

TEST(ModelInputs, LayoutAndGreyFollowFromTheShape) {
  const Model model = model_with({{"a", {1, 3, 32, 48}}});
  const auto planar = bind_inputs({}, model);
  ASSERT_EQ(planar->size(), 1u);
  EXPECT_EQ(planar->at(0).preproc.preprocess.tensor_layout, Layout::NCHW);
  EXPECT_EQ(planar->at(0).preproc.preprocess.color_order, ColorOrder::BGR);
  const Model grey = model_with({{"a", {1, 28, 28, 1}}});
  const auto packed = bind_inputs({}, grey);
  ASSERT_EQ(packed->size(), 1u);
  EXPECT_EQ(packed->at(0).preproc.preprocess.tensor_layout, Layout::NHWC);
  EXPECT_EQ(packed->at(0).preproc.preprocess.color_order, ColorOrder::Gray);
  const PictureAxes axes = picture_axes(packed->at(0).preproc.preprocess, 4);
  EXPECT_EQ(axes.height, 1u);
  EXPECT_EQ(axes.width, 2u);
}

TEST(ModelInputs, EntriesWithoutNameFindTheOnlyInputOfTheirKind) {
  const Model model = model_with({{"sizes", {1, 2}}, {"picture", {1, 3, 32, 32}}});
  const auto bound = bind_inputs({{entry("", "image_info"), entry("")}, {}}, model);
  ASSERT_TRUE(bound) << bound.error().message();
  ASSERT_EQ(bound->size(), 2u);
  EXPECT_EQ(bound->at(0).preproc.format, "image_info");
  EXPECT_EQ(bound->at(1).preproc.format, "image");
  EXPECT_EQ(picture_input(*bound, model)->index, 1u);
}

TEST(ModelInputs, InputsThatNothingFillsAreLeftOut) {
  const Model model = model_with({{"picture", {1, 3, 32, 32}}, {"sizes", {1, 2}}});
  EXPECT_EQ(bind_inputs({}, model)->size(), 1u);
}

TEST(ModelInputs, ErrorsNameTheInputs) {
  const Model two = model_with({{"left", {1, 3, 32, 32}}, {"right", {1, 3, 32, 32}}});
  EXPECT_NE(message({entry("")}, two).find("2 inputs fit among 'left' float32[1,3,32,32]"),
            std::string::npos);
  EXPECT_NE(message({entry("up")}, two).find("'up'"), std::string::npos);
  EXPECT_NE(message({entry("left"), entry("left")}, two).find("two input_preproc entries"),
            std::string::npos);
  const auto both = bind_inputs({}, two);
  ASSERT_TRUE(both);
  EXPECT_FALSE(picture_input(*both, two));
  const Model none = model_with({{"sequence", {1, 1960}}});
  const auto sequence = bind_inputs({}, none);
  ASSERT_TRUE(sequence);
  EXPECT_NE(picture_input(*sequence, none).error().message().find("'sequence'"), std::string::npos);
}

TEST(ModelInputs, ApplyPreprocessChecksTheTensor) {
  Model model = model_with({{"picture", {1, 3, 32, 32}}});
  InputPreproc grey = entry("picture");
  grey.color_given = true;
  grey.preprocess.color_order = ColorOrder::Gray;
  const Status status = apply_preprocess({{grey}, {}}, model);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("input 'picture' of model 'several'"), std::string::npos);
  ASSERT_TRUE(apply_preprocess({}, model).ok());
  EXPECT_TRUE(model.inputs()[0].preprocess.has_value());
}

}  // namespace
}  // namespace het
