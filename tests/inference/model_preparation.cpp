#include "inference/model_preparation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "devices/register_devices.h"
#include "inference/model/port_texts.h"
#include "inference/passes/print_model.h"
#include "inference/vision_model.h"
#include "inference/writers/onnx_writer.h"

namespace het {
namespace {

Model make_prepared_model() {
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
  Model model = make_prepared_model();
  ASSERT_TRUE(reshape(model, "images[2,3,16,?],size[4,2]").ok());
  EXPECT_EQ(shape_of(model, 0), (Shape{2, 3, 16, 8}));
  EXPECT_EQ(shape_of(model, 1), (Shape{4, 2}));
  Model named = make_prepared_model();
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
  Model model = make_prepared_model();
  ASSERT_TRUE(set_batch(model, 4).ok());
  EXPECT_EQ(shape_of(model, 0)[0], 4);
  EXPECT_EQ(shape_of(model, 1)[0], 4);
  Model last = make_prepared_model();
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
  Model model = make_prepared_model();
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

/// precision U8 of a model-proc: pictures go in as bytes, mean and std move into the convolution.
TEST(ModelPreparation, PicturesOfBytesAreNormalisedByTheModel) {
  Model model("sum");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, 2, 2}, Layout::Plain});
  Value* w = model.add_constant("w", Tensor::from<float>({1, 3, 1, 1}, {1, 1, 1}));
  model.add_output("y", model.add_node("conv", "Conv", "", {x, w}, {"y"})->output());
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("bytes_" + std::to_string(getpid()));
  fs::create_directories(folder);
  VisionModelSettings settings;
  settings.model = (folder / "m.onnx").string();
  settings.model_proc = (folder / "m.json").string();
  settings.device = "REF";
  settings.raw_tensors = true;
  ASSERT_TRUE(write_onnx(model, settings.model).ok());
  std::ofstream(settings.model_proc)
      << R"({"json_schema_version": "2.2.0", "output_postproc": [], "input_preproc": [{
             "format": "image", "precision": "U8",
             "params": {"mean": [10, 20, 30], "std": [2, 2, 2]}}]})";
  const std::shared_ptr<Core> core = het::core();
  const auto vision = VisionModel::load(*core, settings);
  fs::remove_all(folder);
  ASSERT_TRUE(vision) << vision.error().message();
  const Port& port = (*vision)->compiled().inputs()[0];
  EXPECT_EQ(port.desc.type, ElementType::UInt8);
  EXPECT_EQ(*port.preprocess, PreprocessDesc{});
  const auto request = (*vision)->compiled().create_infer_request();
  ASSERT_TRUE(request);
  const auto buffer = allocate_host_buffer(12);
  ASSERT_TRUE(buffer);
  std::memset((*buffer)->host(), 100, 12);
  const auto image = make_host_image(PixelFormat::BGR, 2, 2, *buffer);
  ASSERT_TRUE(image) << image.error().message();
  ASSERT_TRUE((*vision)->set_picture(**request, *image, image->full()).ok());
  ASSERT_TRUE((*request)->infer().ok());
  // (100 - 10) / 2 + (100 - 20) / 2 + (100 - 30) / 2
  EXPECT_EQ(*to_float_vector((*request)->output(0)), (std::vector<float>{120, 120, 120, 120}));
}

}  // namespace
}  // namespace het
