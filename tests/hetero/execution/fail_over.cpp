#include "hetero/execution/fail_over.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "inference/base/log.h"
#include "inference/requests/stateful_model.h"
#include "tests/hetero/execution/fault_run.h"
#include "tests/hetero/execution/saboteur.h"
#include "tests/hetero/hetero_testing.h"
#include "tests/hetero/wrapped_memory.h"

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

  /// What has been told since the last call: "FAST: the link is down", "FAST is back".
  std::vector<std::string> events(const CompiledModel& model) {
    std::vector<std::string> texts;
    for (const DeviceEvent& event : model.device_events(next_event_)) {
      texts.push_back(event.device + (event.cause.empty() ? " is back" : ": " + event.cause));
    }
    return texts;
  }
  /// Until FAST is used or not.
  static void infer_until(InferRequest& request, bool is_used) {
    for (int i = 0; i < 2000; ++i) {
      ASSERT_TRUE(request.infer().ok());
      const std::string used = property(request.compiled_model(), "EXECUTION_DEVICES");
      if ((used.find("FAST") != std::string::npos) == is_used) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    FAIL() << "FAST is " << (is_used ? "not used again" : "still used");
  }

  std::atomic<bool> broken_ = false;
  uint64_t next_event_ = 0;
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

TEST_F(HeteroFailOverTest, EveryCallOfADeviceMayFail) {
  const auto model = diamond();
  for (size_t c = 0; c < kDeviceCalls; ++c) {
    const auto call = static_cast<DeviceCall>(c);
    SCOPED_TRACE(to_string(call));
    fast_ = std::make_shared<WrappedBehaviour>();
    refuse_types(*fast_, {"Tanh"});
    fast_->has_own_memory = true;
    Saboteur saboteur(fast_);
    Core core;
    register_devices(core);
    add_wrapped_device(core, "FAST", fast_);
    if (call == DeviceCall::Compile) saboteur.plan({.call = call});
    const auto compiled =
        *core.compile_model(*model, "HETERO:FAST,REF", {{"HETERO_RETRY_INTERVAL", "0"}});
    auto request = *compiled->create_infer_request();
    if (call != DeviceCall::Compile) {
      EXPECT_TRUE(request->infer().ok());
      saboteur.plan({.call = call});
    }
    // Also makes a request and lets go of it.
    expect_results_of_ref(*model, *compiled);
    EXPECT_TRUE(request->infer().ok());
    EXPECT_EQ(saboteur.hits(call), 1u);
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
    next_event_ = 0;
    EXPECT_THAT(events(*compiled),
                testing::ElementsAre(testing::AllOf(
                    testing::StartsWith("FAST: "),
                    HasSubstr(call == DeviceCall::Release ? "gone at submit" : "fault at"))));
  }
}

TEST_F(HeteroFailOverTest, LossesAndReturnsAreTold) {
  const auto model = diamond();
  const auto compiled = compile(*model, "HETERO:FAST,REF", {{"HETERO_RETRY_INTERVAL", "5"}});
  auto request = *compiled->create_infer_request();
  EXPECT_TRUE(request->infer().ok());
  EXPECT_THAT(events(*compiled), testing::IsEmpty());
  broken_ = true;
  infer_until(*request, false);
  EXPECT_THAT(events(*compiled),
              testing::ElementsAre(testing::AllOf(testing::StartsWith("FAST: "),
                                                  HasSubstr("the link is down in its callback"))));
  broken_ = false;
  infer_until(*request, true);
  EXPECT_THAT(events(*compiled), testing::ElementsAre("FAST is back"));
  // Who asks later learns the same, also through what keeps state outside of devices.
  const StatefulCompiledModel outer(compiled, {});
  for (const CompiledModel* asked : {static_cast<const CompiledModel*>(&outer),
                                     static_cast<const CompiledModel*>(compiled.get())}) {
    uint64_t from_start = 0;
    EXPECT_EQ(asked->device_events(from_start).size(), 2u);
    EXPECT_EQ(from_start, next_event_);
  }
}

/// A model of unbound shapes has a plan for each that came, and each finds out by itself.
TEST_F(HeteroFailOverTest, ModelsOfUnboundShapesTellALossOnce) {
  ModelMaker maker;
  Value* x = maker.input({kUnknownDim, 3});
  maker.output(maker.op("Tanh", {maker.op("Sigmoid", {x})}));
  const auto compiled = compile(maker.model(), "HETERO:FAST,REF", {{"HETERO_RETRY_INTERVAL", "5"}});
  auto request = *compiled->create_infer_request();
  const auto infer_all = [&] {
    for (const int64_t rows : {1, 2, 3}) {
      infer(*request, {random_tensor({rows, 3}, 1, 1.0f)});
    }
  };
  infer_all();
  EXPECT_THAT(events(*compiled), testing::IsEmpty());
  broken_ = true;
  infer_all();
  EXPECT_THAT(events(*compiled),
              testing::ElementsAre(
                  testing::AllOf(testing::StartsWith("FAST: "), HasSubstr("the link is down"))));
  broken_ = false;
  std::vector<std::string> told;
  for (int i = 0; i < 2000 && told.empty(); ++i) {
    infer_all();
    told = events(*compiled);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_THAT(told, testing::ElementsAre("FAST is back"));
}

TEST_F(HeteroFailOverTest, ADeviceThatFailedToCompileReturns) {
  broken_ = true;
  const auto model = diamond();
  const auto compiled = compile(*model, "HETERO:FAST,REF", {{"HETERO_RETRY_INTERVAL", "5"}});
  EXPECT_THAT(events(*compiled), testing::ElementsAre(testing::StartsWith("FAST: ")));
  auto request = *compiled->create_infer_request();
  EXPECT_TRUE(request->infer().ok());
  broken_ = false;
  infer_until(*request, true);
  EXPECT_THAT(events(*compiled), testing::ElementsAre("FAST is back"));
  expect_results_of_ref(*model, *compiled);
}

TEST_F(HeteroFailOverTest, OneOfTwoLostDevicesReturns) {
  const auto model = diamond();
  Saboteur other(other_);
  const auto compiled = compile(*model, "HETERO:FAST,OTHER,REF", {{"HETERO_RETRY_INTERVAL", "5"}});
  auto request = *compiled->create_infer_request();
  broken_ = true;
  other.plan({.call = DeviceCall::Callback});
  infer_until(*request, false);
  // The first one's failure may have hidden the other's.
  EXPECT_TRUE(request->infer().ok());
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
  broken_ = false;
  infer_until(*request, true);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST REF");
  expect_results_of_ref(*model, *compiled);
  other.mend();
  for (int i = 0; i < 2000 && property(*compiled, "EXECUTION_DEVICES") != "FAST OTHER"; ++i) {
    ASSERT_TRUE(request->infer().ok());
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER");
  EXPECT_EQ(events(*compiled).size(), 4u);
}

/// Whoever has to read it fails: no device is dropped for that.
TEST_F(HeteroFailOverTest, APictureThatIsGoneBlamesNoDevice) {
  ModelMaker by_device("picture");
  by_device.output(by_device.op("Relu", {by_device.input({1, 3, 8, 8})}));
  // HETERO itself converts a picture that is an output.
  ModelMaker by_hetero("output");
  Value* x = by_hetero.input({1, 3, 8, 8});
  by_hetero.output(by_hetero.op("Relu", {x}));
  by_hetero.output(x);
  for (ModelMaker* maker : {&by_device, &by_hetero}) {
    maker->model().set_preprocess(0, PreprocessDesc());
    const auto compiled = compile(maker->model(), "HETERO:FAST,REF");
    auto request = *compiled->create_infer_request();
    const std::string used = property(*compiled, "EXECUTION_DEVICES");
    bool is_gone = true;
    const auto mapping = [&is_gone] {
      return is_gone ? Status(StatusCode::DeviceLost, "the display is gone") : Status();
    };
    Image image = *make_host_image(PixelFormat::RGB, 16, 12);
    const TensorDesc bytes{ElementType::UInt8,
                           {static_cast<int64_t>(image.planes[0].buffer->size_bytes())}};
    image.planes[0].buffer = allocate_wrapped_memory(bytes, {mapping, [] {}})->buffer();
    ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
    const Status status = request->infer();
    EXPECT_EQ(status.code(), StatusCode::DeviceLost);
    EXPECT_THAT(status.message(), HasSubstr("the display is gone"));
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), used);
    next_event_ = 0;
    EXPECT_THAT(events(*compiled), testing::IsEmpty());
    is_gone = false;
    ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
    EXPECT_TRUE(request->infer().ok());
  }
}

/// Relu on OTHER, Sigmoid on FAST, Tanh on REF.
class HeteroResumeTest : public HeteroFailOverTest {
 protected:
  void SetUp() override {
    HeteroFailOverTest::SetUp();
    refuse_types(*fast_, {"Relu", "Tanh"});
    refuse_types(*other_, {"Sigmoid", "Tanh"});
    Value* x = maker_.op("Relu", {maker_.input({1, 3, 8, 8})});
    maker_.output(maker_.op("Tanh", {maker_.op("Sigmoid", {x})}));
  }
  std::shared_ptr<CompiledModel> compile_chain() {
    return compile(maker_.model(), "HETERO:OTHER,FAST,REF", {{"HETERO_RETRY_INTERVAL", "0"}});
  }
  static size_t executions(WrappedBehaviour& behaviour) {
    std::lock_guard lock(behaviour.mutex);
    return behaviour.executions.size();
  }

  ModelMaker maker_{"chain"};
};

TEST_F(HeteroResumeTest, WhatHasEndedIsNotRunAgain) {
  for (const bool has_own_memory : {false, true}) {
    broken_ = false;
    fast_->has_own_memory = other_->has_own_memory = has_own_memory;
    const auto compiled = compile_chain();
    ASSERT_EQ(property(*compiled, "EXECUTION_DEVICES"), "OTHER FAST REF");
    const auto ref = compile(maker_.model(), "REF");
    auto wanted = *ref->create_infer_request();
    const std::vector<Tensor> inputs = inputs_of(*ref);
    const std::vector<Tensor> expected = infer(*wanted, inputs);
    std::vector<std::unique_ptr<InferRequest>> requests;
    for (int i = 0; i < 3; ++i) requests.push_back(*compiled->create_infer_request());
    broken_ = true;
    const size_t before = executions(*other_);
    // All on the plan with FAST.
    for (auto& request : requests) {
      ASSERT_TRUE(request->set_input(0, inputs[0]).ok());
      ASSERT_TRUE(request->start_async().ok());
    }
    for (auto& request : requests) {
      const Status status = request->wait();
      ASSERT_TRUE(status.ok()) << status.message();
      EXPECT_EQ(
          std::memcmp(request->output(0).bytes(), expected[0].bytes(), expected[0].size_bytes()),
          0);
    }
    EXPECT_EQ(executions(*other_), before + requests.size());
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "OTHER REF");
    for (auto& request : requests) EXPECT_TRUE(request->infer().ok());
    expect_results_of_ref(maker_.model(), *compiled);
    next_event_ = 0;
    EXPECT_EQ(events(*compiled).size(), 1u);
  }
}

