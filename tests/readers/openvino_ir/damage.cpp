#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <span>

#include "inference/core.h"
#include "inference/readers/openvino_ir/translate.h"
#include "tests/readers/openvino_ir/ir_file.h"

/// Files that are damaged, made to do harm, or of versions that are not read: each is one clear
/// error.
namespace het {
namespace {

using test::IrFile;
using test::IrPort;
using ::testing::HasSubstr;

Status error_of(const std::string& xml, const std::string& weights = {}) {
  const auto model = IrFile::read_xml(xml, weights);
  return model ? Status() : model.error();
}

void expect_error(const std::string& xml, StatusCode code, const std::string& part,
                  const std::string& weights = {}) {
  const Status status = error_of(xml, weights);
  EXPECT_EQ(status.code(), code) << status.message();
  EXPECT_THAT(status.message(), HasSubstr(part));
  EXPECT_THAT(status.message(), HasSubstr("test.xml"));
}

/// x + constant, as text that tests damage.
IrFile sum() {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {2});
  const IrPort c = file.floats({2}, {1, 2});
  file.result(file.layer("Add", "opset1", "auto_broadcast=\"numpy\"", {x, c}, {{"FP32", {2}}}));
  return file;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TEST(IrDamage, TheUndamagedFileIsRead) {
  EXPECT_TRUE(sum().read()) << sum().read().error().message();
}

TEST(IrDamage, EntitiesAndDocumentTypesAreRefused) {
  const std::string bomb =
      "<?xml version=\"1.0\"?><!DOCTYPE net [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>"
      "<net name=\"&b;\" version=\"11\"><layers/></net>";
  expect_error(bomb, StatusCode::ParseError, "document types and entities are refused");
}

TEST(IrDamage, DepthAndCountsAreLimited) {
  std::string deep = "<net version=\"11\">";
  for (int i = 0; i < 200; ++i) deep += "<a>";
  for (int i = 0; i < 200; ++i) deep += "</a>";
  expect_error(deep + "</net>", StatusCode::OutOfMemory, "nested 97 deep, the limit is 96");
  std::string wide = "<net version=\"11\"";
  for (int i = 0; i < 600; ++i) wide += " a" + std::to_string(i) + "=\"1\"";
  expect_error(wide + "/>", StatusCode::OutOfMemory, "601 attributes, the limit is 512");
  std::string many = "<net version=\"11\">";
  for (int i = 0; i < 3'000'001; ++i) many += "<a/>";
  expect_error(many + "</net>", StatusCode::OutOfMemory, "more than 3000000 elements");
}

TEST(IrDamage, NamesOfTheWholeFileAreLimited) {
  expect_error("<net version=\"11\"><layers><layer id=\"0\" name=\"" + std::string(9000, 'n') +
                   "\" type=\"Parameter\"/></layers></net>",
               StatusCode::ParseError, "its name has 9000 bytes, the limit is 8192");
  std::string many = "<net version=\"11\"><layers>";
  for (int i = 0; i < 2100; ++i) {
    many += "<layer id=\"" + std::to_string(i) + "\" name=\"" + std::string(8000, 'n') +
            "\" type=\"Parameter\"/>";
  }
  expect_error(many + "</layers></net>", StatusCode::OutOfMemory, "names of layers and tensors");
}

TEST(IrDamage, ManyLayersOfOneNameDoNotTakeLong) {
  IrFile file;
  IrPort x = file.parameter("x", "f32", {1});
  for (int i = 0; i < 20'000; ++i) {
    x = file.layer("ReLU", "opset1", "", {x}, {{"FP32", {1}}}, "same");
  }
  file.result(x);
  EXPECT_TRUE(file.read());
}

TEST(IrDamage, MadeUpConstantsAreLimited) {
  // The bias of each cell becomes two in ONNX: 16 MiB of zeros.
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1, 1});
  for (int i = 0; i < 17; ++i) {
    const IrPort cell = file.layer("LSTMCell", "opset4", "hidden_size=\"1048576\"",
                                   {x, x, x, x, x, x}, {{"FP32", {1, 1}}, {"FP32", {1, 1}}});
    file.result(cell);
  }
  expect_error(file.xml(), StatusCode::OutOfMemory, "names of translated layers take more");
}

