#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/openvino_ir/ir_file.h"

/// Names, types of constants, metadata and affinities.
namespace het {
namespace {

using test::evaluate_file;
using test::IrFile;
using test::IrPort;
using ::testing::ElementsAre;

std::unique_ptr<Model> read(const IrFile& file) {
  auto model = file.read();
  EXPECT_TRUE(model) << model.error().message();
  return model ? std::move(*model) : nullptr;
}

TEST(IrGraph, Version11TakesTheFirstTensorName) {
  IrFile file;
  const IrPort x = file.parameter("layer_x", "f32", {2}, "input:0,input");
  file.result(file.layer("ReLU", "opset1", "", {x}, {{"FP32", {2}, "z\\,1,y"}}, "layer_y"));
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->inputs()[0].value->name(), "input");
  EXPECT_EQ(model->outputs()[0].name, "y");
}

TEST(IrGraph, WithoutTensorNamesTheLayerBeforeTheResultNamesTheOutput) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {4});
  const IrPort axis = file.integer(0);
  const IrPort parts = file.layer("Split", "opset1", "num_splits=\"2\"", {x, axis},
                                  {{"FP32", {2}}, {"FP32", {2}}}, "halves");
  file.result({parts.layer, 1});
  file.result({parts.layer, 0});
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  // The order of the Result layers, not of the ports.
  EXPECT_EQ(model->outputs()[0].name, "halves.1");
  EXPECT_EQ(model->outputs()[1].name, "halves.0");
}

TEST(IrGraph, Version10LayerNamesAreTensorNames) {
  IrFile file(10);
  const IrPort x = file.parameter("data", "f32", {2}, "zeta");
  file.result(file.layer("ReLU", "opset1", "", {x}, {{"FP32", {2}, "out"}}, "relu"));
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->inputs()[0].value->name(), "data");
  EXPECT_EQ(model->outputs()[0].name, "out");
}

TEST(IrGraph, HalfPrecisionOfVersion10IsFloat) {
  IrFile file(10);
  const IrPort x = file.parameter("x", "f16", {2});
  const IrPort c = file.constant<uint16_t>("f16", {2}, {0x3c00, 0xc000});  // 1, -2
  file.result(file.layer("Add", "opset1", "", {x, c}, {{"FP16", {2}}}));
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->inputs()[0].value->desc().type, ElementType::Float32);
  const auto out = evaluate_file(file, {Tensor::from<float>({2}, {0.1f, 5.0f})});
  ASSERT_EQ(out.size(), 1u);
  EXPECT_THAT(*to_float_vector(out[0]), ElementsAre(1.1f, 3.0f));
}

/// Convert of a constant to f32.
std::vector<float> converted(const std::string& type, const Shape& shape,
                             const std::vector<uint8_t>& bytes) {
  IrFile file;
  const IrPort c = file.constant<uint8_t>(type, shape, bytes);
  file.result(file.layer("Convert", "opset1", "destination_type=\"f32\"", {c}, {{"FP32", shape}}));
  const auto out = evaluate_file(file, {});
  return out.empty() ? std::vector<float>() : *to_float_vector(out[0]);
}

TEST(IrGraph, TypesOfConstants) {
  EXPECT_THAT(converted("u8", {2}, {3, 255}), ElementsAre(3, 255));
  EXPECT_THAT(converted("i8", {2}, {3, 255}), ElementsAre(3, -1));
  // The first element is in the low half of the byte; the last byte is padded.
  EXPECT_THAT(converted("i4", {3}, {0xf1, 0x08}), ElementsAre(1, -1, -8));
  EXPECT_THAT(converted("u4", {3}, {0xf1, 0x08}), ElementsAre(1, 15, 8));
  EXPECT_THAT(converted("boolean", {3}, {0, 1, 7}), ElementsAre(0, 1, 1));
  // The first element is the highest bit.
  EXPECT_THAT(converted("u1", {10}, {0xa0, 0x40}), ElementsAre(1, 0, 1, 0, 0, 0, 0, 0, 0, 1));
  EXPECT_THAT(converted("bf16", {1}, {0xc0, 0x3f}), ElementsAre(1.5f));
  EXPECT_THAT(converted("f16", {1}, {0x00, 0x3e}), ElementsAre(1.5f));
  EXPECT_THAT(converted("f64", {1}, {0, 0, 0, 0, 0, 0, 0xf8, 0x3f}), ElementsAre(1.5f));
  EXPECT_THAT(converted("i16", {1}, {0xfe, 0xff}), ElementsAre(-2));
}

TEST(IrGraph, ConstantsWithoutElementsAreEmptyTensors) {
  const auto shape_of = [](const std::string& type, size_t bytes) -> Shape {
    const std::string data = "element_type=\"" + type +
                             "\" shape=\"0, 3, 17\" offset=\"0\" size=\"" + std::to_string(bytes) +
                             "\"";
    IrFile file;
    file.result(file.layer("Const", "opset1", data, {}, {{"FP32", {0, 3, 17}}}, "c"));
    const auto model = IrFile::read_xml(file.xml(), std::string(8, 'x'));
    if (!model) return {};
    return (*model)->outputs()[0].value->constant().shape();
  };
  for (const char* type : {"f32", "i64", "u8", "boolean", "i4", "u1", "nf4"}) {
    // OpenVINO writes one byte.
    EXPECT_EQ(shape_of(type, 1), (Shape{0, 3, 17})) << type;
    EXPECT_EQ(shape_of(type, 0), (Shape{0, 3, 17})) << type;
    EXPECT_EQ(shape_of(type, 8), Shape{}) << type;
  }
}