TEST_F(HeteroResumeTest, ASecondLossIsSurvivedToo) {
  // OTHER takes FAST's place and fails there, then in its own.
  refuse_types(*other_, {"Tanh"});
  fast_->refuse = [](const Model&, const Node& node) -> std::string {
    return node.op_type() == "Sigmoid" ? "" : "Sigmoid only";
  };
  const auto compiled =
      compile(maker_.model(), "HETERO:FAST,OTHER,REF", {{"HETERO_RETRY_INTERVAL", "0"}});
  ASSERT_EQ(property(*compiled, "EXECUTION_DEVICES"), "OTHER FAST REF");
  auto request = *compiled->create_infer_request();
  Saboteur other(other_);
  broken_ = true;
  other.plan({.call = DeviceCall::Callback, .after = 1});
  const Status status = request->infer();
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(other.hits(DeviceCall::Callback), 1u);
  expect_results_of_ref(maker_.model(), *compiled);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "REF");
}

/// A decoder needs its surfaces back while the rest of the model still runs.
TEST_F(HeteroResumeTest, APictureGoesOnceItsReadersHaveEnded) {
  maker_.model().set_preprocess(0, PreprocessDesc());
  const auto compiled = compile_chain();
  auto request = *compiled->create_infer_request();
  std::vector<std::byte> pixels(16 * 12 * 3, std::byte{77});
  std::atomic<bool> is_released = false;
  bool was_released = false;
  fast_->before = [&] { was_released = is_released; };
  for (const bool fails : {false, true}) {
    Image image = *make_host_image(PixelFormat::RGB, 16, 12);
    image.planes[0].buffer =
        wrap_host_memory(pixels.data(), pixels.size(), [&] { is_released = true; });
    ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
    image = {};
    is_released = was_released = false;
    broken_ = fails;
    const size_t before = executions(*other_);
    const Status status = request->infer();
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(was_released);
    EXPECT_EQ(executions(*other_), before + 1);
  }
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "OTHER REF");
}

