#include "inference/passes/resize_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inference/model/model.h"
#include "inference/passes/infer_shapes.h"

namespace het {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Model picture_model(Shape shape, Layout layout = Layout::Plain) {
  Model model;
  Value* input = model.add_input("picture", {ElementType::Float32, std::move(shape), layout});
  Node* node = model.add_node("relu", "Relu", "", {input}, {"y"});
  model.add_output("y", node->output());
  return model;
}

TEST(ResizeInput, AResizeStandsBehindTheInput) {
  Model model = picture_model({1, 3, 20, 30});
  ASSERT_TRUE(resize_input(model, 0, 40, 90, "linear").ok());
  EXPECT_THAT(model.inputs()[0].value->desc().shape, ElementsAre(1, 3, 40, 90));
  const Node* resize = model.find_node("picture/Resize");
  ASSERT_NE(resize, nullptr);
  EXPECT_EQ(resize->attributes().get_string("coordinate_transformation_mode", ""), "half_pixel");
  EXPECT_EQ(model.find_node("relu")->input(0), resize->output());
  ASSERT_TRUE(infer_shapes(model).ok());
  EXPECT_THAT(resize->output()->desc().shape, ElementsAre(1, 3, 20, 30));
}

TEST(ResizeInput, ChannelsLastAndAnOpenBatch) {
  Model model = picture_model({kUnknownDim, 20, 30, 3}, Layout::NHWC);
  ASSERT_TRUE(resize_input(model, 0, 10, 15, "nearest").ok());
  EXPECT_THAT(model.inputs()[0].value->desc().shape, ElementsAre(kUnknownDim, 10, 15, 3));
  EXPECT_THAT(model.find_node("picture/Resize")->attributes().get_ints("axes"), ElementsAre(1, 2));
}

TEST(ResizeInput, NothingForTheSameSize) {
  Model model = picture_model({1, 3, 20, 30});
  ASSERT_TRUE(resize_input(model, 0, 20, 30, "cubic").ok());
  EXPECT_EQ(model.nodes().size(), 1u);
}

TEST(ResizeInput, WhatCannotBe) {
  Model model = picture_model({1, 3, kUnknownDim, 30});
  EXPECT_THAT(resize_input(model, 0, 20, 30, "linear").message(), HasSubstr("reshape it first"));
  Model flat = picture_model({1, 3});
  EXPECT_THAT(resize_input(flat, 0, 20, 30, "linear").message(), HasSubstr("no picture"));
  Model good = picture_model({1, 3, 20, 30});
  EXPECT_THAT(resize_input(good, 0, 0, 30, "linear").message(), HasSubstr("30x0"));
  EXPECT_THAT(resize_input(good, 0, 20, 30, "soft").message(), HasSubstr("'soft'"));
  EXPECT_EQ(good.nodes().size(), 1u);
}

}  // namespace
}  // namespace het
