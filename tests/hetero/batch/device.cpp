#include "hetero/batch/device.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "devices/register_devices.h"
#include "tests/devices/device_testing.h"

namespace het::hetero {
namespace {

using device_testing::make_attributes;
using device_testing::ModelMaker;
using device_testing::random_tensor;

/// conv, ReLU, mean over the picture, a product: [1,3,10,10] -> [1,7].
Model make_classifier() {
  ModelMaker maker("classifier");
  Value* x = maker.op("Relu", {maker.conv(maker.input({1, 3, 10, 10}), 3, 8, 3)});
  Value* pooled =
      maker.op("ReduceMean", {x, maker.ints({2, 3})}, make_attributes({{"keepdims", int64_t{0}}}));
  maker.output(maker.op("MatMul", {pooled, maker.random({8, 7})}));
  maker.output(x);
  return std::move(maker.model());
}

/// On a device that only does what every one does; GPU has few kernels so far.
Model make_chain() {
  ModelMaker maker("chain");
  Value* x = maker.input({1, 3, 6, 6});
  maker.output(maker.op("Sigmoid", {maker.op("Add", {x, maker.random({3, 1, 1})})}));
  return std::move(maker.model());
}

std::string message_of(const Result<std::shared_ptr<CompiledModel>>& result) {
  return result ? "no error" : result.error().message();
}

class BatchDeviceTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::vector<std::string> available = core_->available_devices();
    const std::string inner = GetParam();
    if (std::ranges::none_of(available, [&](const std::string& name) {
          return parse_device_name(name).kind == inner;
        })) {
      GTEST_SKIP() << "there is no " << inner << " here";
    }
  }

  std::string batch_name(int batch) const { return fmt::format("BATCH:{}({})", GetParam(), batch); }
  std::shared_ptr<CompiledModel> compile(const Model& model, const std::string& device,
                                         const Properties& properties = {}) {
    auto compiled = core_->compile_model(model, device, properties);
    EXPECT_TRUE(compiled) << compiled.error().message();
    return compiled ? *compiled : nullptr;
  }

  std::shared_ptr<Core> core_ = core();
};

/// Twice as many requests as fill a batch and one more, which waits for the timeout.
TEST_P(BatchDeviceTest, ResultsAreThoseOfBatchOne) {
  for (const Model& model : {make_classifier(), make_chain()}) {
    SCOPED_TRACE(model.name());
    if (std::string(GetParam()) == "GPU" && model.name() != "chain") continue;
    const auto plain = compile(model, GetParam());
    const auto batched =
        compile(model, batch_name(3), {{"AUTO_BATCH_TIMEOUT", "30"}, {"PERF_COUNT", "YES"}});
    ASSERT_TRUE(plain && batched);
    const auto reference = *plain->create_infer_request();
    std::vector<std::unique_ptr<InferRequest>> requests;
    for (size_t i = 0; i < 7; ++i) {
      requests.push_back(*batched->create_infer_request());
      Tensor input = requests[i]->input(0);
      const Status copied =
          copy_tensor(random_tensor(input.shape(), static_cast<unsigned>(i)), input);
      ASSERT_TRUE(copied.ok()) << copied.message();
    }
    for (int round = 0; round < 3; ++round) {
      for (const auto& request : requests) ASSERT_TRUE(request->start_async().ok());
      for (size_t i = 0; i < requests.size(); ++i) {
        const Status status = requests[i]->wait();
        ASSERT_TRUE(status.ok()) << status.message();
        ASSERT_TRUE(
            reference
                ->set_input(0, random_tensor(reference->input(0).shape(), static_cast<unsigned>(i)))
                .ok());
        ASSERT_TRUE(reference->infer().ok());
        for (size_t port = 0; port < plain->outputs().size(); ++port) {
          const std::vector<float> got = *to_float_vector(requests[i]->output(port));
          const std::vector<float> wanted = *to_float_vector(reference->output(port));
          ASSERT_EQ(got.size(), wanted.size());
          for (size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], wanted[k], 1e-4f) << i;
        }
        EXPECT_FALSE(requests[i]->profiling().empty());
      }
      std::ranges::rotate(requests, requests.begin());
    }
  }
}