TEST_F(HeteroFailOverTest, AHalfDeviceReturns) {
  // What crosses as float16 is decided by what was measured between devices, lost ones included.
  const auto model = diamond();
  const auto compiled =
      compile(*model, "HETERO:FAST,REF",
              {{"HETERO_RETRY_INTERVAL", "5"}, {"FAST.INFERENCE_PRECISION_HINT", "f16"}});
  ASSERT_NE(compiled, nullptr);
  auto request = *compiled->create_infer_request();
  broken_ = true;
  infer_until(*request, false);
  broken_ = false;
  infer_until(*request, true);
}

/// A few of the runs of ./check.sh --long hetero_faults.
TEST(HeteroFaults, PipelinesLoseNoFrame) {
  FaultRuns faults;
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(faults.run(2, i), "") << "run " << i;
  for (size_t c = 0; c < kDeviceCalls; ++c) {
    const auto call = static_cast<DeviceCall>(c);
    EXPECT_GT(faults.hits(call), 0u) << to_string(call);
  }
  EXPECT_GT(faults.returns(), 0u);
  EXPECT_GT(faults.second_faults(), 0u);
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

TEST_F(HeteroFailOverTest, AnErrorAfterALossNamesThreeNodes) {
  ModelMaker maker("chain");
  Value* x = maker.input({1, 4});
  for (int i = 0; i < 9; ++i) x = maker.op("Relu", {x});
  maker.output(x);
  refuse_types(*other_, {"Relu"});
  const auto compiled = compile(maker.model(), "HETERO:FAST,OTHER");
  ASSERT_NE(compiled, nullptr);
  auto request = *compiled->create_infer_request();
  ASSERT_TRUE(request->infer().ok());
  broken_ = true;
  const std::string message = request->infer().message();
  EXPECT_THAT(message, HasSubstr("9 of 9 nodes run on none of OTHER"));
  EXPECT_THAT(message, HasSubstr("'Relu2' (Relu)"));
  EXPECT_THAT(message, HasSubstr("and 6 more"));
  EXPECT_THAT(message, testing::Not(HasSubstr("Relu3")));
}

}  // namespace
}  // namespace het::hetero
