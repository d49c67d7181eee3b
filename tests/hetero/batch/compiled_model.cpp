#include "hetero/batch/compiled_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "inference/requests/infer_request.h"
#include "tests/simulated_device.h"

namespace het::hetero {
namespace {

using std::chrono::milliseconds;
using Requests = std::vector<std::unique_ptr<InferRequest>>;

constexpr size_t kBatch = 4;
constexpr int kLong = 60'000;

/// A batch of simulated executions that copy their input to their output.
class BatchCompiledModelTest : public testing::Test {
 protected:
  void make(int timeout_ms, const Shape& shape = {1, 2}) {
    SimulatedBehaviour single = single_;
    single.executions = &single_runs_;
    SimulatedBehaviour batched = batched_;
    batched.executions = &batched_runs_;
    batched.last_dst = &last_dst_;
    Shape many = shape;
    many[0] = kBatch;
    auto made = BatchCompiledModel::create({make_simulated_model(shape, single),
                                            make_simulated_model(many, batched),
                                            kBatch,
                                            {OutputCut()},
                                            "BATCH:SIMULATED(4)",
                                            {{"AUTO_BATCH_TIMEOUT", std::to_string(timeout_ms)}}});
    ASSERT_TRUE(made) << made.error().message();
    model_ = *made;
  }

  Requests make_requests(size_t count) {
    Requests requests;
    for (size_t i = 0; i < count; ++i) {
      auto request = model_->create_infer_request();
      EXPECT_TRUE(request) << request.error().message();
      requests.push_back(std::move(*request));
      fill(*requests.back(), static_cast<float>(i));
    }
    return requests;
  }

