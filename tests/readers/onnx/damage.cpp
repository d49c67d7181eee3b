#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "inference/passes/prepare_model.h"
#include "tests/readers/onnx/onnx_file.h"

/// Damaged files must give an error or a model, never a crash or a hang. Run under a sanitizer this
/// is where it pays.
namespace het {
namespace {

using test::Attr;
using test::Graph;

std::string small_model() {
  Graph body;
  body.node("Add", {"p", "w2"}, {"b"}).output("b");
  Graph graph;
  graph.input("x", {{1, 3, 8, 8}})
      .input("c", {std::vector<int64_t>{}}, test::kBool)
      .initializer(test::float_tensor("w", {2, 3, 1, 1}, {1, 2, 3, 4, 5, 6}))
      .initializer(test::int32_data_tensor("w2", test::kFloat16, {1}, {0x3c00}))
      .initializer(test::int64_tensor("shape", {2}, {1, -1}))
      .node("Conv", {"x", "w"}, {"y"}, {Attr("strides", std::vector<int64_t>{2, 2})})
      .node("Clip", {"y"}, {"z"}, {Attr("min", 0.0f), Attr("max", 6.0f)})
      .node("Softmax", {"z"}, {"s"}, {Attr("axis", 1)})
      .node("Upsample", {"s"}, {"u"},
            {Attr("mode", "nearest"), Attr("scales", std::vector<float>{1, 1, 2, 2})})
      .node("Constant", {}, {"k"}, {Attr::tensor("value", test::int64_tensor("", {1}, {0}))})
      .node("ReduceMean", {"u"}, {"r"}, {Attr("axes", std::vector<int64_t>{2, 3})})
      .node("Reshape", {"r", "shape"}, {"p"})
      .node("If", {"c"}, {"o"}, {Attr::graph("then_branch", body.bytes())})
      .output("p")
      .output("o");
  return test::model_file(graph.bytes(), 9);
}

/// Everything that happens to a file on the way to a device.
void load(const std::string& file) {
  auto model = test::read(file);
  if (!model) {
    EXPECT_FALSE(model.error().message().empty());
    return;
  }
  (void)prepare_model_for_query(**model);
}

TEST(OnnxDamage, TheModelItselfIsFine) {
  const auto model = test::read(small_model());
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_GT((*model)->nodes().size(), 7u);
}

TEST(OnnxDamage, NodesWithoutOutputs) {
  for (const char* type : {"Identity", "Shape", "Size", "Dropout", "Concat", "Transpose", "Cast",
                           "Reshape", "CastLike", "Constant", "Split", "If", "Loop", "Relu"}) {
    SCOPED_TRACE(type);
    Graph graph;
    graph.input("x", {{2, 3}}).node(type, {"x", "x"}, {}).node("Relu", {"x"}, {"y"}).output("y");
    load(test::model_file(graph.bytes()));
  }
}

TEST(OnnxDamage, EveryPrefix) {
  const std::string file = small_model();
  size_t truncated = 0;
  for (size_t size = 0; size < file.size(); ++size) {
    const auto model = test::read(file.substr(0, size));
    if (model) continue;
    EXPECT_NE(model.error().message().find("test.onnx"), std::string::npos);
    truncated += model.error().message().find("truncated") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(truncated, file.size() / 2);
}

TEST(OnnxDamage, TruncatedFileNamesItselfAndThePlace) {
  const auto path = std::filesystem::temp_directory_path() /
                    ("onnx_damage_" + std::to_string(getpid()) + ".onnx");
  const std::string file = small_model();
  std::ofstream(path, std::ios::binary) << file.substr(0, file.size() / 2);
  const auto model = read_onnx(path.string());
  std::filesystem::remove(path);
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().code(), StatusCode::ParseError);
  for (const std::string& part : {path.string(), std::string("truncated"), std::string("graph")}) {
    EXPECT_NE(model.error().message().find(part), std::string::npos) << model.error().message();
  }
}

TEST(OnnxDamage, RandomBytes) {
  const std::string file = small_model();
  constexpr unsigned kSeed = 20261121;
  std::mt19937 random(kSeed);
  for (int variant = 0; variant < 3000; ++variant) {
    std::string damaged = file;
    const size_t changes = 1 + random() % 4;
    for (size_t i = 0; i < changes; ++i) {
      const size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0:
          damaged[at] = static_cast<char>(random());
          break;
        case 1:
          damaged[at] = static_cast<char>(damaged[at] ^ (1u << (random() % 8)));
          break;
        case 2:
          damaged.erase(at, 1 + random() % 8);
          break;
        default:
          damaged.insert(at, 1 + random() % 8, static_cast<char>(random()));
      }
      if (damaged.empty()) damaged = "x";
    }
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", variant " << variant);
    load(damaged);
  }
}

TEST(OnnxDamage, SharedModels) {
  const char* shared = std::getenv("HET_SHARED_DATA");
  const std::filesystem::path path =
      std::filesystem::path(shared ? shared : "") / "models/onnx/mnist-8.onnx";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "needs " << path;
  std::ifstream stream(path, std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(stream)), {});
  std::mt19937 random(7);
  for (int variant = 0; variant < 400; ++variant) {
    std::string damaged = file;
    for (int i = 0; i < 3; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    load(damaged);
  }
}

}  // namespace
}  // namespace het