TEST_P(BatchDeviceTest, PropertiesPassToTheDeviceAndReadBack) {
  const auto compiled =
      compile(make_chain(), batch_name(4),
              {{"AUTO_BATCH_TIMEOUT", "25"}, {"NUM_STREAMS", "2"}, {"PERF_COUNT", "YES"}});
  ASSERT_TRUE(compiled);
  EXPECT_EQ(*compiled->get_property("AUTO_BATCH_TIMEOUT"), "25");
  EXPECT_EQ(*compiled->get_property("OPTIMAL_BATCH_SIZE"), "4");
  EXPECT_EQ(*compiled->get_property("PERF_COUNT"), "YES");
  EXPECT_EQ(*compiled->get_property("NUM_STREAMS"), "2");
  EXPECT_EQ(*compiled->get_property("NETWORK_NAME"), "chain");
  EXPECT_EQ(parse_device_name(*compiled->get_property("EXECUTION_DEVICES")).kind, GetParam());
  EXPECT_EQ(*compiled->get_property("MULTI_DEVICE_PRIORITIES"), fmt::format("{}(4)", GetParam()));
  EXPECT_EQ(*compiled->get_property("AUTO_BATCH_DEVICE_CONFIG"), fmt::format("{}(4)", GetParam()));
  const auto plain = compile(make_chain(), GetParam(), {{"NUM_STREAMS", "2"}});
  EXPECT_EQ(std::stoi(*compiled->get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")),
            4 * std::stoi(*plain->get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS")));
  EXPECT_FALSE(compiled->get_property("NO_SUCH"));
  EXPECT_EQ(*core_->get_property(batch_name(4), "FULL_DEVICE_NAME"),
            *core_->get_property(GetParam(), "FULL_DEVICE_NAME"));
}

TEST_P(BatchDeviceTest, DefaultsOfTheDeviceReachIt) {
  const auto own = std::make_shared<Core>();
  register_devices(*own);
  ASSERT_TRUE(own->set_property(GetParam(), {{"NUM_STREAMS", "3"}}).ok());
  ASSERT_TRUE(own->set_property("BATCH", {{"AUTO_BATCH_TIMEOUT", "7"}}).ok());
  const auto compiled = own->compile_model(make_chain(), batch_name(2));
  ASSERT_TRUE(compiled) << compiled.error().message();
  EXPECT_EQ(*(*compiled)->get_property("NUM_STREAMS"), "3");
  EXPECT_EQ(*(*compiled)->get_property("AUTO_BATCH_TIMEOUT"), "7");
  EXPECT_EQ(*own->get_property("BATCH", "AUTO_BATCH_TIMEOUT"), "7");
  EXPECT_FALSE(own->set_property(batch_name(2), {{"AUTO_BATCH_TIMEOUT", "7"}}).ok());
}

TEST_P(BatchDeviceTest, TheBatchIsChosen) {
  const std::string device = fmt::format("BATCH:{}", GetParam());
  EXPECT_EQ(*compile(make_chain(), device)->get_property("OPTIMAL_BATCH_SIZE"), "8");
  const auto few = compile(make_chain(), device, {{"PERFORMANCE_HINT_NUM_REQUESTS", "3"}});
  EXPECT_EQ(*few->get_property("OPTIMAL_BATCH_SIZE"), "3");
  EXPECT_EQ(*few->get_property("PERFORMANCE_HINT_NUM_REQUESTS"), "3");
}

TEST_P(BatchDeviceTest, TheDeviceMayStandInAProperty) {
  const std::string inner = fmt::format("{}(2)", GetParam());
  for (const char* name : {"MULTI_DEVICE_PRIORITIES", "AUTO_BATCH_DEVICE_CONFIG"}) {
    const auto compiled = compile(make_chain(), "BATCH", {{name, inner}, {"NUM_STREAMS", "1"}});
    ASSERT_TRUE(compiled);
    EXPECT_EQ(*compiled->get_property("OPTIMAL_BATCH_SIZE"), "2");
  }
  const auto both =
      core_->compile_model(make_chain(), batch_name(3), {{"AUTO_BATCH_DEVICE_CONFIG", inner}});
  EXPECT_NE(message_of(both).find("names other devices than"), std::string::npos)
      << message_of(both);
}

TEST_P(BatchDeviceTest, ABatchOfOneIsAllowed) {
  const auto compiled = compile(make_chain(), batch_name(1));
  ASSERT_TRUE(compiled);
  const auto request = *compiled->create_infer_request();
  const Status status = request->infer();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_P(BatchDeviceTest, QueryAnswersAsTheDevice) {
  const Model model = make_classifier();
  const auto rows = core_->query_model(model, batch_name(4), {{"AUTO_BATCH_TIMEOUT", "1"}});
  const auto wanted = core_->query_model(model, GetParam());
  ASSERT_TRUE(rows && wanted);
  ASSERT_EQ(rows->size(), wanted->size());
  for (size_t i = 0; i < rows->size(); ++i) {
    EXPECT_EQ((*rows)[i].device, (*wanted)[i].device);
    EXPECT_EQ((*rows)[i].reason, (*wanted)[i].reason);
  }
}

TEST_P(BatchDeviceTest, PicturesOfRequestsEqualThoseOfBatchOne) {
  Model model = make_chain();
  model.set_preprocess(0, PreprocessDesc());
  const auto plain = compile(model, GetParam());
  const auto batched = compile(model, batch_name(2));
  ASSERT_TRUE(plain && batched);
  const Image image = *make_host_image(PixelFormat::NV12, 32, 24, nullptr, 16);
  for (size_t i = 0; i < image.planes[0].buffer->size_bytes(); ++i) {
    image.planes[0].buffer->host()[i] = static_cast<std::byte>(i * 13);
  }
  const Rect rois[] = {{0, 0, 32, 24}, {7, 3, 9, 11}};
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (const Rect& roi : rois) {
    requests.push_back(*batched->create_infer_request());
    ASSERT_TRUE(requests.back()->set_image(0, image, roi).ok());
    ASSERT_TRUE(requests.back()->start_async().ok());
  }
  const auto reference = *plain->create_infer_request();
  for (size_t i = 0; i < requests.size(); ++i) {
    const Status status = requests[i]->wait();
    ASSERT_TRUE(status.ok()) << status.message();
    ASSERT_TRUE(reference->set_image(0, image, rois[i]).ok());
    ASSERT_TRUE(reference->infer().ok());
    const std::vector<float> got = *to_float_vector(requests[i]->output(0));
    const std::vector<float> wanted = *to_float_vector(reference->output(0));
    for (size_t k = 0; k < got.size(); ++k) ASSERT_NEAR(got[k], wanted[k], 1e-6f);
  }
}

/// Every new shape is a plan of its own, with batches of its own.
TEST_P(BatchDeviceTest, UnboundDimensionsAreBoundByTheRequests) {
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({kUnknownDim, 4})}));
  const auto compiled = compile(maker.model(), batch_name(2), {{"AUTO_BATCH_TIMEOUT", "20"}});
  ASSERT_TRUE(compiled);
  std::vector<std::unique_ptr<InferRequest>> requests;
  for (int i = 0; i < 3; ++i) {
    requests.push_back(*compiled->create_infer_request());
    const float value = static_cast<float>(i);
    ASSERT_TRUE(requests.back()->set_input(0, Tensor::from<float>({1, 4}, {value, -1, 2, 3})).ok());
    ASSERT_TRUE(requests.back()->start_async().ok());
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    const Status status = requests[i]->wait();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(*to_float_vector(requests[i]->output(0)),
              (std::vector<float>{static_cast<float>(i), 0, 2, 3}));
  }
  const auto two = *compiled->create_infer_request();
  EXPECT_FALSE(two->set_input(0, Tensor::from<float>({2, 1}, {1, 2})).ok());
  ASSERT_TRUE(two->set_input(0, random_tensor({2, 4}, 1)).ok());
  const Status refused = two->infer();
  EXPECT_NE(refused.message().find("has no batch dimension"), std::string::npos)
      << refused.message();
}

INSTANTIATE_TEST_SUITE_P(Devices, BatchDeviceTest, testing::Values("REF", "CPU", "GPU"));

TEST(BatchDevice, IsNotListedAmongTheDevices) {
  const std::vector<std::string> available = core()->available_devices();
  EXPECT_EQ(std::ranges::find(available, "BATCH"), available.end());
}

TEST(BatchDevice, BadNamesSayWhatIsRight) {
  const auto shared = core();
  const Model model = make_chain();
  for (const char* device : {"BATCH:CPU(0)", "BATCH:CPU(x)", "BATCH:CPU(4", "BATCH:CPU(4)x",
                             "BATCH:CPU()", "BATCH:CPU(99999999999999999999)", "BATCH:(4)"}) {
    SCOPED_TRACE(device);
    const std::string message = message_of(shared->compile_model(model, device));
    EXPECT_NE(message.find("GPU(8)"), std::string::npos) << message;
  }
  const std::string none = message_of(shared->compile_model(model, "BATCH"));
  EXPECT_NE(none.find("BATCH needs a device to batch for"), std::string::npos) << none;
  const std::string itself = message_of(shared->compile_model(model, "BATCH:BATCH:CPU(2)"));
  EXPECT_NE(itself.find("BATCH needs another device"), std::string::npos) << itself;
  const std::string unknown = message_of(shared->compile_model(model, "BATCH:FPU(2)"));
  EXPECT_NE(unknown.find("there is no device 'FPU'"), std::string::npos) << unknown;
}

TEST(BatchDevice, PropertiesOfOtherDevicesAreRefused) {
  const auto shared = core();
  const Model model = make_chain();
  EXPECT_TRUE(shared->compile_model(model, "BATCH:CPU(2)", {{"CPU_THROUGHPUT_STREAMS", "1"}}));
  const std::string wrong =
      message_of(shared->compile_model(model, "BATCH:CPU(2)", {{"GPU_QUEUE_PRIORITY", "LOW"}}));
  EXPECT_NE(wrong.find("device BATCH:CPU(2) has no property 'GPU_QUEUE_PRIORITY'"),
            std::string::npos)
      << wrong;
  EXPECT_NE(wrong.find("INFERENCE_NUM_THREADS"), std::string::npos) << "those of CPU are listed";
  EXPECT_FALSE(shared->compile_model(model, "BATCH:CPU(2)", {{"AUTO_BATCH_TIMEOUT", "-1"}}));
  EXPECT_FALSE(shared->compile_model(model, "CPU", {{"AUTO_BATCH_TIMEOUT", "1"}}));
}

TEST(BatchDevice, QueryRefusesWhatCompileRefuses) {
  const auto process_core = core();
  for (const Shape& shape : {Shape{1, 3}, Shape{kUnknownDim, 3}, Shape{4}, Shape{2, 3}}) {
    Model model("relu");
    Value* x = model.add_input("x", {ElementType::Float32, shape});
    model.add_output("y", model.add_node("relu", "Relu", "", {x}, {"y"})->output());
    const auto rows = process_core->query_model(model, "BATCH:REF(2)");
    ASSERT_TRUE(rows) << rows.error().message();
    const auto compiled = process_core->compile_model(model, "BATCH:REF(2)");
    EXPECT_EQ(rows->at(0).supported(), compiled.has_value()) << to_string(shape);
    if (!compiled) {
      EXPECT_NE(compiled.error().message().find(rows->at(0).reason), std::string::npos)
          << rows->at(0).reason;
    }
  }
}

/// No node runs, as compile_model() decides, or those that the device alone says.
void expect_query(const Model& model, bool accepted) {
  const auto rows = core()->query_model(model, "BATCH:REF(2)", {});
  const auto alone = core()->query_model(model, "REF", {});
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_TRUE(alone) << alone.error().message();
  ASSERT_EQ(rows->size(), alone->size());
  for (size_t i = 0; i < rows->size(); ++i) {
    EXPECT_EQ((*rows)[i].supported(), accepted && (*alone)[i].supported()) << (*rows)[i].reason;
  }
}

TEST(BatchDevice, ModelsWithoutABatchAreRefused) {
  ModelMaker maker("rows");
  maker.output(maker.op("Relu", {maker.input({3, 4})}));
  const std::string message = message_of(core()->compile_model(maker.model(), "BATCH:REF(2)"));
  EXPECT_NE(message.find("cannot compile model 'rows' for BATCH:REF(2)"), std::string::npos);
  EXPECT_NE(message.find("input 'x0' float32[3,4] has no batch dimension"), std::string::npos)
      << message;
  expect_query(maker.model(), false);
}

/// State is a port per variable for a device. Where that port says whether the variable is set, it
/// belongs to all items of a batch.
TEST(BatchDevice, StatefulModelsWithAFirstValueAreRefused) {
  Model model("summator");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 2}});
  Attributes attributes;
  attributes.set("variable_id", std::string("total"));
  Value* first = model.add_constant("first", Tensor::from<float>({1, 2}, {10, 10}));
  Value* old = model.add_node("read", "ReadValue", "het", {first}, {"old"}, attributes)->output();
  Value* sum = model.add_node("add", "Add", "", {old, x}, {"sum"})->output();
  model.add_node("assign", "Assign", "het", {sum}, {"stored"}, attributes);
  model.add_output("sum", sum);
  const std::string message = message_of(core()->compile_model(model, "BATCH:REF(2)"));
  EXPECT_NE(message.find("with its state as inputs and outputs"), std::string::npos) << message;
  EXPECT_NE(message.find("has no batch dimension"), std::string::npos) << message;
  expect_query(model, false);
}