  static void fill(InferRequest& request, float value) {
    std::ranges::fill(Tensor(request.input(0)).values<float>(), value);
  }
  static void expect_value(const InferRequest& request, float value) {
    for (const float got : request.output(0).values<float>()) ASSERT_EQ(got, value);
  }
  static void start(InferRequest& request) {
    const Status status = request.start_async();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  static void expect_ok(InferRequest& request) {
    const Status status = request.wait_for(std::chrono::seconds(20));
    EXPECT_TRUE(status.ok()) << status.message();
  }
  static void expect_cancelled(InferRequest& request) {
    EXPECT_EQ(request.wait_for(std::chrono::seconds(20)).code(), StatusCode::Cancelled);
  }

  std::atomic<int> single_runs_{0};
  std::atomic<int> batched_runs_{0};
  std::atomic<const std::byte*> last_dst_{nullptr};
  SimulatedBehaviour single_;
  SimulatedBehaviour batched_;
  std::shared_ptr<CompiledModel> model_;
};

TEST_F(BatchCompiledModelTest, AFullBatchRunsOnceAndInPlace) {
  make(kLong);
  const Requests requests = make_requests(kBatch);
  for (const size_t i : {2, 0, 3, 1}) start(*requests[i]);
  for (size_t i = 0; i < kBatch; ++i) {
    expect_ok(*requests[i]);
    expect_value(*requests[i], static_cast<float>(i));
  }
  EXPECT_EQ(batched_runs_, 1);
  EXPECT_EQ(single_runs_, 0);
  EXPECT_EQ(last_dst_, requests[0]->output(0).bytes()) << "no copy";
}

TEST_F(BatchCompiledModelTest, ShowsThePortsOfOne) {
  make(kLong);
  EXPECT_EQ(to_string(model_->inputs()[0].desc), "float32[1,2]");
  EXPECT_EQ(to_string(model_->outputs()[0].desc), "float32[1,2]");
  EXPECT_EQ(*model_->get_property("OPTIMAL_BATCH_SIZE"), "4");
  EXPECT_EQ(*model_->get_property("AUTO_BATCH_TIMEOUT"), "60000");
}

TEST_F(BatchCompiledModelTest, AnyFourMakeABatch) {
  make(kLong);
  const Requests requests = make_requests(2 * kBatch);
  for (const size_t i : {1, 2, 5, 6}) start(*requests[i]);
  for (const size_t i : {1, 2, 5, 6}) {
    expect_ok(*requests[i]);
    expect_value(*requests[i], static_cast<float>(i));
  }
  EXPECT_EQ(batched_runs_, 1);
  for (const auto& request : requests) EXPECT_NE(last_dst_, request->output(0).bytes());
}

TEST_F(BatchCompiledModelTest, TensorsOfTheUserAreUsed) {
  make(kLong);
  const Requests requests = make_requests(kBatch);
  const Tensor input = Tensor::from<float>({1, 2}, {30, 31});
  ASSERT_TRUE(requests[1]->set_input(0, input).ok());
  float memory[4] = {-1, -1, -1, -1};
  const Tensor output = *Tensor::wrap(requests[2]->output(0).desc(), memory, sizeof memory, {},
                                      {16, 8});  // every other float
  ASSERT_TRUE(requests[2]->set_output(0, output).ok());
  for (const auto& request : requests) start(*request);
  for (const auto& request : requests) expect_ok(*request);
  expect_value(*requests[0], 0);
  EXPECT_EQ(requests[1]->output(0).values<float>()[1], 31);
  EXPECT_EQ(std::vector<float>(memory, memory + 4), (std::vector<float>{2, -1, 2, -1}));
  expect_value(*requests[3], 3);
  EXPECT_EQ(batched_runs_, 1);
}

TEST_F(BatchCompiledModelTest, AfterTheTimeoutTheyRunOneByOne) {
  make(50);
  const Requests requests = make_requests(kBatch);
  const auto begin = std::chrono::steady_clock::now();
  for (size_t i = 0; i < 3; ++i) start(*requests[i]);
  for (size_t i = 0; i < 3; ++i) {
    expect_ok(*requests[i]);
    expect_value(*requests[i], static_cast<float>(i));
  }
  EXPECT_GE(std::chrono::steady_clock::now() - begin, milliseconds(50));
  EXPECT_EQ(single_runs_, 3);
  EXPECT_EQ(batched_runs_, 0);
  // And then in batches again.
  for (const auto& request : requests) start(*request);
  for (const auto& request : requests) expect_ok(*request);
  EXPECT_EQ(batched_runs_, 1);
}

TEST_F(BatchCompiledModelTest, ARequestWithADeadlineTakesTheOthersAlong) {
  make(kLong);
  const Requests requests = make_requests(2);
  start(*requests[0]);
  requests[1]->set_deadline(std::chrono::steady_clock::now() + milliseconds(20));
  start(*requests[1]);
  for (size_t i = 0; i < 2; ++i) expect_ok(*requests[i]);
  EXPECT_EQ(single_runs_, 2);
}

TEST_F(BatchCompiledModelTest, TheTimeoutCanBeChangedWhileRequestsWait) {
  make(kLong);
  const Requests requests = make_requests(1);
  start(*requests[0]);
  EXPECT_EQ(model_->set_property({{"PERF_COUNT", "YES"}}).code(), StatusCode::NotSupported);
  EXPECT_EQ(model_->set_property({{"AUTO_BATCH_TIMEOUT", "x"}}).code(),
            StatusCode::InvalidArgument);
  const Status set = model_->set_property({{"AUTO_BATCH_TIMEOUT", "1"}});
  ASSERT_TRUE(set.ok()) << set.message();
  EXPECT_EQ(*model_->get_property("AUTO_BATCH_TIMEOUT"), "1");
  expect_ok(*requests[0]);
}

TEST_F(BatchCompiledModelTest, AnErrorReachesEveryRequestOfItsBatch) {
  batched_.outcome = error(StatusCode::DeviceLost, "the link is down");
  make(kLong);
  const Requests requests = make_requests(kBatch);
  for (int round = 0; round < 2; ++round) {
    for (const auto& request : requests) start(*request);
    for (const auto& request : requests) {
      const Status status = request->wait_for(std::chrono::seconds(20));
      EXPECT_EQ(status.code(), StatusCode::DeviceLost);
      EXPECT_EQ(status.message(), "the link is down");
    }
  }
}

TEST_F(BatchCompiledModelTest, ACancelledRequestLeavesTheCollectedOnes) {
  make(kLong);
  const Requests requests = make_requests(kBatch + 1);
  for (size_t i = 0; i < 3; ++i) start(*requests[i]);
  requests[1]->cancel();
  expect_cancelled(*requests[1]);
  start(*requests[3]);
  start(*requests[4]);
  for (const size_t i : {0, 2, 3, 4}) {
    expect_ok(*requests[i]);
    expect_value(*requests[i], static_cast<float>(i));
  }
  EXPECT_EQ(batched_runs_, 1);
}

TEST_F(BatchCompiledModelTest, CancelInARunningBatchIsForOneOnly) {
  batched_.duration = milliseconds(100);
  make(kLong);
  const Requests requests = make_requests(kBatch);
  for (const auto& request : requests) start(*request);
  while (batched_runs_ == 0) std::this_thread::yield();
  requests[2]->cancel();
  expect_cancelled(*requests[2]);
  for (const size_t i : {0, 1, 3}) expect_ok(*requests[i]);
  // The mark does not stay.
  for (const auto& request : requests) start(*request);
  for (const auto& request : requests) expect_ok(*request);
}

TEST_F(BatchCompiledModelTest, CancelOfARequestThatRunsAloneReachesTheDevice) {
  single_.duration = std::chrono::seconds(30);
  make(0);
  const Requests requests = make_requests(1);
  start(*requests[0]);
  while (single_runs_ == 0) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(20));
  requests[0]->cancel();
  expect_cancelled(*requests[0]);
}

TEST_F(BatchCompiledModelTest, RequestsMayEndWhileTheyWait) {
  make(kLong);
  const auto begin = std::chrono::steady_clock::now();
  Requests requests = make_requests(3);
  for (const auto& request : requests) start(*request);
  model_.reset();
  requests.clear();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
  EXPECT_EQ(single_runs_, 0);
}

TEST_F(BatchCompiledModelTest, ATensorKeepsItsMemoryWhenItsRequestEnds) {
  make(kLong);
  Requests requests = make_requests(kBatch);
  const Tensor kept = requests[1]->output(0);
  const std::byte* const other = requests[2]->output(0).bytes();
  requests.clear();
  requests = make_requests(kBatch);
  size_t reused = 0;
  for (const auto& request : requests) {
    EXPECT_NE(request->output(0).bytes(), kept.bytes());
    reused += request->output(0).bytes() == other ? 1 : 0;
  }
  EXPECT_EQ(reused, 1u);
}

Image gradient(int width, int height) {
  Image image = *make_host_image(PixelFormat::BGR, width, height, nullptr, 16);
  std::byte* const bytes = image.planes[0].buffer->host();
  for (size_t i = 0; i < image.planes[0].buffer->size_bytes(); ++i) {
    bytes[i] = static_cast<std::byte>(i * 7 + i / 50);
  }
  return image;
}

TEST_F(BatchCompiledModelTest, EveryRequestHasItsPictureAndRegion) {
  for (const bool in_place : {true, false}) {
    make(kLong, {1, 3, 8, 8});
    const Requests requests = make_requests(2 * kBatch);
    const Image image = gradient(40, 30);
    const Rect rois[kBatch] = {{0, 0, 40, 30}, {3, 5, 8, 8}, {10, 0, 20, 30}, {}};
    for (size_t i = 0; i < 3; ++i) {
      const Status status = requests[i]->set_image(0, image, rois[i]);
      ASSERT_TRUE(status.ok()) << status.message();
    }
    // The fourth has a tensor.
    const size_t last = in_place ? 3 : 6;
    for (size_t i = 0; i < 3; ++i) start(*requests[i]);
    start(*requests[last]);
    for (size_t i = 0; i < 3; ++i) {
      expect_ok(*requests[i]);
      Tensor wanted = *Tensor::allocate(model_->inputs()[0].desc);
      ASSERT_TRUE(preprocess(image, rois[i], *model_->inputs()[0].preprocess, wanted).ok());
      EXPECT_EQ(*to_float_vector(requests[i]->output(0)), *to_float_vector(wanted)) << i;
    }
    expect_ok(*requests[last]);
    expect_value(*requests[last], static_cast<float>(last));
  }
  EXPECT_EQ(batched_runs_, 2);
}

TEST_F(BatchCompiledModelTest, ExecutionsMayEndInTheirStart) {
  single_.complete_inline = true;
  batched_.complete_inline = true;
  make(5);
  const Requests requests = make_requests(kBatch + 1);
  for (const auto& request : requests) start(*request);
  for (size_t i = 0; i < requests.size(); ++i) {
    expect_ok(*requests[i]);
    expect_value(*requests[i], static_cast<float>(i));
  }
}

/// Threads with requests of their own, more of them than make whole batches; some cancel, some let
/// go of their request on the way.
TEST_F(BatchCompiledModelTest, ManyThreads) {
  make(1);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      Requests requests = make_requests(2);
      for (int round = 0; round < 60; ++round) {
        const float value = static_cast<float>(t * 1000) + static_cast<float>(round);
        for (const auto& request : requests) {
          fill(*request, value);
          start(*request);
        }
        if (round % 10 == static_cast<int>(t)) requests[0]->cancel();
        if (round % 20 == static_cast<int>(t)) {
          requests.pop_back();
          requests.push_back(std::move(make_requests(1)[0]));
        }
        for (const auto& request : requests) {
          const Status status = request->wait_for(std::chrono::seconds(20));
          ASSERT_TRUE(status.ok() || status.code() == StatusCode::Cancelled) << status.message();
          if (status.ok() && round % 20 != static_cast<int>(t)) expect_value(*request, value);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(batched_runs_, 0);
}

/// A request that is started again by its own callback, as pipelines do.
TEST_F(BatchCompiledModelTest, CallbacksMayStartAgain) {
  make(20);
  Requests requests = make_requests(kBatch);
  std::atomic<int> left{200};
  for (const auto& request : requests) {
    request->set_callback([&left, raw = request.get()](const Status& status) {
      EXPECT_TRUE(status.ok()) << status.message();
      if (--left <= 0) return;
      EXPECT_TRUE(raw->start_async().ok());
    });
    start(*request);
  }
  for (const auto& request : requests) expect_ok(*request);
  EXPECT_LE(left, 0);
  EXPECT_GE(batched_runs_, 40);
}

TEST_F(BatchCompiledModelTest, ModelsThatDoNotFitAreAnError) {
  const auto made = BatchCompiledModel::create({make_simulated_model({1, 2}, {}),
                                                make_simulated_model({4, 3}, {}),
                                                kBatch,
                                                {OutputCut()},
                                                "BATCH:SIMULATED(4)",
                                                {}});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message().find("port 'x' float32[1,2]"), std::string::npos)
      << made.error().message();
}

}  // namespace
}  // namespace het::hetero