TEST(IrDamage, WhatIsNoXmlSaysWhere) {
  expect_error("", StatusCode::ParseError, "no XML elements");
  expect_error("<net version=\"11\"><layers>", StatusCode::ParseError, "ends inside 2 open");
  expect_error("</net>", StatusCode::ParseError, "closes an element that is not open");
  expect_error("<net version=\"11\"", StatusCode::ParseError, "does not end");
  expect_error("<net><!-- ", StatusCode::ParseError, "a comment that starts at byte 5");
  expect_error(std::string("<net\0/>", 7), StatusCode::ParseError, "byte 4 is zero");
  expect_error("<a></b>", StatusCode::ParseError, "malformed at byte");
  expect_error("<html/>", StatusCode::ParseError, "no <net> element");
}

TEST(IrDamage, OldVersionsSayWhatToDo) {
  for (const char* version : {"5", "7", "9"}) {
    expect_error(
        replaced(sum().xml(), "version=\"11\"", "version=\"" + std::string(version) + "\""),
        StatusCode::NotSupported, "IR version " + std::string(version));
  }
  expect_error(replaced(sum().xml(), "version=\"11\"", "version=\"5\""), StatusCode::NotSupported,
               "Convert the original model anew");
  expect_error(replaced(sum().xml(), "version=\"11\"", "version=\"x\""), StatusCode::ParseError,
               "not a number");
  EXPECT_TRUE(
      IrFile::read_xml(replaced(sum().xml(), "version=\"11\"", "version=\"12\""), sum().weights()));
}

TEST(IrDamage, TruncationAtEveryByteIsAnError) {
  const std::string xml = sum().xml();
  for (size_t size = 0; size < xml.size(); ++size) {
    EXPECT_FALSE(error_of(xml.substr(0, size), sum().weights()).ok()) << size;
  }
}

TEST(IrDamage, EveryByteReplacedNeverCrashes) {
  const std::string xml = sum().xml();
  const std::string weights = sum().weights();
  for (size_t i = 0; i < xml.size(); ++i) {
    for (const char c : {'<', '>', '"', '9', '-', '\0', '\xff'}) {
      std::string damaged = xml;
      damaged[i] = c;
      (void)IrFile::read_xml(damaged, weights);
    }
  }
}

TEST(IrDamage, LayersAndEdges) {
  const std::string xml = sum().xml();
  expect_error(replaced(xml, "id=\"1\" name=\"Const_1\"", "id=\"0\" name=\"Const_1\""),
               StatusCode::ParseError, "is that of another layer");
  expect_error(replaced(xml, "from-layer=\"1\"", "from-layer=\"7\""), StatusCode::ParseError,
               "has an end that is no port");
  expect_error(replaced(xml, "to-port=\"1\"", "to-port=\"0\""), StatusCode::ParseError,
               "is fed by two edges");
  expect_error(
      replaced(xml, "from-layer=\"0\" from-port=\"0\"", "from-layer=\"2\" from-port=\"2\""),
      StatusCode::ParseError, "a cycle");
  expect_error(replaced(xml, "<port id=\"1\" precision", "<port id=\"0\" precision"),
               StatusCode::ParseError, "twice the port 0");
  expect_error(replaced(xml, "<layer id=\"0\"", "<layer id=\"-3\""), StatusCode::ParseError,
               "'-3' of <layer> is not a number");
  expect_error(replaced(xml, "type=\"Result\"", "type=\"Sink\""), StatusCode::ParseError,
               "no Result", sum().weights());
  expect_error(replaced(xml, "<dim>2</dim>", "<dim>2,x</dim>"), StatusCode::ParseError,
               "'x' is not an integer");
}

TEST(IrDamage, NothingReadsAResult) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {2});
  const IrPort result = file.layer("Result", "opset1", "", {x}, {{"FP32", {2}}});
  file.result(file.layer("ReLU", "opset1", "", {result}, {{"FP32", {2}}}));
  expect_error(file.xml(), StatusCode::ParseError, "starts at a Result");
}

