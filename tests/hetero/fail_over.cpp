#include "hetero/fail_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "inference/log.h"
#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

using testing::HasSubstr;

/// FAST fails when `broken_` says so.
class HeteroFailOverTest : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    refuse_types(*fast_, {"Tanh"});
    fast_->outcome = [this](size_t) { return state("in its callback"); };
    fast_->compiling = [this](const Model&) { return state("at compile"); };
    fast_->request_outcome = [this] { return state("making a request"); };
  }

  Status state(const char* where) {
    if (!broken_) return {};
    return error(StatusCode::DeviceLost, "the link is down {}", where);
  }

  std::atomic<bool> broken_ = false;
};

TEST_F(HeteroFailOverTest, ARequestIsRunAgainOnTheOthers) {
  const auto model = diamond();
  const auto compiled = compile(*model, "HETERO:FAST,REF", {{"HETERO_RETRY_INTERVAL", "0"}});
  auto request = *compiled->create_infer_request();
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST REF");
  broken_ = true;
  const Status status = request->infer();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
  expect_results_of_ref(*model, *compiled);
  // Never tried again.
  broken_ = false;
  EXPECT_TRUE(request->infer().ok());
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
}

TEST_F(HeteroFailOverTest, NewRequestsDoWithoutALostDevice) {
  const auto model = diamond();
  const auto compiled = compile(*model, "HETERO:FAST,REF", {{"HETERO_RETRY_INTERVAL", "0"}});
  broken_ = true;
  auto request = compiled->create_infer_request();
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
  expect_results_of_ref(*model, *compiled);
}

TEST_F(HeteroFailOverTest, TwoDevicesMayFailAtOnce) {
  const auto model = diamond();
  refuse_types(*other_, {"Sigmoid"});
  other_->compiling = [this](const Model&) { return state("at compile"); };
  other_->outcome = [this](size_t) { return state("in its callback"); };
  const auto compiled = compile(*model, "HETERO:FAST,OTHER,REF", {{"HETERO_RETRY_INTERVAL", "0"}});
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER");
  auto request = *compiled->create_infer_request();
  broken_ = true;
  const Status status = request->infer();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
}

TEST_F(HeteroFailOverTest, ADeviceThatReturnsIsTakenBack) {
  const auto model = diamond();
  const auto compiled = compile(*model, "HETERO:FAST,REF", {{"HETERO_RETRY_INTERVAL", "20"}});
  auto request = *compiled->create_infer_request();
  broken_ = true;
  ASSERT_TRUE(request->infer().ok());
  const auto run_for = [&](std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) ASSERT_TRUE(request->infer().ok());
  };
  run_for(std::chrono::milliseconds(100));
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
  broken_ = false;
  for (int i = 0; i < 100 && property(*compiled, "EXECUTION_DEVICES") == "REF"; ++i) {
    run_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST REF");
  expect_results_of_ref(*model, *compiled);
  // And lost again.
  broken_ = true;
  EXPECT_TRUE(request->infer().ok());
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
}

TEST_F(HeteroFailOverTest, ADeviceThatFailsToCompileIsLeftOut) {
  broken_ = true;
  const auto model = diamond();
  const auto compiled = compile(*model, "HETERO:FAST,REF");
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
  expect_results_of_ref(*model, *compiled);
  EXPECT_THAT(compile_error(*model, "HETERO:FAST,REF", {{"HETERO_FAIL_OVER", "NO"}}),
              HasSubstr("the link is down at compile"));
}

TEST_F(HeteroFailOverTest, WhatNothingReplacesIsAnError) {
  const auto model = diamond();
  refuse_types(*other_, {"Relu"});
  const auto compiled = compile(*model, "HETERO:FAST,OTHER", {{"HETERO_RETRY_INTERVAL", "0"}});
  auto request = *compiled->create_infer_request();
  broken_ = true;
  const Status status = request->infer();
  EXPECT_EQ(status.code(), StatusCode::DeviceLost);
  EXPECT_THAT(status.message(), HasSubstr("the link is down"));
  EXPECT_THAT(status.message(), HasSubstr("no Relu here"));
  broken_ = false;
  EXPECT_TRUE(request->infer().ok());
}