/// Without one, requests of different streams make a batch and each keeps its state.
TEST(BatchDevice, StreamsWithStateShareABatch) {
  Model model("summator");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 2}});
  Attributes attributes;
  attributes.set("variable_id", std::string("total"));
  Attributes typed = attributes;
  typed.set("variable_type", std::string("float32"));
  typed.set("variable_shape", std::vector<int64_t>{1, 2});
  Value* old = model.add_node("read", "ReadValue", "het", {}, {"old"}, typed)->output();
  Value* sum = model.add_node("add", "Add", "", {old, x}, {"sum"})->output();
  model.add_node("assign", "Assign", "het", {sum}, {"stored"}, attributes);
  model.add_output("sum", sum);
  expect_query(model, true);
  const auto compiled = core()->compile_model(model, "BATCH:REF(2)");
  ASSERT_TRUE(compiled) << compiled.error().message();
  const auto a = *(*compiled)->create_infer_request();
  const auto b = *(*compiled)->create_infer_request();
  a->set_stream("a");
  b->set_stream("b");
  for (int round = 1; round <= 3; ++round) {
    ASSERT_TRUE(a->set_input(0, Tensor::from<float>({1, 2}, {1, 2})).ok());
    ASSERT_TRUE(b->set_input(0, Tensor::from<float>({1, 2}, {10, 20})).ok());
    ASSERT_TRUE(a->start_async().ok());
    ASSERT_TRUE(b->start_async().ok());
    ASSERT_TRUE(a->wait().ok());
    ASSERT_TRUE(b->wait().ok());
    EXPECT_EQ(a->output(0).values<float>()[1], 2.0f * static_cast<float>(round));
    EXPECT_EQ(b->output(0).values<float>()[0], 10.0f * static_cast<float>(round));
  }
}

}  // namespace
}  // namespace het::hetero