/// Layers of every operation that the reader knows with `inputs` floats or integers, and outputs.
void read_with_ports(size_t inputs, size_t outputs) {
  for (const ir::TranslationTable table : ir::translation_tables()) {
    for (const ir::Translation& translation : table()) {
      IrFile file;
      const IrPort x = file.parameter("x", "f32", {1, 2, 4, 4});
      const std::vector<IrPort> ports{x, file.integers({1, 1}), file.integer(1), x};
      std::vector<IrPort> given;
      for (size_t i = 0; i < inputs; ++i) given.push_back(ports[i % ports.size()]);
      const std::string type(translation.type);
      const IrPort y = file.layer(type, "opset1", "", given,
                                  std::vector<test::IrType>(outputs, {"FP32", {1, 2, 4, 4}}));
      file.result(outputs > 0 ? y : x);
      SCOPED_TRACE(type);
      auto model = file.read();
      if (model) (void)prepare_model_for_query(**model);
    }
  }
}

TEST(IrDamage, AnyNumberOfPorts) {
  for (size_t inputs = 0; inputs < 8; ++inputs) {
    for (size_t outputs = 0; outputs < 4; ++outputs) read_with_ports(inputs, outputs);
  }
}

/// Numbers at the ends of their types; the sanitizers see what overflows.
TEST(IrDamage, NumbersWithoutMeasure) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  const auto read = [](const std::string& type, const std::string& data, const Shape& x,
                       const std::vector<std::vector<int64_t>>& constants) {
    IrFile file;
    std::vector<IrPort> inputs{file.parameter("x", "i32", x)};
    for (const auto& numbers : constants) inputs.push_back(file.integers(numbers));
    file.result(file.layer(type, "opset6", data, inputs, {{"I32", x}}));
    auto model = file.read();
    if (model) (void)prepare_model_for_query(**model);
    return model ? Status() : model.error();
  };
  EXPECT_TRUE(read("Roll", "", {kMost}, {{-1, kMost - 1}, {0, 0}}).ok());
  EXPECT_TRUE(read("StridedSlice", "shrink_axis_mask=\"1\"", {2}, {{kMost}, {1}}).ok());
  EXPECT_TRUE(read("StridedSlice", "shrink_axis_mask=\"1\"", {2}, {{kLeast}, {1}}).ok());
  EXPECT_TRUE(read("MVN", "eps=\"1e30\" eps_mode=\"outside_sqrt\"", {2, 2}, {{1}}).ok());
  const std::string simple =
      "mode=\"nearest\" nearest_mode=\"simple\" shape_calculation_mode=\"sizes\" ";
  EXPECT_FALSE(
      read("Add", "auto_broadcast=\"pdpd\" axis=\"9223372036854775807\"", {2}, {{1}}).ok());
  for (const char* end : {"9223372036854775807,1", "1,1", "-1,1"}) {
    const std::string pads = fmt::format("pads_begin=\"1,1\" pads_end=\"{}\"", end);
    EXPECT_TRUE(read("Interpolate", simple + pads, {2, 2}, {{4, 4}, {1, 1}, {0, 1}}).ok());
    EXPECT_TRUE(read("Interpolate", simple + pads, {kMost, 2}, {{4, 4}, {1, 1}, {0, 1}}).ok());
  }
  EXPECT_THAT(read("Roll", "", {2}, {{1}, std::vector<int64_t>(1000, 0)}).message(),
              HasSubstr("1000 axes of an input of rank 1; at most 64 axes"));
}

