#include "devices/ref/ref_device.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "inference/core.h"
#include "inference/requests/infer_request.h"

namespace het {
namespace {

/// The device itself, without the process' Core.
class RefDevice : public testing::Test {
 protected:
  void SetUp() override {
    auto device = ref::make_device(core_, "");
    ASSERT_TRUE(device) << device.error().message();
    device_ = *device;
  }

  std::unique_ptr<InferRequest> request(const Model& model, const Properties& properties = {}) {
    auto compiled = device_->compile_model(model, properties, nullptr);
    EXPECT_TRUE(compiled) << compiled.error().message();
    if (!compiled) return nullptr;
    auto made = (*compiled)->create_infer_request();
    EXPECT_TRUE(made) << made.error().message();
    return made ? std::move(*made) : nullptr;
  }

  Core core_;
  std::shared_ptr<Device> device_;
};

/// y = relu(x + 1), with an Identity that is optimised out.
Model small_model() {
  Model model("small");
  Value* x = model.add_input("x", {ElementType::Float32, {3}});
  Value* one = model.add_constant("one", Tensor::scalar(1.0f));
  Value* i = model.add_node("id", "Identity", "", {x}, {"i"})->output();
  Value* a = model.add_node("add", "Add", "", {i, one}, {"a"})->output();
  model.add_output("y", model.add_node("relu", "Relu", "", {a}, {"y"})->output());
  return model;
}

/// `steps` products of matrices; takes long enough to be cancelled.
Model slow_model(int steps) {
  Model model("slow");
  constexpr int64_t kSize = 256;
  Value* x = model.add_input("x", {ElementType::Float32, {kSize, kSize}});
  Value* y = x;
  for (int i = 0; i < steps; ++i) {
    y = model.add_node("product", "MatMul", "", {y, x}, {"p"})->output();
  }
  model.add_output("y", y);
  return model;
}

TEST_F(RefDevice, RunsAModel) {
  const auto r = request(small_model());
  ASSERT_NE(r, nullptr);
  ASSERT_TRUE(r->set_tensor("x", Tensor::from<float>({3}, {-5, 0, 5})).ok());
  ASSERT_TRUE(r->infer().ok());
  EXPECT_EQ(*to_float_vector(r->output(0)), (std::vector<float>{0, 1, 6}));
  ASSERT_TRUE(r->set_tensor("x", Tensor::from<float>({3}, {1, 2, 3})).ok());
  ASSERT_TRUE(r->infer().ok());
  EXPECT_EQ(*to_float_vector(r->output(0)), (std::vector<float>{2, 3, 4}));
}

TEST_F(RefDevice, WritesIntoTheCallersTensors) {
  const auto r = request(small_model());
  Tensor y = *Tensor::allocate({ElementType::Float32, {3}});
  ASSERT_TRUE(r->set_tensor("y", y).ok());
  ASSERT_TRUE(r->set_tensor("x", Tensor::from<float>({3}, {1, 2, 3})).ok());
  ASSERT_TRUE(r->infer().ok());
  EXPECT_EQ(*to_float_vector(y), (std::vector<float>{2, 3, 4}));

  // Rows of 3 in a memory of 4 columns: not dense, so the result is copied.
  Model model("rows");
  Value* x = model.add_input("x", {ElementType::Float32, {2, 3}});
  model.add_output("y", model.add_node("neg", "Neg", "", {x}, {"y"})->output());
  const auto rows = request(model);
  std::vector<float> src = {1, 2, 3, 0, 4, 5, 6, 0};
  std::vector<float> dst(8, 9.0f);
  const TensorDesc desc{ElementType::Float32, {2, 3}};
  ASSERT_TRUE(rows->set_tensor("x", *Tensor::wrap(desc, src.data(), 32, {}, {16, 4})).ok());
  ASSERT_TRUE(rows->set_tensor("y", *Tensor::wrap(desc, dst.data(), 32, {}, {16, 4})).ok());
  ASSERT_TRUE(rows->infer().ok());
  EXPECT_EQ(dst, (std::vector<float>{-1, -2, -3, 9, -4, -5, -6, 9}));
}

TEST_F(RefDevice, OutputsThatAreInputsConstantsOrTheSame) {
  Model model("ports");
  Value* x = model.add_input("x", {ElementType::Float32, {2}});
  Value* c = model.add_constant("c", Tensor::from<float>({2}, {7, 8}));
  Value* n = model.add_node("neg", "Neg", "", {x}, {"n"})->output();
  model.add_output("same", x);
  model.add_output("constant", c);
  model.add_output("first", n);
  model.add_output("second", n);
  const auto r = request(model);
  ASSERT_TRUE(r->set_tensor("x", Tensor::from<float>({2}, {1, 2})).ok());
  ASSERT_TRUE(r->infer().ok());
  EXPECT_EQ(*to_float_vector(*r->tensor("same")), (std::vector<float>{1, 2}));
  EXPECT_EQ(*to_float_vector(*r->tensor("constant")), (std::vector<float>{7, 8}));
  EXPECT_EQ(*to_float_vector(*r->tensor("first")), (std::vector<float>{-1, -2}));
  EXPECT_EQ(*to_float_vector(*r->tensor("second")), (std::vector<float>{-1, -2}));
  EXPECT_NE(r->tensor("first")->bytes(), r->tensor("second")->bytes());
  EXPECT_NE(r->tensor("constant")->bytes(), c->constant().bytes());
}

TEST_F(RefDevice, OutputsSizedAtRunTime) {
  Model model("dynamic");
  Value* x = model.add_input("x", {ElementType::Float32, {4}});
  Value* shape = model.add_input("shape", {ElementType::Int64, {2}});
  Value* r = model.add_node("reshape", "Reshape", "", {x, shape}, {"r"})->output();
  model.add_output("y", model.add_node("neg", "Neg", "", {r}, {"y"})->output());
  const auto running = request(model);
  ASSERT_NE(running, nullptr);
  ASSERT_TRUE(running->set_tensor("x", Tensor::from<float>({4}, {1, 2, 3, 4})).ok());
  for (const Shape& wanted : {Shape{2, 2}, Shape{4, 1}, Shape{2, 2}}) {
    ASSERT_TRUE(running->set_tensor("shape", Tensor::from<int64_t>({2}, wanted)).ok());
    const Status status = running->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(running->output(0).shape(), wanted);
  }
}

TEST_F(RefDevice, FailuresOfARequestNameTheNode) {
  Model model("dynamic");
  Value* x = model.add_input("x", {ElementType::Float32, {4}});
  Value* shape = model.add_input("shape", {ElementType::Int64, {1}});
  model.add_output("y", model.add_node("bad", "Reshape", "", {x, shape}, {"y"})->output());
  const auto r = request(model);
  ASSERT_TRUE(r->set_tensor("shape", Tensor::from<int64_t>({1}, {5})).ok());
  const Status status = r->infer();
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("node 'bad' (Reshape)"), std::string::npos) << status.message();
  ASSERT_TRUE(r->set_tensor("shape", Tensor::from<int64_t>({1}, {4})).ok());
  EXPECT_TRUE(r->infer().ok()) << "a failed request can be used again";
}

TEST_F(RefDevice, SixteenRequestsInFlight) {
  auto compiled = device_->compile_model(small_model(), {{"NUM_STREAMS", "2"}}, nullptr);
  ASSERT_TRUE(compiled) << compiled.error().message();
  std::vector<std::unique_ptr<InferRequest>> requests;
  std::atomic<int> callbacks{0};
  for (int i = 0; i < 16; ++i) {
    requests.push_back(std::move(*(*compiled)->create_infer_request()));
    requests.back()->set_callback([&](const Status&) { ++callbacks; });
  }
  for (int round = 0; round < 50; ++round) {
    for (int i = 0; i < 16; ++i) {
      const auto base = static_cast<float>(round * 16 + i);
      ASSERT_TRUE(requests[i]->set_tensor("x", Tensor::from<float>({3}, {base, 0, -9})).ok());
      ASSERT_TRUE(requests[i]->start_async().ok());
    }
    for (int i = 0; i < 16; ++i) {
      ASSERT_TRUE(requests[i]->wait().ok());
      const auto base = static_cast<float>(round * 16 + i);
      EXPECT_EQ(*to_float_vector(requests[i]->output(0)), (std::vector<float>{base + 1, 1, 0}));
    }
  }
  EXPECT_EQ(callbacks, 16 * 50);
}

TEST_F(RefDevice, RequestsKeepTheModelAlive) {
  std::unique_ptr<InferRequest> r;
  {
    auto compiled = device_->compile_model(small_model(), {}, nullptr);
    r = std::move(*(*compiled)->create_infer_request());
  }
  EXPECT_TRUE(r->infer().ok());
}

TEST_F(RefDevice, CancelEndsARunningRequest) {
  const auto r = request(slow_model(2000));
  ASSERT_TRUE(r->start_async().ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  r->cancel();
  const Status status = r->wait();
  EXPECT_EQ(status.code(), StatusCode::Cancelled) << status.message();
}

TEST_F(RefDevice, CancelEndsAWaitingRequest) {
  auto compiled = device_->compile_model(slow_model(200), {{"NUM_STREAMS", "1"}}, nullptr);
  ASSERT_TRUE(compiled) << compiled.error().message();
  const auto first = std::move(*(*compiled)->create_infer_request());
  const auto second = std::move(*(*compiled)->create_infer_request());
  ASSERT_TRUE(first->start_async().ok());
  ASSERT_TRUE(second->start_async().ok());
  second->cancel();
  first->cancel();
  EXPECT_EQ(second->wait().code(), StatusCode::Cancelled);
  EXPECT_EQ(first->wait().code(), StatusCode::Cancelled);
}

TEST_F(RefDevice, ProfilingRows) {
  const auto plain = request(small_model());
  ASSERT_TRUE(plain->infer().ok());
  EXPECT_TRUE(plain->profiling().empty());

  const auto r = request(small_model(), {{"PERF_COUNT", "YES"}});
  ASSERT_TRUE(r->infer().ok());
  const std::vector<ProfileRow> rows = r->profiling();
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].node_name, "id");
  EXPECT_EQ(rows[0].status, ProfileStatus::OptimizedOut);
  EXPECT_EQ(rows[1].node_name, "add");
  EXPECT_EQ(rows[1].status, ProfileStatus::Executed);
  EXPECT_EQ(rows[1].layer_type, "Add");
  EXPECT_EQ(rows[1].exec_type, "ref");
}

