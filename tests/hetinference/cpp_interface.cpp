// The C++ header over the C interface, and what of the interface needs models of its own.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
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

/// swish(x) with runtime information, then exp: three nodes of two layers.
test::IrFile swish_and_exp() {
  test::IrFile ir;
  const test::IrType type{"FP32", {1, 4}};
  const auto x = ir.parameter("x", "f32", {1, 4}, "x");
  const auto swish = ir.layer("Swish", "opset4", "", {x}, {type}, "act",
                              "<rt_info><attribute name=\"fused_names\" version=\"0\" "
                              "value=\"a,b\"/></rt_info>");
  ir.result(ir.layer("Exp", "opset1", "", {swish}, {{"FP32", {1, 4}, "y"}}, "exp"));
  return ir;
}

std::map<std::string, std::string> affinities(const hetinference::Model& model) {
  std::map<std::string, std::string> all;
  for (const auto& node : model.nodes()) all[node.friendly_name()] = node.affinity();
  return all;
}

std::vector<std::string> devices_of(const hetinference::CompiledModel& compiled) {
  std::vector<std::string> devices;
  for (const auto& subgraph : compiled.subgraphs()) devices.push_back(subgraph.device);
  return devices;
}

TEST(CppInterface, WalksNodes) {
  const ModelFile file(swish_and_exp());
  Core core;
  auto model = core.read_model(file.path());
  auto nodes = model.nodes();
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].friendly_name(), "act/Sigmoid");
  EXPECT_EQ(nodes[0].type_name(), "Sigmoid");
  EXPECT_EQ(nodes[0].domain(), "");
  ASSERT_EQ(nodes[0].inputs().size(), 1u);
  const HetValue input = nodes[0].inputs()[0];
  EXPECT_EQ(input.kind, HET_VALUE_INPUT);
  EXPECT_STREQ(input.name, "x");
  EXPECT_EQ(input.type, HET_TYPE_FLOAT32);
  EXPECT_EQ(std::vector<int64_t>(input.shape, input.shape + input.rank),
            (std::vector<int64_t>{1, 4}));
  // act = x * sigmoid(x)
  EXPECT_EQ(nodes[1].type_name(), "Mul");
  for (const HetValue& value : nodes[1].inputs()) {
    if (value.kind == HET_VALUE_INPUT) continue;
    EXPECT_EQ(value.kind, HET_VALUE_NODE);
    EXPECT_EQ(value.node, nodes[0].index());
    EXPECT_EQ(value.output, 0u);
  }
  EXPECT_EQ(nodes[2].outputs().at(0).node, 2u);
  EXPECT_EQ(model.node("exp").index(), 2u);
  ASSERT_EQ(model.inputs().size(), 1u);
  EXPECT_STREQ(model.inputs()[0].name, "x");
  ASSERT_EQ(model.outputs().size(), 1u);
  EXPECT_STREQ(model.outputs()[0].name, "y");
  try {
    model.node("exq");
    ADD_FAILURE() << "there is no such node";
  } catch (const hetinference::Error& error) {
    EXPECT_EQ(error.status(), HET_NOT_FOUND);
    EXPECT_NE(std::string(error.what()).find("the nearest names are 'exp'"), std::string::npos)
        << error.what();
  }
  auto node = make_struct<HetNode>();
  EXPECT_EQ(het_model_node(model.get(), 3, &node), HET_NOT_FOUND);
  auto value = make_struct<HetValue>();
  EXPECT_EQ(het_model_node_input(model.get(), 0, 1, &value), HET_NOT_FOUND);
  EXPECT_EQ(het_model_node_output(model.get(), 0, 1, &value), HET_NOT_FOUND);
  node.struct_size = 8;
  EXPECT_EQ(het_model_node(model.get(), 0, &node), HET_INVALID_ARGUMENT);
}

TEST(CppInterface, RuntimeInformationIsReadAndSet) {
  const ModelFile file(swish_and_exp());
  Core core;
  auto model = core.read_model(file.path());
  using Info = std::map<std::string, std::string>;
  EXPECT_EQ(model.node("act").rt_info(), (Info{{"fused_names", "a,b"}}));
  EXPECT_EQ(model.node("act/Sigmoid").rt_info(), (Info{{"fused_names", "a,b"}}));
  EXPECT_EQ(model.node("exp").rt_info(), Info());
  auto act = model.node("act");
  act.set_rt_info("affinity", "REF");
  act.set_rt_info("note", "mine");
  EXPECT_EQ(act.affinity(), "REF");
  EXPECT_EQ(act.rt_info(), (Info{{"affinity", "REF"}, {"fused_names", "a,b"}, {"note", "mine"}}));
  EXPECT_EQ(model.node("act/Sigmoid").affinity(), "") << "nodes of a layer do not share it";
  act.set_rt_info("note", "");
  EXPECT_EQ(act.rt_info().size(), 2u);
  EXPECT_EQ(het_model_set_node_rt_info(model.get(), 0, "", "x"), HET_INVALID_ARGUMENT);
  EXPECT_EQ(het_model_set_node_rt_info(model.get(), 9, "a", "x"), HET_NOT_FOUND);
}

