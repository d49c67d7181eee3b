#include "inference/writers/onnx_writer.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "inference/model/model_equal.h"
#include "inference/passes/print_model.h"
#include "inference/readers/openvino_ir_reader.h"
#include "tests/readers/onnx/onnx_file.h"

namespace het {
namespace {

namespace fs = std::filesystem;
using test::Attr;
using test::Graph;

const TensorDesc kPair{ElementType::Float32, {2}, Layout::Plain};

/// Writes and reads back; the test fails where that is not possible.
std::unique_ptr<Model> round_trip(const Model& model) {
  const auto bytes = write_onnx_bytes(model);
  EXPECT_TRUE(bytes) << bytes.error().message();
  if (!bytes) return std::make_unique<Model>("not written");
  auto copy = test::read(*bytes);
  EXPECT_TRUE(copy) << copy.error().message();
  return copy ? std::move(*copy) : std::make_unique<Model>("not read");
}

TEST(OnnxWriter, KeepsEveryKindOfAttribute) {
  Model model("kinds");
  model.metadata()["author"] = "somebody";
  Value* x = model.add_input("x", kPair);
  Attributes attributes;
  attributes.set("int", int64_t{-7});
  attributes.set("float", std::bit_cast<float>(0x7fc12345u));  // a NaN with a payload
  attributes.set("text", std::string("a\0b", 3));
  attributes.set("ints", std::vector<int64_t>{INT64_MIN, 0, INT64_MAX});
  attributes.set("no_ints", std::vector<int64_t>{});
  attributes.set("floats", std::vector<float>{-0.0f, std::bit_cast<float>(0xff812345u)});
  attributes.set("texts", std::vector<std::string>{"", "one"});
  attributes.set("tensor", Tensor::from<int16_t>({2}, {-1, 2}));
  Node* node = model.add_node("n", "Anything", "my.domain", {nullptr, x}, {"y"}, attributes);
  model.add_output("y", node->output());
  node->set_affinity("GPU");
  node->set_rt_info("namespace", "a/b\n\"c\"");
  const auto copy = round_trip(model);
  EXPECT_EQ(model_difference(model, *copy), "");
  EXPECT_EQ(copy->nodes()[0]->affinity(), "GPU");
  EXPECT_EQ(copy->nodes()[0]->rt_info().at("namespace"), "a/b\n\"c\"");
  EXPECT_EQ(std::bit_cast<uint32_t>(copy->nodes()[0]->attributes().get_float("float", 0.0f)),
            0x7fc12345u);
}

TEST(OnnxWriter, KeepsEveryElementType) {
  for (auto type = static_cast<uint8_t>(ElementType::Bool);
       type <= static_cast<uint8_t>(ElementType::Float64); ++type) {
    for (const int64_t count : {0, 1, 5, 16}) {
      Model model("types");
      auto tensor = Tensor::allocate({static_cast<ElementType>(type), {count}, Layout::Plain});
      ASSERT_TRUE(tensor);
      const bool is_bool = static_cast<ElementType>(type) == ElementType::Bool;
      for (size_t i = 0; i < tensor->size_bytes(); ++i) {
        tensor->bytes()[i] = static_cast<std::byte>(is_bool ? i % 2 : 37 * i + 11);
      }
      model.add_output("c", model.add_constant("c", *tensor));
      EXPECT_EQ(model_difference(model, *round_trip(model)), "")
          << to_string(static_cast<ElementType>(type)) << " x " << count;
    }
  }
}

TEST(OnnxWriter, StridedConstantsBecomeDense) {
  Model model;
  std::vector<float> values{1, 9, 2, 9, 3, 9};
  const auto tensor = Tensor::wrap({ElementType::Float32, {3}, Layout::Plain}, values.data(),
                                   values.size() * sizeof(float), {}, {8});
  ASSERT_TRUE(tensor);
  model.add_output("c", model.add_constant("c", *tensor));
  const auto copy = round_trip(model);
  EXPECT_EQ(*to_float_vector(copy->outputs()[0].value->constant()), (std::vector<float>{1, 2, 3}));
}

TEST(OnnxWriter, KeepsWhatOnnxCannotSay) {
  Model model("wishes");
  Value* x = model.add_input("x", {ElementType::Float32, {kUnknownDim, 3, 8, 8}, Layout::NCHW});
  PreprocessDesc preprocess;
  preprocess.resize = ResizeMode::LetterboxTopLeft;
  preprocess.color_order = ColorOrder::RGB;
  preprocess.range_high = 1.0f;
  preprocess.mean = {0.485f, 0.456f, 0.406f};
  preprocess.std = {0.1f, 1.0f / 3.0f, 1e-7f};
  model.set_preprocess(0, preprocess);
  model.set_dim_names(0, {"batch", "", "", ""});
  Node* relu = model.add_node("relu", "Relu", "", {x}, {"r"});
  relu->set_affinity("GPU.1");
  relu->add_original_names({"bias\nwith a line", "back\\slash"});
  Node* odd = model.add_node("odd", "Relu", "", {relu->output()}, {"o"});
  model.mark_unsupported(odd, "input 1 is a string tensor");
  model.add_output("first", odd->output());
  model.add_output("o", odd->output());
  model.add_output("o", relu->output());  // twice the same name, another value
  model.add_output("x", relu->output());  // the name of an input
  const auto copy = round_trip(model);
  EXPECT_EQ(model_difference(model, *copy), "");
  EXPECT_EQ(copy->inputs()[0].preprocess, preprocess);
  EXPECT_EQ(copy->nodes()[0]->affinity(), "GPU.1");
  EXPECT_EQ(copy->nodes()[1]->unsupported_reason(), "input 1 is a string tensor");
  EXPECT_EQ(copy->nodes().size(), 2u);  // no Identity is left
}

/// If whose branches read `x` and the constant `w` of the outer graph, one of them two levels deep.
Graph& add_conditional(Graph& graph) {
  Graph inner_then;
  inner_then.node("Add", {"x", "w"}, {"deep"}).output("deep");
  Graph inner_else;
  inner_else.node("Relu", {"local"}, {"deep2"}).output("deep2");
  Graph then_branch;
  then_branch.node("Mul", {"x", "w"}, {"local"})
      .node("If", {"c"}, {"t"},
            {Attr::graph("then_branch", inner_then.bytes()),
             Attr::graph("else_branch", inner_else.bytes())})
      .output("t");
  Graph else_branch;
  else_branch.initializer(test::float_tensor("own", {2}, {3, 4}))
      .node("Sub", {"x", "own"}, {"e"})
      .output("e");
  return graph.node("If", {"c"}, {"y"},
                    {Attr::graph("then_branch", then_branch.bytes()),
                     Attr::graph("else_branch", else_branch.bytes())});
}

TEST(OnnxWriter, BodiesReadOuterValuesByName) {
  Graph graph;
  graph.input("x", {{2}}).input("c", {std::vector<int64_t>{}}, test::kBool);
  graph.initializer(test::float_tensor("w", {2}, {0.5f, 1234.5f}));
  add_conditional(graph).output("y");
  const auto model = test::read(graph);
  ASSERT_TRUE(model) << model.error().message();
  const auto copy = round_trip(**model);
  EXPECT_EQ(model_difference(**model, *copy), "");
  EXPECT_EQ(print_model(**model), print_model(*copy));
  // The weights of `w` stand in the file once, although three graphs read it.
  const std::string bytes = *write_onnx_bytes(**model);
  const std::string content = test::bytes_of<float>({0.5f, 1234.5f});
  const size_t first = bytes.find(content);
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(bytes.find(content, first + 1), std::string::npos);
}

TEST(OnnxWriter, ValuesOfABodyGetNamesThatNoOuterValueHas) {
  auto body = std::make_shared<Model>("body");
  Value* shadow = body->add_constant("w", Tensor::from<float>({2}, {7, 8}));
  Value* y = body->add_node("id", "Neg", "", {shadow}, {"x"})->output();
  body->add_output("x", y);
  Model model;
  model.add_input("x", kPair);
  Value* c = model.add_input("c", {ElementType::Bool, {}, Layout::Plain});
  model.add_output("w", model.add_constant("w", Tensor::from<float>({2}, {5, 6})));
  Attributes branches;
  branches.set("then_branch", body);
  branches.set("else_branch", body);
  model.add_output("z", model.add_node("if", "If", "", {c}, {"z"}, branches)->output());
  const auto copy = round_trip(model);
  const auto* read = copy->nodes()[0]->attributes().find("then_branch");
  const Model& read_body = *std::get<std::shared_ptr<Model>>(*read);
  ASSERT_EQ(read_body.nodes().size(), 1u);
  EXPECT_EQ(*to_float_vector(read_body.nodes()[0]->input(0)->constant()),
            (std::vector<float>{7, 8}));
  EXPECT_TRUE(read_body.inputs().empty());
}

TEST(OnnxWriter, NodesAreSortedAndCyclesRefused) {
  Model model("late");
  Value* x = model.add_input("x", kPair);
  Node* late = model.add_node("late", "Relu", "", {x}, {"y"});
  Node* early = model.add_node("early", "Neg", "", {x}, {"m"});
  model.set_input(late, 0, early->output());
  model.add_output("y", late->output());
  EXPECT_EQ(round_trip(model)->nodes()[0]->name(), "early");
  model.set_input(early, 0, late->output());
  const auto bytes = write_onnx_bytes(model);
  ASSERT_FALSE(bytes);
  EXPECT_NE(bytes.error().message().find("cannot write model 'late' as ONNX"), std::string::npos);
  EXPECT_NE(bytes.error().message().find("cycle"), std::string::npos);
}

TEST(OnnxWriter, DeclaresOutputsAsFarAsTheyFollowFromTheInputs) {
  Model model;
  Value* x = model.add_input("x", {ElementType::Float32, {kUnknownDim, 4}, Layout::Plain});
  model.add_output("y", model.add_node("relu", "Relu", "", {x}, {"y"})->output());
  const std::string bytes = *write_onnx_bytes(model);
  // The output's ValueInfoProto: its name, then float of shape [unnamed, 4].
  const std::string wanted("\x0a\x01y\x12\x0c\x0a\x0a\x08\x01\x12\x06\x0a\x00\x0a\x02\x08\x04", 17);
  EXPECT_NE(bytes.find(wanted), std::string::npos);
}

/// Bad metadata of an untrusted file is an error, not a crash.
TEST(OnnxWriter, DamagedMetadataIsAParseError) {
  Model model;
  model.add_output("x", model.add_input("x", {ElementType::Float32, {1, 3, 4, 4}, Layout::NCHW}));
  model.set_preprocess(0, PreprocessDesc{});
  const std::string bytes = *write_onnx_bytes(model);
  for (const auto& [from, to] : {std::pair{"stretch", "stritch"},
                                 {"\"mean\"", "\"meen\""},
                                 {"[0.0,255.0]", "[0.0,2e999]"},
                                 {"{\"", "[[["}}) {
    std::string damaged = bytes;
    const size_t at = damaged.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    damaged.replace(at, std::strlen(to), to);
    const auto read = test::read(damaged);
    ASSERT_FALSE(read) << from;
    EXPECT_EQ(read.error().code(), StatusCode::ParseError) << read.error().message();
  }
}

class OnnxWriterFiles : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("onnx_writer_" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::unique_ptr<Model> make_model() {
    auto model = std::make_unique<Model>("weights");
    const std::vector<float> values(400, 1.25f);
    Value* big = model->add_constant("big", Tensor::from<float>({400}, values));
    Value* small = model->add_constant("small", Tensor::scalar(2.0f));
    Value* other = model->add_constant("other", Tensor::from<float>({400}, values));
    Value* sum = model->add_node("sum", "Add", "", {big, small}, {"s"})->output();
    model->add_output("y", model->add_node("mul", "Mul", "", {sum, other}, {"y"})->output());
    return model;
  }

  fs::path folder_;
};

TEST_F(OnnxWriterFiles, ExternalDataLiesAlignedBesideTheModel) {
  const auto model = make_model();
  const std::string path = (folder_ / "m.onnx").string();
  OnnxWriteOptions options;
  options.external_data = true;
  ASSERT_TRUE(write_onnx(*model, path, options).ok());
  EXPECT_LT(fs::file_size(path), 1000u);
  EXPECT_EQ(fs::file_size(path + ".data"), 1600u + 1600u);  // 1600 is a multiple of 64
  const auto copy = read_onnx(path);
  ASSERT_TRUE(copy) << copy.error().message();
  EXPECT_EQ(model_difference(*model, **copy), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 2);  // nothing temporary is left
}

TEST_F(OnnxWriterFiles, TooLargeForOneFileBecomesExternal) {
  const auto model = make_model();
  const std::string path = (folder_ / "m.onnx").string();
  OnnxWriteOptions options;
  options.inline_limit_bytes = 3000;
  ASSERT_TRUE(write_onnx(*model, path, options).ok());
  EXPECT_TRUE(fs::exists(path + ".data"));
  options.inline_limit_bytes = 4000;
  ASSERT_TRUE(write_onnx(*model, (folder_ / "n.onnx").string(), options).ok());
  EXPECT_FALSE(fs::exists(folder_ / "n.onnx.data"));
}

TEST_F(OnnxWriterFiles, AModelMayBeWrittenOverItsOwnFiles) {
  const std::string path = (folder_ / "m.onnx").string();
  OnnxWriteOptions options;
  options.external_data = true;
  ASSERT_TRUE(write_onnx(*make_model(), path, options).ok());
  const auto mapped = read_onnx(path);  // its weights refer to the mapped file
  ASSERT_TRUE(mapped);
  ASSERT_TRUE(write_onnx(**mapped, path, options).ok());
  const auto again = read_onnx(path);
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(model_difference(**mapped, **again), "");
  EXPECT_EQ(model_difference(*make_model(), **again), "");
}

TEST_F(OnnxWriterFiles, AFolderThatIsNotThereIsNamed) {
  const std::string path = (folder_ / "no/such/m.onnx").string();
  for (const bool external : {false, true}) {
    OnnxWriteOptions options;
    options.external_data = external;
    const Status status = write_onnx(*make_model(), path, options);
    ASSERT_FALSE(status.ok());
    EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
  }
}

/// Every model below a folder; those that cannot be read at all are not the writer's concern.
void expect_round_trips(const fs::path& folder, size_t minimum) {
  size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const bool is_ir = entry.path().extension() == ".xml";
    if (entry.path().extension() != ".onnx" && !is_ir) continue;
    const std::string path = entry.path().string();
    const auto model = is_ir ? read_openvino_ir(path) : read_onnx(path);
    if (!model) continue;
    const auto bytes = write_onnx_bytes(**model);
    ASSERT_TRUE(bytes) << entry.path() << ": " << bytes.error().message();
    const auto copy = test::read(*bytes);
    ASSERT_TRUE(copy) << entry.path() << ": " << copy.error().message();
    EXPECT_EQ(model_difference(**model, **copy), "") << entry.path();
    EXPECT_EQ(*bytes, *write_onnx_bytes(**copy)) << entry.path();
    ++count;
  }
  EXPECT_GE(count, minimum);
}

fs::path shared_data() {
  return std::getenv("HET_SHARED_DATA") ? std::getenv("HET_SHARED_DATA") : "";
}

TEST(OnnxWriterModels, SharedModels) {
  const fs::path data = shared_data();
  if (!fs::is_directory(data / "models/onnx")) {
    GTEST_SKIP() << "needs the shared data, which is not at '" << data.string() << "'";
  }
  expect_round_trips(data / "models/onnx", 20);
  expect_round_trips(data / "models/ir", 20);
}

/// With the weights that fill_weights.py draws, one model at a time, as external data. Only the 550
/// MB of vgg16 are special: its operators are in all the others.
TEST_F(OnnxWriterFiles, SharedArchitectures) {
  const fs::path data = shared_data();
  const fs::path script = data.parent_path() / "tools/fill_weights.py";
  if (!fs::exists(script)) {
    GTEST_SKIP() << "needs the shared data, which is not at '" << data.string() << "'";
  }
  const std::string python = "/usr/bin/python3 ";
  if (std::system((python + "-c 'import numpy, onnx' 2>/dev/null").c_str()) != 0) {
    GTEST_SKIP() << "needs numpy and onnx of " << python;
  }
  OnnxWriteOptions options;
  options.external_data = true;
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(data / "architectures")) {
    const fs::path filled = folder_ / entry.path().filename();
    if (filled.stem() == "vgg16") continue;
    const std::string made = "'" + script.string() + "' '" + folder_.string() + "' " +
                             entry.path().stem().string() + " >/dev/null";
    ASSERT_EQ(std::system((python + made).c_str()), 0) << made;
    const auto model = read_onnx(filled.string());
    ASSERT_TRUE(model) << model.error().message();
    const std::string written = (folder_ / "written.onnx").string();
    const Status status = write_onnx(**model, written, options);
    ASSERT_TRUE(status.ok()) << status.message();
    const auto copy = read_onnx(written);
    ASSERT_TRUE(copy) << copy.error().message();
    EXPECT_EQ(model_difference(**model, **copy), "") << filled;
    fs::remove(filled);
    ++count;
  }
  EXPECT_GE(count, 9u);
}

TEST(OnnxWriterModels, OnnxConformanceModels) {
  const fs::path data = "/usr/share/libonnx-testdata/data";
  if (!fs::is_directory(data)) GTEST_SKIP() << "needs libonnx-testdata";
  expect_round_trips(data, 900);
}

}  // namespace
}  // namespace het
