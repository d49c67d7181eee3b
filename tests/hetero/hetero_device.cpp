#include "hetero/hetero_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST_F(HeteroDeviceTest, EveryNodeGoesToTheFirstDeviceThatTakesIt) {
  const auto model = diamond();
  refuse_types(*fast_, {"Tanh"});
  refuse_types(*other_, {"Add"});
  const auto compiled = compile(*model, "HETERO:FAST,OTHER,REF");
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER");
  EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "3");
  EXPECT_EQ(property(*compiled, "MULTI_DEVICE_PRIORITIES"), "FAST,OTHER,REF");
  expect_results_of_ref(*model, *compiled);

  const auto rows = core_.query_model(*model, "HETERO:FAST,OTHER,REF");
  ASSERT_TRUE(rows) << rows.error().message();
  std::vector<std::string> devices;
  for (const NodeSupport& row : *rows) devices.push_back(row.device);
  EXPECT_THAT(devices, testing::ElementsAre("FAST", "FAST", "OTHER", "FAST"));
  EXPECT_EQ((*rows)[2].reason, "not FAST: no Tanh here");
}

TEST_F(HeteroDeviceTest, OneDeviceIsOneSubgraph) {
  const auto model = diamond();
  const auto compiled = compile(*model, "HETERO:REF");
  EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "1");
  expect_results_of_ref(*model, *compiled);
}

TEST_F(HeteroDeviceTest, NodesThatNoDeviceTakesAreAllNamed) {
  const auto model = diamond();
  refuse_types(*fast_, {"Tanh", "Add"});
  refuse_types(*other_, {"Tanh", "Relu", "Add"});
  const std::string message = compile_error(*model, "HETERO:FAST,OTHER");
  EXPECT_THAT(message, HasSubstr("2 of 4 nodes run on none of FAST, OTHER"));
  EXPECT_THAT(message,
              HasSubstr("'Tanh2' (Tanh): not FAST: no Tanh here; not OTHER: no Tanh here"));
  EXPECT_THAT(message, HasSubstr("'Add3' (Add)"));
  const auto rows = core_.query_model(*model, "HETERO:FAST,OTHER");
  ASSERT_TRUE(rows);
  EXPECT_FALSE((*rows)[3].supported());
}

TEST_F(HeteroDeviceTest, DevicesAreAskedWithWhatTheyWouldGet) {
  // FAST takes Tanh only beside an Add, which it gets only while OTHER does not.
  const auto model = diamond();
  fast_->refuse = [](const Model& whole, const Node& node) -> std::string {
    if (node.op_type() == "Add") return "no Add here";
    const bool has_sigmoid = std::ranges::any_of(
        whole.nodes(), [](const auto& other) { return other->op_type() == "Sigmoid"; });
    if (node.op_type() == "Relu") return "no Relu here";
    return node.op_type() == "Tanh" && !has_sigmoid ? "no Tanh without Sigmoid" : "";
  };
  const auto compiled = compile(*model, "HETERO:FAST,REF");
  ASSERT_NE(compiled, nullptr);
  const auto rows = core_.query_model(*model, "HETERO:FAST,REF");
  EXPECT_EQ((*rows)[1].device, "FAST");
  EXPECT_EQ((*rows)[2].device, "REF");
  EXPECT_THAT((*rows)[2].reason, HasSubstr("no Tanh without Sigmoid (asked with diamond_"));
  expect_results_of_ref(*model, *compiled);
}

TEST_F(HeteroDeviceTest, AffinitiesBindSingleNodes) {
  const auto model = diamond();
  model->find_node("Sigmoid1")->set_affinity("REF");
  auto compiled = compile(*model, "HETERO:FAST,OTHER,REF",
                          {{"HETERO_AFFINITY", R"({"rules":[{"type":"Tanh","device":"OTHER"}]})"}});
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST REF OTHER");
  expect_results_of_ref(*model, *compiled);

  const Properties rule = {{"HETERO_AFFINITY", R"({"Tanh2":"FAST"})"}};
  refuse_types(*fast_, {"Tanh"});
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", rule),
              HasSubstr("node 'Tanh2' (Tanh) shall run on FAST (HETERO_AFFINITY (name 'Tanh2')), "
                        "which cannot: no Tanh here"));
  EXPECT_THAT(compile_error(*model, "HETERO:OTHER", {}), HasSubstr("REF"));
}

TEST_F(HeteroDeviceTest, StrictModeRefusesFallback) {
  const auto model = diamond();
  refuse_types(*fast_, {"Tanh"});
  const Properties strict = {{"HETERO_STRICT", "YES"}};
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", strict),
              HasSubstr("node 'Tanh2' (Tanh) shall run on FAST (HETERO_STRICT), which cannot"));
  // Where the user says so, another device is no fallback.
  model->find_node("Tanh2")->set_affinity("REF");
  EXPECT_NE(compile(*model, "HETERO:FAST,REF", strict), nullptr);
}