/// The guide's three modes: automatic, manual, combined.
TEST(CppInterface, AffinitiesDecideWhereNodesRun) {
  const ModelFile file(swish_and_exp());
  Core core;
  const char* device = "HETERO:CPU,REF";
  const auto compiled = [&](const hetinference::Model& model) {
    return core.compile_model(model, device);
  };
  EXPECT_EQ(devices_of(compiled(core.read_model(file.path()))), std::vector<std::string>{"CPU"});

  auto manual = core.read_model(file.path());
  for (auto node : manual.nodes()) node.set_affinity("REF");
  EXPECT_EQ(devices_of(compiled(manual)), std::vector<std::string>{"REF"});

  auto combined = core.read_model(file.path());
  auto devices = core.query_model(combined, device).devices();
  EXPECT_EQ(devices, (std::map<std::string, std::string>{
                         {"act", "CPU"}, {"act/Sigmoid", "CPU"}, {"exp", "CPU"}}));
  devices["exp"] = "REF";
  combined.set_affinities(devices);
  auto model = compiled(combined);
  const auto subgraphs = model.subgraphs();
  ASSERT_EQ(subgraphs.size(), 2u);
  EXPECT_EQ(subgraphs[0].device, "CPU");
  EXPECT_EQ(subgraphs[0].inputs, std::vector<std::string>{"x"});
  EXPECT_NE(std::ranges::find(subgraphs[0].nodes, "act"), subgraphs[0].nodes.end());
  EXPECT_EQ(subgraphs[1].device, "REF");
  EXPECT_EQ(subgraphs[1].nodes, std::vector<std::string>{"exp"});
  EXPECT_EQ(subgraphs[1].inputs, subgraphs[0].outputs);
  EXPECT_EQ(subgraphs[1].outputs, std::vector<std::string>{"y"});
  EXPECT_EQ(subgraphs[1].dependencies, std::vector<size_t>{0});
  EXPECT_TRUE(core.compile_model(combined, "CPU").subgraphs().empty()) << "it is not split";

  // Exported and imported, the parts have their names.
  const std::string blob = file.path() + ".blob";
  EXPECT_NO_THROW(hetinference::check(het_compiled_model_export(
      core.compile_model(core.read_model(file.path()), "HETERO:CPU").get(), blob.c_str())));
  HetCompiledModel* imported = nullptr;
  hetinference::check(
      het_core_import_model(core.get(), blob.c_str(), "HETERO", nullptr, 0, &imported));
  const auto again = hetinference::CompiledModel(imported).subgraphs();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_NE(std::ranges::find(again[0].nodes, "exp"), again[0].nodes.end());
}

TEST(CppInterface, AffinitiesByName) {
  const ModelFile file(swish_and_exp());
  Core core;
  auto model = core.read_model(file.path());
  using Map = std::map<std::string, std::string>;
  model.set_affinities({{"act", "REF"}});
  EXPECT_EQ(affinities(model), (Map{{"act", "REF"}, {"act/Sigmoid", "REF"}, {"exp", ""}}))
      << "a layer's name means all that it became";
  model.set_affinities({{"act", "CPU"}, {"act/Sigmoid", ""}});
  EXPECT_EQ(affinities(model), (Map{{"act", "CPU"}, {"act/Sigmoid", ""}, {"exp", ""}}));
  try {
    model.set_affinities({{"exp", "CPU"}, {"act/Sigmoit", "CPU"}});
    ADD_FAILURE() << "there is no such node";
  } catch (const hetinference::Error& error) {
    EXPECT_EQ(error.status(), HET_NOT_FOUND);
    EXPECT_NE(std::string(error.what()).find("'act/Sigmoid'"), std::string::npos) << error.what();
  }
  EXPECT_EQ(model.node("exp").affinity(), "") << "nothing changed";
  model.set_affinities({{"exp", "NPU"}});
  try {
    core.compile_model(model, "HETERO:CPU,REF");
    ADD_FAILURE() << "there is no such device";
  } catch (const hetinference::Error& error) {
    EXPECT_NE(std::string(error.what()).find("node 'exp'"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("'NPU'"), std::string::npos) << error.what();
  }
  EXPECT_EQ(het_model_set_affinities(model.get(), nullptr, 1), HET_INVALID_ARGUMENT);
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
