#include "inference/model_preparation.h"

#include <gtest/gtest.h>

#include "devices/register_devices.h"
#include "inference/passes/print_model.h"
#include "inference/port_texts.h"

namespace het {
namespace {

Model make_model() {
  Model model("two");
  Value* images =
      model.add_input("images", {ElementType::Float32, {kUnknownDim, 3, kUnknownDim, 8}, {}});
  Value* size = model.add_input("size", {ElementType::Float32, {1, 2}, Layout::Plain});
  model.set_dim_names(0, {"N", "", "height", ""});
  model.add_output("y", model.add_node("relu", "Relu", "", {images}, {"y"})->output());
  model.add_output("z", model.add_node("neg", "Neg", "", {size}, {"z"})->output());
  return model;
}

const Shape& shape_of(const Model& model, size_t index) {
  return model.inputs()[index].value->desc().shape;
}

TEST(PortTexts, ShapesByNameAndByDimension) {
  Model model = make_model();
  ASSERT_TRUE(reshape(model, "images[2,3,16,?],size[4,2]").ok());
  EXPECT_EQ(shape_of(model, 0), (Shape{2, 3, 16, 8}));
  EXPECT_EQ(shape_of(model, 1), (Shape{4, 2}));
  Model named = make_model();
  ASSERT_TRUE(reshape(named, "N=4,height=320").ok());
  EXPECT_EQ(shape_of(named, 0), (Shape{4, 3, 320, 8}));
  const Status unknown = reshape(named, "width=3");
  EXPECT_EQ(unknown.code(), StatusCode::NotFound);
  EXPECT_NE(unknown.message().find("'N', 'height'"), std::string::npos) << unknown.message();
  for (const char* wrong : {"[1,3,8,8]", "images[1,3", "images[1,x,8,8]", "N=0", "N=", "N=4x",
                            "other[1]", "images]1["}) {
    EXPECT_FALSE(reshape(named, wrong).ok()) << wrong;
  }
}

TEST(PortTexts, BatchGoesWhereTheLayoutHasN) {
  Model model = make_model();
  ASSERT_TRUE(set_batch(model, 4).ok());
  EXPECT_EQ(shape_of(model, 0)[0], 4);
  EXPECT_EQ(shape_of(model, 1)[0], 4);
  Model last = make_model();
  ASSERT_TRUE(set_batch(last, 5, "images[CHWN]").ok());
  EXPECT_EQ(shape_of(last, 0), (Shape{kUnknownDim, 3, kUnknownDim, 5}));
  EXPECT_EQ(shape_of(last, 1), (Shape{1, 2}));
  EXPECT_FALSE(set_batch(last, 5, "CHW").ok());
}

TEST(PortTexts, Lists) {
  const auto types = parse_colon_list("u8; images:f16,a:0:f32");
  ASSERT_TRUE(types);
  EXPECT_EQ(*types, (PortTexts{{"", "u8"}, {"images", "f16"}, {"a:0", "f32"}}));
  EXPECT_FALSE(parse_colon_list("images:"));
  EXPECT_EQ(*parse_numbers("1, -2.5"), (std::vector<float>{1.0f, -2.5f}));
  EXPECT_FALSE(parse_numbers("1,,2"));
  EXPECT_FALSE(parse_numbers("1e99"));
}

TEST(ModelPreparation, PropertiesSayAllOfIt) {
  auto properties = parse_properties(
      "INPUT_SHAPES=images[1,3,4,8],INPUT_TYPES=images:u8,NUM_STREAMS=1,"
      "MODEL_OUTPUTS=y,MEAN_VALUES=images[1,2,3]");
  ASSERT_TRUE(properties) << properties.error().message();
  const auto preparation = take_preparation(*properties);
  ASSERT_TRUE(preparation) << preparation.error().message();
  EXPECT_EQ(*properties, (Properties{{"NUM_STREAMS", "1"}}));
  Model model = make_model();
  const Status status = apply(*preparation, model);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(print_model(model),
            "input images : uint8[1,3,4,8]\n"
            "input size : float32[1,2]\n"
            "images/Cast = Cast(images) {to=1} : ?\n"
            "images/mean = Sub(images/Cast, images/mean/values=[1,2,3]) : ?\n"
            "y = Relu(images/mean) : ?\n"
            "output y = y\n");
  Properties wrong{{"BATCH_SIZE", "many"}};
  EXPECT_FALSE(take_preparation(wrong));
}

TEST(ModelPreparation, CompilePreparesACopy) {
  Model model("relu");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 2}, Layout::Plain});
  model.add_output("y", model.add_node("relu", "Relu", "", {x}, {"y"})->output());
  const std::shared_ptr<Core> core = het::core();
  for (const char* device : {"REF", "CPU"}) {
    const Properties properties{{"INPUT_TYPES", "i8"}, {"BATCH_SIZE", "3"}};
    const auto compiled = core->compile_model(model, device, properties);
    ASSERT_TRUE(compiled) << compiled.error().message();
    EXPECT_EQ((*compiled)->inputs()[0].desc.type, ElementType::Int8);
    EXPECT_EQ((*compiled)->outputs()[0].desc.shape, (Shape{3, 2}));
    const auto rows = core->query_model(model, device, properties);
    ASSERT_TRUE(rows);
    EXPECT_EQ(rows->size(), 2u) << "the Cast is a node of the prepared model";
  }
  EXPECT_EQ(model.inputs()[0].value->desc().type, ElementType::Float32);
}

}  // namespace
}  // namespace het