TEST_F(HeteroDeviceTest, PropertiesReachTheDevices) {
  const auto model = diamond();
  refuse_types(*fast_, {"Tanh"});
  ASSERT_TRUE(core_.set_property("FAST", {{"PERF_COUNT", "YES"}}).ok());
  const auto compiled = compile(*model, "HETERO:FAST,REF",
                                {{"DEVICE_PROPERTIES", "{REF:{NUM_STREAMS:3}}"},
                                 {"REF.PERFORMANCE_HINT", "LATENCY"},
                                 {"DETERMINISTIC", "YES"}});
  ASSERT_NE(compiled, nullptr);
  ASSERT_EQ(fast_->compiled_with.size(), 2u);
  EXPECT_EQ(fast_->compiled_with[0], (Properties{{"DETERMINISTIC", "YES"}, {"PERF_COUNT", "YES"}}));
  EXPECT_EQ(property(*compiled, "REF.NUM_STREAMS"), "3");
  EXPECT_EQ(property(*compiled, "REF.PERFORMANCE_HINT"), "LATENCY");
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", {{"GPU.PERF_COUNT", "YES"}}),
              HasSubstr("for a device 'GPU', which is not in HETERO:FAST,REF"));
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", {{"REF.NUM_STREAM", "1"}}),
              HasSubstr("did you mean NUM_STREAMS?"));
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", {{"DEVICE_PROPERTIES", "{REF:3"}}),
              HasSubstr("is not of the form"));
}

TEST_F(HeteroDeviceTest, DeviceListsAreChecked) {
  const auto model = diamond();
  EXPECT_THAT(compile_error(*model, "HETERO"), HasSubstr("HETERO needs devices"));
  EXPECT_THAT(compile_error(*model, "HETERO:"), HasSubstr("HETERO needs devices"));
  EXPECT_THAT(compile_error(*model, "HETERO:REF,,FAST"), HasSubstr("an empty name"));
  EXPECT_THAT(compile_error(*model, "HETERO:REF,REF"), HasSubstr("names REF twice"));
  EXPECT_THAT(compile_error(*model, "HETERO:BATCH:REF(2)"), HasSubstr("distributes work itself"));
  EXPECT_THAT(compile_error(*model, "HETERO:REF,NPU"), HasSubstr("NPU"));
  const auto listed = compile(*model, "HETERO", {{"TARGET_FALLBACK", "FAST;REF"}});
  EXPECT_EQ(property(*listed, "EXECUTION_DEVICES"), "FAST");
}

TEST_F(HeteroDeviceTest, OutputsMayBeInputsConstantsOrTheSameValue) {
  ModelMaker maker("odd");
  Value* x = maker.input({2, 3});
  maker.input({4});  // unused
  Value* y = maker.op("Relu", {x});
  Value* z = maker.op("Tanh", {y});
  for (Value* value : {x, maker.random({5}), y, y, z}) maker.output(value);
  refuse_types(*fast_, {"Tanh"});
  const auto compiled = compile(maker.model(), "HETERO:FAST,REF");
  ASSERT_NE(compiled, nullptr);
  expect_results_of_ref(maker.model(), *compiled);

  // Memory of the application is written, and results do not follow a later input.
  auto request = *compiled->create_infer_request();
  std::vector<Tensor> own;
  for (size_t i = 0; i < compiled->outputs().size(); ++i) {
    own.push_back(*Tensor::allocate(compiled->outputs()[i].desc));
    ASSERT_TRUE(request->set_output(i, own[i]).ok());
  }
  const std::vector<Tensor> got = infer(*request, inputs_of(*compiled));
  for (size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(std::memcmp(own[i].bytes(), got[i].bytes(), got[i].size_bytes()), 0) << i;
    EXPECT_EQ(request->output(i).bytes(), own[i].bytes()) << i;
  }
}

TEST_F(HeteroDeviceTest, ValuesSizedAtRunTimeCross) {
  ModelMaker maker("sized");
  Value* x = maker.input({3, 5});
  Value* places = maker.op("NonZero", {maker.op("Relu", {x})});
  maker.output(
      maker.op("Cast", {maker.op("Transpose", {places})}, make_attributes({{"to", int64_t{1}}})));
  refuse_types(*fast_, {"Transpose"});
  const auto compiled = compile(maker.model(), "HETERO:FAST,REF");
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "3");
  expect_results_of_ref(maker.model(), *compiled);
}

