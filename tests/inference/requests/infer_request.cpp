#include "inference/requests/infer_request.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "tests/simulated_device.h"

namespace het {
namespace {

using std::chrono::milliseconds;

std::unique_ptr<InferRequest> make_request(SimulatedBehaviour behaviour, Shape shape = {4}) {
  auto request = make_simulated_model(shape, std::move(behaviour))->create_infer_request();
  EXPECT_TRUE(request.has_value()) << request.error().message();
  return std::move(*request);
}

TEST(InferRequest, InferCopiesInputToOutput) {
  const auto request = make_request({});
  ASSERT_TRUE(request->set_tensor("x", Tensor::from<float>({4}, {1, 2, 3, 4})).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(request->output(0).values<float>()[3], 4.0f);
  ASSERT_TRUE(request->infer().ok()) << "a request is reusable";
}

TEST(InferRequest, RunsIntoTensorsOfTheCaller) {
  const auto request = make_request({});
  const Tensor output = Tensor::from<float>({4}, {0, 0, 0, 0});
  ASSERT_TRUE(request->set_tensor("x", Tensor::from<float>({4}, {1, 2, 3, 4})).ok());
  ASSERT_TRUE(request->set_tensor("y", output).ok());
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(output.values<float>()[2], 3.0f);
}

TEST(InferRequest, RefusesTensorsThatDoNotFit) {
  const auto request = make_request({});
  const Status shape = request->set_tensor("x", Tensor::from<float>({3}, {1, 2, 3}));
  EXPECT_EQ(shape.code(), StatusCode::ShapeMismatch);
  EXPECT_NE(shape.message().find("float32[4]"), std::string::npos) << shape.message();
  EXPECT_EQ(request->set_tensor("x", Tensor::from<int32_t>({4}, {1, 2, 3, 4})).code(),
            StatusCode::ShapeMismatch);
  EXPECT_EQ(request->set_tensor("x", Tensor()).code(), StatusCode::ShapeMismatch);
  EXPECT_EQ(request->set_tensor("z", Tensor::from<float>({4}, {1, 2, 3, 4})).code(),
            StatusCode::NotFound);
  EXPECT_EQ(request->set_input(1, Tensor::from<float>({4}, {1, 2, 3, 4})).code(),
            StatusCode::NotFound);
}

TEST(InferRequest, IsBusyWhileRunning) {
  const auto request = make_request({.duration = milliseconds(100)});
  ASSERT_TRUE(request->start_async().ok());
  EXPECT_EQ(request->start_async().code(), StatusCode::Busy);
  EXPECT_EQ(request->set_tensor("x", Tensor::from<float>({4}, {1, 2, 3, 4})).code(),
            StatusCode::Busy);
  EXPECT_TRUE(request->wait().ok());
}

TEST(InferRequest, WaitForTimesOutAndLeavesTheExecutionRunning) {
  const auto request = make_request({.duration = milliseconds(200)});
  ASSERT_TRUE(request->start_async().ok());
  EXPECT_EQ(request->wait_for(milliseconds(5)).code(), StatusCode::TimedOut);
  EXPECT_TRUE(request->wait().ok());
}

TEST(InferRequest, CancelEndsTheExecutionEarly) {
  const auto request = make_request({.duration = std::chrono::hours(1)});
  ASSERT_TRUE(request->start_async().ok());
  request->cancel();
  EXPECT_EQ(request->wait().code(), StatusCode::Cancelled);
}

TEST(InferRequest, CancelWhileIdleHasNoEffect) {
  const auto request = make_request({});
  request->cancel();
  EXPECT_TRUE(request->infer().ok());
}

TEST(InferRequest, DestructionWhileRunningCancelsAndWaits) {
  auto request = make_request({.duration = std::chrono::hours(1)});
  ASSERT_TRUE(request->start_async().ok());
  request.reset();
}

TEST(InferRequest, DeviceFailureReachesWaitAndCallback) {
  const auto request =
      make_request({.outcome = Status(StatusCode::DeviceLost, "the link went down")});
  Status seen;
  request->set_callback([&](const Status& status) { seen = status; });
  EXPECT_EQ(request->infer().code(), StatusCode::DeviceLost);
  EXPECT_EQ(seen.message(), "the link went down");
}

TEST(InferRequest, WaitReturnsAfterTheCallback) {
  const auto request = make_request({.duration = milliseconds(1)});
  std::atomic<bool> called{false};
  request->set_callback([&](const Status&) {
    std::this_thread::sleep_for(milliseconds(20));
    called = true;
  });
  ASSERT_TRUE(request->start_async().ok());
  ASSERT_TRUE(request->wait().ok());
  EXPECT_TRUE(called);
}

TEST(InferRequest, CallbackMayStartTheNextExecution) {
  const auto request = make_request({.complete_inline = true});
  int runs = 0;
  request->set_callback([&](const Status&) {
    if (++runs < 5) {
      EXPECT_TRUE(request->start_async().ok());
    }
  });
  ASSERT_TRUE(request->start_async().ok());
  ASSERT_TRUE(request->wait().ok());
  EXPECT_EQ(runs, 5);
}

TEST(InferRequest, KeepsTheCompiledModelAlive) {
  auto model = make_simulated_model({1}, {});
  const std::weak_ptr<CompiledModel> observer = model;
  auto request = std::move(*model->create_infer_request());
  model.reset();
  EXPECT_FALSE(observer.expired());
  request.reset();
  EXPECT_TRUE(observer.expired());
}

TEST(InferRequest, LetsGoOfThePictureAfterTheExecution) {
  const auto request = make_request({}, {1, 3, 2, 2});
  int released = 0;
  std::vector<std::byte> pixels(12, std::byte{7});
  Image image = *make_host_image(PixelFormat::BGR, 2, 2,
                                 wrap_host_memory(pixels.data(), 12, [&] { ++released; }));
  ASSERT_TRUE(request->set_image(0, std::move(image), {0, 0, 2, 2}).ok());
  EXPECT_EQ(released, 0);
  ASSERT_TRUE(request->infer().ok());
  EXPECT_EQ(released, 1);
  EXPECT_EQ(request->output(0).values<float>()[11], 7.0f);
}

TEST(InferRequest, RefusesEmptyRegionsAndWrongBatchItems) {
  const auto request = make_request({}, {1, 3, 2, 2});
  const Image image = *make_host_image(PixelFormat::BGR, 2, 2);
  const Status outside = request->set_image(0, image, {5, 5, 2, 2});
  EXPECT_EQ(outside.code(), StatusCode::InvalidArgument);
  EXPECT_NE(outside.message().find("no pixel"), std::string::npos) << outside.message();
  EXPECT_EQ(request->set_image(0, image, {0, 0, 0, 2}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(request->set_image(0, image, {0, 0, 2, 2}, 1).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(request->set_image(3, image, {0, 0, 2, 2}).code(), StatusCode::NotFound);
}

}  // namespace
}  // namespace het
