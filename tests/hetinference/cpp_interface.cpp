// The C++ header over the C interface, and what of the interface needs models of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "hetinference/cpp.h"
#include "tests/readers/onnx/onnx_file.h"
#include "tests/readers/openvino_ir/ir_file.h"

namespace het {
namespace {

using hetinference::Core;
using hetinference::make_struct;
using hetinference::Request;

/// An IR in a folder of its own.
class ModelFile {
 public:
  explicit ModelFile(const test::IrFile& ir) {
    std::filesystem::create_directories(folder_);
    std::ofstream(path()) << ir.xml();
    std::ofstream(folder_ / "model.bin", std::ios::binary) << ir.weights();
  }
  ~ModelFile() { std::filesystem::remove_all(folder_); }
  ModelFile(const ModelFile&) = delete;
  ModelFile& operator=(const ModelFile&) = delete;
  std::string path() const { return (folder_ / "model.xml").string(); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::temp_directory_path() / ("het-cpp-interface-" + std::to_string(getpid()));
};

/// The sum of all inputs that a stream has had.
test::IrFile running_sum() {
  test::IrFile ir;
  const test::IrType type{"FP32", {1, 1}};
  const auto x = ir.parameter("x", "f32", {1, 1}, "x");
  const std::string variable = "variable_id=\"sum\" variable_type=\"f32\" variable_shape=\"1,1\"";
  const auto old =
      ir.layer("ReadValue", "opset6", variable, {ir.floats({1, 1}, {0.0f})}, {type}, "read");
  const auto sum = ir.layer("Add", "opset1", "", {old, x}, {{"FP32", {1, 1}, "sum"}}, "add");
  ir.layer("Assign", "opset6", "variable_id=\"sum\"", {sum}, {type}, "assign");
  ir.result(sum);
  return ir;
}

float add_one(Request& request) {
  static_cast<float*>(request.tensor("x").data)[0] = 1.0f;
  request.infer();
  return static_cast<const float*>(request.tensor("sum").data)[0];
}

/// What cannot be exported leaves the file that is there.
TEST(CppInterface, AFailedExportLeavesTheOldFile) {
  test::IrFile ir;
  const auto x = ir.parameter("x", "f32", {1, 3}, "x");
  ir.result(ir.layer("ReLU", "opset1", "", {x}, {{"FP32", {1, 3}, "y"}}, "relu"));
  const ModelFile file(ir);
  Core core;
  const auto model = core.read_model(file.path());
  const std::string blob = file.path() + ".blob";
  const auto export_to = [&](const char* device, const std::string& path) {
    return het_compiled_model_export(core.compile_model(model, device).get(), path.c_str());
  };
  ASSERT_EQ(export_to("CPU", blob), HET_OK);
  const auto bytes = std::filesystem::file_size(blob);
  ASSERT_GT(bytes, 0u);
  for (const char* device : {"MULTI:CPU,REF", "AUTO:CPU", "BATCH:CPU(2)", "REF"}) {
    EXPECT_NE(export_to(device, blob), HET_OK) << device;
    EXPECT_EQ(std::filesystem::file_size(blob), bytes) << device;
  }
  // No room: what is written is not kept.
  EXPECT_NE(export_to("CPU", "/dev/full"), HET_OK);
}

TEST(CppInterface, ResetsTheStateOfOneStream) {
  const ModelFile file(running_sum());
  Core core;
  auto compiled = core.compile_model(core.read_model(file.path()), "CPU");
  auto a = compiled.create_request();
  auto b = compiled.create_request();
  a.set_stream("a");
  b.set_stream("b");
  EXPECT_EQ(add_one(a), 1.0f);
  EXPECT_EQ(add_one(a), 2.0f);
  EXPECT_EQ(add_one(b), 1.0f);
  compiled.reset_state("a");
  EXPECT_EQ(add_one(a), 1.0f);
  EXPECT_EQ(add_one(b), 2.0f) << "the other stream";
  EXPECT_EQ(het_compiled_model_reset_state(compiled.get(), nullptr), HET_INVALID_ARGUMENT);
}

TEST(CppInterface, TellsWhichDeviceRunsWhichNode) {
  test::IrFile ir;
  const test::IrType type{"FP32", {1, 4}};
  const auto x = ir.parameter("x", "f32", {1, 4}, "x");
  const auto relu = ir.layer("ReLU", "opset1", "", {x}, {type}, "relu");
  ir.result(ir.layer("Exp", "opset1", "", {relu}, {type}, "exp"));
  const ModelFile file(ir);
  Core core;
  const auto model = core.read_model(file.path());
  const auto query = core.query_model(model, "CPU");
  std::set<std::string> names;
  for (const HetNodeSupport& node : query.nodes()) {
    names.insert(node.name);
    EXPECT_STREQ(node.device, "CPU") << node.name << ": " << node.reason;
    EXPECT_STRNE(node.type, "");
  }
  EXPECT_TRUE(names.contains("relu") && names.contains("exp"));
  auto node = make_struct<HetNodeSupport>();
  EXPECT_EQ(het_model_query_node(query.get(), names.size(), &node), HET_NOT_FOUND);
  EXPECT_THROW(core.query_model(model, "NO_SUCH_DEVICE"), hetinference::Error);
}

/// y = x * w, where w is an initialiser that the file lists as an input.
TEST(CppInterface, ReadsAModelWithAnOverriddenInitialiser) {
  test::Graph graph;
  graph.input("x", {{2}})
      .input("w", {{2}})
      .initializer(test::float_tensor("w", {2}, {2, 3}))
      .node("Mul", {"x", "w"}, {"y"})
      .output("y", {{2}});
  const std::string path = std::filesystem::temp_directory_path() /
                           ("het-overridden-" + std::to_string(getpid()) + ".onnx");
  std::ofstream(path, std::ios::binary) << test::model_file(graph.bytes());
  Core core;
  const auto run = [&](const std::vector<std::string>& overridden) {
    auto compiled = core.compile_model(core.read_model(path, overridden), "CPU");
    auto request = compiled.create_request();
    for (const std::string& name : {std::string("x"), std::string("w")}) {
      if (name == "w" && overridden.empty()) continue;
      std::fill_n(static_cast<float*>(request.tensor(name).data), 2, 5.0f);
    }
    request.infer();
    const auto* y = static_cast<const float*>(request.tensor("y").data);
    return std::vector<float>(y, y + 2);
  };
  EXPECT_EQ(run({}), (std::vector<float>{10, 15}));
  EXPECT_EQ(run({"w"}), (std::vector<float>{25, 25}));
  EXPECT_THROW(core.read_model(path, {"x"}), hetinference::Error);
  HetModel* model = nullptr;
  EXPECT_EQ(het_core_read_model_overriding(core.get(), path.c_str(), nullptr, 1, &model),
            HET_INVALID_ARGUMENT);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace het