TEST(IrDamage, LayersThatReadOneLargeConstantDoNotTakeLong) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {1, 2});
  const IrPort axes = file.integers(std::vector<int64_t>(500'000, 0));
  for (int i = 0; i < 3'000; ++i) {
    file.layer("Squeeze", "opset1", "", {x, axes}, {{"FP32", {2}}});
  }
  file.result(x);
  EXPECT_TRUE(file.read());
}

TEST(IrDamage, ConstantsNameTheirLayer) {
  const std::string xml = sum().xml();
  const std::string weights = sum().weights();
  expect_error(xml, StatusCode::ParseError, "layer 1 'Const_1' (Const)", weights.substr(0, 4));
  expect_error(xml, StatusCode::ParseError, "has 4 bytes: the .bin is truncated",
               weights.substr(0, 4));
  expect_error(replaced(xml, "size=\"8\"", "size=\"7\""), StatusCode::ParseError,
               "needs 8 bytes, but its size is 7", weights);
  expect_error(replaced(xml, "shape=\"2\" offset", "shape=\"4611686018427387904,4\" offset"),
               StatusCode::ParseError, "layer 1", weights);
  expect_error(replaced(xml, "offset=\"0\"", "offset=\"18446744073709551615\""),
               StatusCode::ParseError, "lies at offset", weights);
  expect_error(replaced(xml, "offset=\"0\"", "offset=\"-1\""), StatusCode::ParseError,
               "its offset is -1", weights);
  expect_error(replaced(xml, " offset=\"0\"", ""), StatusCode::ParseError, "no attribute 'offset'",
               weights);
}

TEST(IrDamage, BadAttributesNameTheirLayer) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {2});
  file.result(
      file.layer("Clamp", "opset1", "min=\"low\" max=\"6\"", {x}, {{"FP32", {2}}}, "relu6"));
  expect_error(file.xml(), StatusCode::ParseError,
               "layer 1 'relu6' (Clamp): attribute 'min': 'low' is not a number");
}

TEST(IrDamage, StringInputsAreRefused) {
  IrFile file;
  file.result(file.parameter("x", "string", {1}));
  expect_error(file.xml(), StatusCode::NotSupported, "it takes strings");
}

TEST(IrDamage, AnUnknownOperationStaysWithItsReason) {
  IrFile file;
  const IrPort x = file.parameter("x", "f32", {2});
  file.result(file.layer("Frobnicate", "extension", "knob=\"3\"", {x}, {{"FP32", {2}}}, "odd"));
  const auto model = file.read();
  ASSERT_TRUE(model) << model.error().message();
  const Node* node = (*model)->find_node("odd");
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->op(), nullptr);
  EXPECT_EQ(node->unsupported_reason(), "operation Frobnicate of extension has no translation");
}

/// Files on disk, through the core.
class IrOnDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(::testing::TempDir()) /
        ("ir_" + std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  std::filesystem::path folder_;
};

TEST_F(IrOnDisk, IsToldByItsContent) {
  const std::string path = write("model.ir", sum().xml());
  write("model.bin", sum().weights());
  Core core;
  const auto model = core.read_model(path);
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ((*model)->find_value("Const_1")->constant().values<float>()[1], 2.0f);
}

TEST_F(IrOnDisk, AMissingBinIsNamed) {
  const std::string path = write("model.xml", sum().xml());
  Core core;
  const auto model = core.read_model(path);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code(), StatusCode::NotFound);
  EXPECT_THAT(model.error().message(), HasSubstr("model.bin"));
  EXPECT_THAT(model.error().message(), HasSubstr("beside its .xml"));
}

TEST_F(IrOnDisk, TheBinIsNotTheModel) {
  Core core;
  const auto model = core.read_model(write("model.bin", sum().weights()));
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message(), HasSubstr("give the .xml beside it"));
}

TEST_F(IrOnDisk, AGitLfsPointerIsSaid) {
  const std::string path = write("model.xml", sum().xml());
  write("model.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 8\n");
  Core core;
  const auto model = core.read_model(path);
  ASSERT_FALSE(model);
  EXPECT_THAT(model.error().message(), HasSubstr("git lfs pull"));
}

TEST_F(IrOnDisk, ConstantsReferToTheMappedFile) {
  const std::string path = write("model.xml", sum().xml());
  write("model.bin", sum().weights());
  Core core;
  auto first = core.read_model(path);
  ASSERT_TRUE(first);
  const Tensor constant = (*first)->find_value("Const_1")->constant();
  // A page boundary: the content lies at offset 0 of the mapping.
  EXPECT_EQ(reinterpret_cast<uintptr_t>(constant.bytes()) % 4096, 0u);
  first->reset();
  EXPECT_EQ(constant.values<float>()[0], 1.0f);  // the tensor keeps the mapping alive
}

}  // namespace
}  // namespace het