TEST_F(HeteroFailOverTest, ErrorsOfTheInputBlameNoDevice) {
  const auto model = diamond();
  fast_->outcome = [](size_t) { return Status(StatusCode::InvalidArgument, "index 9 of 4"); };
  const auto compiled = compile(*model, "HETERO:FAST,REF");
  auto request = *compiled->create_infer_request();
  EXPECT_EQ(request->infer().code(), StatusCode::InvalidArgument);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST REF");
}

TEST_F(HeteroFailOverTest, PicturesAreKeptUntilTheEnd) {
  ModelMaker maker("picture");
  maker.output(maker.op("Relu", {maker.input({1, 3, 8, 8})}));
  maker.model().set_preprocess(0, PreprocessDesc());
  const auto compiled = compile(maker.model(), "HETERO:FAST,REF");
  const auto ref = compile(maker.model(), "REF");
  const Image image = *make_host_image(PixelFormat::RGB, 16, 12);
  for (size_t i = 0; i < 16 * 12 * 3; ++i) {
    image.planes[0].buffer->host()[i] = static_cast<std::byte>(i * 5);
  }
  std::vector<Tensor> results;
  for (CompiledModel* model : {compiled.get(), ref.get()}) {
    auto request = *model->create_infer_request();
    broken_ = true;
    ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
    ASSERT_TRUE(request->infer().ok());
    results.push_back(*request->output(0).clone());
  }
  EXPECT_EQ(std::memcmp(results[0].bytes(), results[1].bytes(), results[0].size_bytes()), 0);
  EXPECT_EQ(image.planes[0].buffer.use_count(), 1);
}

/// Faults at random moments while requests run all the time: every request ends well, with its own
/// result.
TEST_F(HeteroFailOverTest, NoRequestIsLostWhateverFails) {
  ModelMaker maker("numbers");
  Value* x = maker.input({1, 4});
  maker.output(maker.op("Neg", {maker.op("Abs", {maker.op("Relu", {x})})}));
  fast_->refuse = [](const Model&, const Node& node) {
    return node.op_type() == "Abs" ? std::string("no Abs here") : std::string();
  };
  for (const bool ends_inline : {false, true}) {
    fast_->ends_inline = ends_inline;
    broken_ = false;
    const auto compiled =
        compile(maker.model(), "HETERO:FAST,OTHER,REF", {{"HETERO_RETRY_INTERVAL", "3"}});
    constexpr size_t kRequests = 4;
    constexpr int kExecutions = 400;
    constexpr int kBreaks = 10;
    std::vector<std::unique_ptr<InferRequest>> requests;
    for (size_t i = 0; i < kRequests; ++i) requests.push_back(*compiled->create_infer_request());
    std::atomic<bool> done = false;
    std::atomic<int> breaks = 0;
    std::thread saboteur([&] {
      std::mt19937 random(7);
      while (!done) {
        broken_ = !broken_;
        if (broken_) ++breaks;
        std::this_thread::sleep_for(std::chrono::microseconds(random() % 4000));
      }
    });
    for (int k = 0; k < kExecutions || breaks < kBreaks; ++k) {
      InferRequest& request = *requests[static_cast<size_t>(k) % kRequests];
      if (k >= static_cast<int>(kRequests)) {
        const Status status = request.wait();
        EXPECT_TRUE(status.ok()) << status.message();
        EXPECT_EQ(request.output(0).data<float>()[0], -static_cast<float>(k - int{kRequests}));
      }
      std::ranges::fill(Tensor(request.input(0)).values<float>(), static_cast<float>(k));
      ASSERT_TRUE(request.start_async().ok());
    }
    for (auto& request : requests) EXPECT_TRUE(request->wait().ok());
    done = true;
    saboteur.join();
  }
}

}  // namespace
}  // namespace het::hetero