TEST_F(HeteroDeviceTest, PicturesGoToEverySubgraphThatReadsThem) {
  ModelMaker maker("pictures");
  Value* x = maker.input({1, 3, 8, 8});
  maker.output(maker.op("Relu", {x}));
  maker.output(maker.op("Tanh", {x}));
  maker.output(x);
  maker.model().set_preprocess(0, PreprocessDesc());
  refuse_types(*fast_, {"Tanh"});
  const auto compiled = compile(maker.model(), "HETERO:FAST,REF");
  const auto ref = compile(maker.model(), "REF");
  const Image image = *make_host_image(PixelFormat::RGB, 16, 12);
  for (size_t i = 0; i < 16 * 12 * 3; ++i) {
    image.planes[0].buffer->host()[i] = static_cast<std::byte>(i * 7);
  }
  std::vector<std::vector<Tensor>> results;
  for (CompiledModel* model : {compiled.get(), ref.get()}) {
    auto request = *model->create_infer_request();
    for (int run = 0; run < 2; ++run) {
      ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
      const Status status = request->infer();
      ASSERT_TRUE(status.ok()) << status.message();
    }
    std::vector<Tensor>& outputs = results.emplace_back();
    for (size_t i = 0; i < 3; ++i) outputs.push_back(*request->output(i).clone());
  }
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp(results[0][i].bytes(), results[1][i].bytes(), results[0][i].size_bytes()),
              0)
        << "output " << i;
  }
}

TEST_F(HeteroDeviceTest, RequestsArePipelined) {
  ModelMaker maker("chain");
  maker.output(maker.op("Tanh", {maker.op("Relu", {maker.input({1, 8})})}));
  refuse_types(*fast_, {"Tanh"});
  fast_->duration = other_->duration = milliseconds(40);
  const auto compiled = compile(maker.model(), "HETERO:FAST,OTHER");
  ASSERT_EQ(property(*compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "2");
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 4; ++i) requests.push_back(*compiled->create_infer_request());
  for (auto& request : requests) ASSERT_TRUE(request->start_async().ok());
  for (auto& request : requests) ASSERT_TRUE(request->wait().ok());
  // FAST runs request k + 1 while OTHER runs request k.
  ASSERT_EQ(fast_->executions.size(), 4u);
  ASSERT_EQ(other_->executions.size(), 4u);
  for (size_t k = 0; k + 1 < 4; ++k) {
    EXPECT_EQ(other_->executions[k].request, k);
    EXPECT_LT(fast_->executions[k + 1].start, other_->executions[k].end);
    EXPECT_LT(other_->executions[k].start, fast_->executions[k + 1].end);
  }
}

TEST_F(HeteroDeviceTest, AFailingDeviceEndsTheExecutionOnly) {
  const auto model = diamond();
  refuse_types(*fast_, {"Tanh"});
  other_->outcome = [](size_t count) {
    return count == 0 ? Status(StatusCode::DeviceLost, "the link is down") : Status();
  };
  const auto compiled = compile(*model, "HETERO:FAST,OTHER", {{"HETERO_FAIL_OVER", "NO"}});
  auto request = *compiled->create_infer_request();
  const Status status = request->infer();
  EXPECT_EQ(status.code(), StatusCode::DeviceLost);
  EXPECT_THAT(status.message(), HasSubstr("on OTHER: the link is down"));
  EXPECT_TRUE(request->infer().ok());
  expect_results_of_ref(*model, *compiled);
}

TEST_F(HeteroDeviceTest, RequestsMayBeCancelledAtAnyTime) {
  const auto model = diamond();
  refuse_types(*fast_, {"Tanh"});
  fast_->duration = milliseconds(2);
  const auto compiled = compile(*model, "HETERO:FAST,OTHER");
  auto request = *compiled->create_infer_request();
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(request->start_async().ok());
    std::this_thread::sleep_for(std::chrono::microseconds(i * 150));
    request->cancel();
    const Status status = request->wait();
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::Cancelled) << status.message();
  }
  // Destroying a running request cancels it.
  ASSERT_TRUE(request->start_async().ok());
  request.reset();
  expect_results_of_ref(*model, *compiled);
}

TEST_F(HeteroDeviceTest, RequestsRestartFromTheirCallback) {
  const auto model = diamond();
  refuse_types(*fast_, {"Tanh"});
  const auto compiled = compile(*model, "HETERO:FAST,OTHER");
  auto request = *compiled->create_infer_request();
  std::atomic<int> left = 50;
  request->set_callback([&](const Status& status) {
    EXPECT_TRUE(status.ok()) << status.message();
    if (--left > 0) {
      EXPECT_TRUE(request->start_async().ok());
    }
  });
  ASSERT_TRUE(request->start_async().ok());
  ASSERT_TRUE(request->wait().ok());
  EXPECT_EQ(left, 0);
}

TEST_F(HeteroDeviceTest, ProfilesTellTheSubgraph) {
  const auto model = diamond();
  refuse_types(*fast_, {"Tanh"});
  const auto compiled = compile(*model, "HETERO:FAST,REF", {{"PERF_COUNT", "YES"}});
  auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->infer().ok());
  std::vector<std::string> names;
  for (const ProfileRow& row : request->profiling()) {
    if (row.status == ProfileStatus::Executed) names.push_back(row.node_name);
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"subgraph1: Relu0", "subgraph1: Sigmoid1",
                                            "subgraph2: Tanh2", "subgraph3: Add3"}));
}

}  // namespace
}  // namespace het::hetero