TEST(IrGraph, DecompressedWeightsFold) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1});
  const IrPort c = file.constant<uint16_t>("f16", {1}, {0x3e00});
  const IrPort wide =
      file.layer("Convert", "opset1", "destination_type=\"f32\"", {c}, {{"FP32", {1}}}, "w",
                 "<rt_info><attribute name=\"decompression\" version=\"0\"/></rt_info>");
  file.result(file.layer("Multiply", "opset1", "", {x, wide}, {{"FP32", {1}}}, "y"));
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  ASSERT_TRUE(prepare_model(*model).ok());
  ASSERT_EQ(model->nodes().size(), 1u);
  EXPECT_EQ(model->nodes()[0]->op_type(), "Mul");
  EXPECT_EQ(model->nodes()[0]->input(1)->constant().values<float>()[0], 1.5f);
}

TEST(IrGraph, AnUnsupportedConstantIsANodeWithTheReason) {
  IrFile file;
  const IrPort c = file.constant<uint8_t>("u3", {2}, {0});
  file.result(file.layer("Convert", "opset1", "destination_type=\"f32\"", {c}, {{"FP32", {2}}}));
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  const Node* node = model->find_node("Const_0");
  ASSERT_NE(node, nullptr);
  EXPECT_NE(node->unsupported_reason().find("'u3'"), std::string::npos);
}

TEST(IrGraph, RtInfoBecomesMetadata) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1});
  file.result(x);
  file.tail(
      "<rt_info><MO_version value=\"2024.1\"/><model_info><model_type value=\"ssd\"/>"
      "<labels value=\"cat dog\"/><resize><type "
      "value=\"standard\"/></resize></model_info></rt_info>");
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->metadata().at("model_info/model_type"), "ssd");
  EXPECT_EQ(model->metadata().at("model_info/labels"), "cat dog");
  EXPECT_EQ(model->metadata().at("model_info/resize/type"), "standard");
  EXPECT_EQ(model->metadata().at("MO_version"), "2024.1");
}

TEST(IrGraph, LayoutOfAnInputIsMetadata) {
  const std::string xml =
      "<net name=\"n\" version=\"11\"><layers><layer id=\"0\" name=\"x\" type=\"Parameter\" "
      "version=\"opset1\"><data shape=\"1,?,2..4\" element_type=\"f32\"/><output><port id=\"0\" "
      "precision=\"FP32\" names=\"x\"><dim>1</dim><dim>-1</dim><dim>-1</dim><rt_info><attribute "
      "name=\"layout\" version=\"0\" layout=\"[N,H,W]\"/></rt_info></port></output></layer><layer "
      "id=\"1\" name=\"r\" type=\"Result\" version=\"opset1\"><input><port id=\"0\"/></input>"
      "</layer></layers><edges><edge from-layer=\"0\" from-port=\"0\" to-layer=\"1\" "
      "to-port=\"0\"/></edges></net>";
  const auto model = IrFile::read_xml(xml);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->metadata().at("layout/x"), "[N,H,W]");
  EXPECT_EQ((*model)->inputs()[0].value->desc().shape, (Shape{1, kUnknownDim, kUnknownDim}));
}

TEST(IrGraph, AffinityReachesEveryNodeOfTheLayer) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {2});
  file.result(
      file.layer("Swish", "opset4", "", {x}, {{"FP32", {2}}}, "act",
                 "<rt_info><attribute name=\"affinity\" version=\"0\" value=\"GPU\"/></rt_info>"));
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  ASSERT_EQ(model->nodes().size(), 2u);
  for (const auto& node : model->nodes()) EXPECT_EQ(node->affinity(), "GPU") << node->name();
  EXPECT_EQ(model->nodes()[0]->name(), "act/Sigmoid");
  EXPECT_THAT(model->nodes()[0]->original_names(), ElementsAre("act/Sigmoid", "act"));
  EXPECT_EQ(model->nodes()[1]->name(), "act");
}

TEST(IrGraph, RuntimeInformationOfLayers) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {2});
  file.result(file.layer("ReLU", "opset1", "", {x}, {{"FP32", {2}}}, "relu",
                         "<rt_info><attribute name=\"fused_names\" version=\"0\" value=\"a,b\"/>"
                         "<attribute name=\"order\" version=\"0\" value=\"0,2\"/>"
                         "<attribute name=\"flag\" version=\"0\"/></rt_info>"));
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->nodes()[0]->rt_info(), (RtInfo{{"fused_names", "a,b"}, {"order", "0,2"}}));
  // Copies share it until one is changed.
  const auto copy = model->clone();
  copy->nodes()[0]->set_rt_info("order", "1");
  EXPECT_EQ(model->nodes()[0]->rt_info().at("order"), "0,2");
  EXPECT_EQ(copy->nodes()[0]->rt_info().at("order"), "1");
}

TEST(IrGraph, LayersMayShareAName) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {2});
  const IrPort a = file.layer("ReLU", "opset1", "", {x}, {{"FP32", {2}}}, "same");
  const IrPort b = file.layer("Abs", "opset1", "", {a}, {{"FP32", {2}}}, "same");
  file.result(a);
  file.result(b);
  const auto model = read(file);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->nodes()[1]->name(), "same_2");
  EXPECT_NE(model->outputs()[0].name, model->outputs()[1].name);
}

}  // namespace
}  // namespace het