TEST_F(RefDevice, QuerySaysWhatCompileDoes) {
  Model model = small_model();
  model.add_output(
      "z", model.add_node("odd", "Frobnicate", "", {model.find_value("a")}, {"z"})->output());
  const auto rows = device_->query_model(model, {});
  ASSERT_TRUE(rows) << rows.error().message();
  ASSERT_EQ(rows->size(), 4u);
  EXPECT_EQ((*rows)[1].device, "REF");
  EXPECT_FALSE((*rows)[3].supported());
  EXPECT_NE((*rows)[3].reason.find("Frobnicate"), std::string::npos);
  const auto compiled = device_->compile_model(model, {}, nullptr);
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error().code(), StatusCode::NotSupported);
  EXPECT_NE(compiled.error().message().find("'odd' (Frobnicate)"), std::string::npos);
}

TEST_F(RefDevice, Properties) {
  EXPECT_FALSE(ref::make_device(core_, "1"));
  EXPECT_TRUE(device_->get_property("FULL_DEVICE_NAME"));
  EXPECT_FALSE(device_->get_property("NO_SUCH_THING"));
  const auto compiled =
      device_->compile_model(small_model(), {{"NUM_STREAMS", "3"}, {"PERF_COUNT", "YES"}}, nullptr);
  ASSERT_TRUE(compiled) << compiled.error().message();
  EXPECT_EQ(*(*compiled)->get_property("NUM_STREAMS"), "3");
  EXPECT_EQ(*(*compiled)->get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "3");
  EXPECT_EQ(*(*compiled)->get_property("PERF_COUNT"), "YES");
  EXPECT_EQ(*(*compiled)->get_property("EXECUTION_DEVICES"), "REF");
  EXPECT_EQ(*(*compiled)->get_property("NETWORK_NAME"), "small");
}

TEST_F(RefDevice, PicturesAreConvertedOnTheStream) {
  Model model("picture");
  Value* x = model.add_input("x", {ElementType::Float32, {1, 3, 2, 2}});
  model.add_output("y", model.add_node("neg", "Neg", "", {x}, {"y"})->output());
  model.set_preprocess(0, PreprocessDesc{});
  const auto r = request(model);
  const Image image = *make_host_image(PixelFormat::BGR, 2, 2);
  std::memset(image.planes[0].buffer->host(), 5, image.planes[0].buffer->size_bytes());
  ASSERT_TRUE(r->set_image(0, image, image.full()).ok());
  ASSERT_TRUE(r->infer().ok());
  EXPECT_EQ(*to_float_vector(r->output(0)), std::vector<float>(12, -5.0f));
}

}  // namespace
}  // namespace het
