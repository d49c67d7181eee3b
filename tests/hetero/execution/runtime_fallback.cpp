/// Devices of MULTI and AUTO that fail while requests run.
#include <gmock/gmock.h>

#include <atomic>
#include <random>
#include <thread>

#include "devices/ref/ref_device.h"
#include "hetero/multi/auto_device.h"
#include "hetero/multi/device.h"
#include "tests/hetero/execution/saboteur.h"
#include "tests/hetero/multi/multi_testing.h"

namespace het::hetero {
namespace {

using testing::HasSubstr;

class RuntimeFallback : public MultiTest {
 protected:
  void SetUp() override {
    MultiTest::SetUp();
    core_.devices().add("AUTO", make_auto_device, {}, true);
    core_.devices().add("MULTI", make_multi_device, {}, true);
  }
  /// Losses and returns until now, as "-FAST", "+FAST".
  static std::vector<std::string> changes(const CompiledModel& compiled) {
    uint64_t next = 0;
    std::vector<std::string> texts;
    for (const DeviceEvent& event : compiled.device_events(next)) {
      texts.push_back((event.cause.empty() ? "+" : "-") + event.device);
    }
    return texts;
  }
  void run_all(std::vector<CheckedRequest>& requests, int rounds) {
    for (int round = 0; round < rounds; ++round) {
      for (CheckedRequest& request : requests) start(request);
      for (CheckedRequest& request : requests) expect_right(request);
    }
  }

  const std::unique_ptr<Model> model_ = diamond();
};

TEST_F(RuntimeFallback, MultiGoesOnWithTheOthersAndTakesTheDeviceBack) {
  for (const DeviceCall call : {DeviceCall::Submit, DeviceCall::Callback, DeviceCall::Wait}) {
    SCOPED_TRACE(to_string(call));
    Saboteur saboteur(fast_);
    const auto compiled = compile(*model_, "MULTI:FAST,OTHER", {{"HETERO_RETRY_INTERVAL", "20"}});
    ASSERT_NE(compiled, nullptr);
    std::vector<CheckedRequest> requests = make_requests(*model_, *compiled, 6);
    run_all(requests, 2);
    EXPECT_THAT(changes(*compiled), testing::IsEmpty());
    saboteur.plan({.call = call, .after = 1});
    run_all(requests, 5);
    EXPECT_GE(saboteur.hits(call), 1u);
    EXPECT_EQ(changes(*compiled), std::vector<std::string>{"-FAST"});
    saboteur.mend();
    EXPECT_TRUE(eventually([&] {
      run_all(requests, 1);
      return changes(*compiled) == std::vector<std::string>{"-FAST", "+FAST"};
    }));
    const size_t before = runs(*fast_);
    run_all(requests, 3);
    EXPECT_GT(runs(*fast_), before);
  }
}

TEST_F(RuntimeFallback, WithoutADeviceRequestsFailUntilOneWorks) {
  Saboteur fast(fast_);
  Saboteur other(other_);
  const auto compiled = compile(*model_, "MULTI:FAST,OTHER", {{"HETERO_RETRY_INTERVAL", "0"}});
  std::vector<CheckedRequest> requests = make_requests(*model_, *compiled, 4);
  fast.plan({});
  other.plan({});
  for (CheckedRequest& request : requests) start(request);
  for (CheckedRequest& request : requests) {
    EXPECT_EQ(request.request->wait().code(), StatusCode::DeviceLost);
  }
  EXPECT_THAT(changes(*compiled), testing::UnorderedElementsAre("-FAST", "-OTHER"));
  other.mend();
  EXPECT_TRUE(eventually([&] {
    start(requests[0]);
    return requests[0].request->wait().ok();
  })) << "asked again, since nobody else is there";
  run_all(requests, 2);
}

TEST_F(RuntimeFallback, ItCanBeSwitchedOff) {
  Saboteur saboteur(fast_);
  for (const char* device : {"MULTI:FAST,OTHER", "AUTO:FAST,OTHER"}) {
    const auto compiled = compile(*model_, device, {{"ENABLE_RUNTIME_FALLBACK", "NO"}});
    std::vector<CheckedRequest> requests = make_requests(*model_, *compiled, 1);
    saboteur.plan({});
    start(requests[0]);
    EXPECT_EQ(requests[0].request->wait().code(), StatusCode::DeviceLost);
    saboteur.mend();
  }
}

TEST_F(RuntimeFallback, AutoCompilesForAnotherDeviceAndReturns) {
  Saboteur saboteur(fast_);
  const auto compiled = compile(*model_, "AUTO:FAST,OTHER", {{"HETERO_RETRY_INTERVAL", "20"}});
  ASSERT_NE(compiled, nullptr);
  std::vector<CheckedRequest> requests = make_requests(*model_, *compiled, 4);
  for (int time = 0; time < 2; ++time) {
    run_all(requests, 2);
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
    const size_t compiles = other_->compiled_with.size();
    saboteur.plan({.call = DeviceCall::Callback});
    run_all(requests, 3);
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "OTHER");
    EXPECT_EQ(other_->compiled_with.size(), compiles + (time == 0 ? 1 : 0)) << "kept";
    saboteur.mend();
    EXPECT_TRUE(eventually([&] {
      run_all(requests, 1);
      return property(*compiled, "EXECUTION_DEVICES") == "FAST";
    }));
  }
  EXPECT_EQ(changes(*compiled), (std::vector<std::string>{"-FAST", "+FAST", "-FAST", "+FAST"}));
}

TEST_F(RuntimeFallback, AutoFailsWhereNothingElseCompiles) {
  Saboteur saboteur(fast_);
  other_->compiling = [](const Model&) { return error(StatusCode::NotSupported, "not this one"); };
  const auto compiled = compile(*model_, "AUTO:FAST,OTHER", {{"HETERO_RETRY_INTERVAL", "0"}});
  std::vector<CheckedRequest> requests = make_requests(*model_, *compiled, 3);
  saboteur.plan({});
  for (CheckedRequest& request : requests) start(request);
  for (CheckedRequest& request : requests) {
    EXPECT_EQ(request.request->wait().code(), StatusCode::DeviceLost);
  }
  EXPECT_EQ(changes(*compiled), (std::vector<std::string>{"-FAST", "-OTHER"}));
}

/// A picture is there for the device that takes over, and let go of afterwards.
TEST_F(RuntimeFallback, PicturesAreKeptForAnotherDevice) {
  ModelMaker maker;
  maker.output(maker.op("Relu", {maker.input({1, 3, 16, 16})}));
  maker.model().set_preprocess(0, PreprocessDesc());
  Saboteur saboteur(fast_);
  const auto compiled =
      compile(maker.model(), "MULTI:FAST,OTHER", {{"HETERO_RETRY_INTERVAL", "0"}});
  const auto reference = compile(maker.model(), "REF");
  ASSERT_NE(compiled, nullptr);
  const auto request = *compiled->create_infer_request();
  const auto wanted = *reference->create_infer_request();
  for (int round = 0; round < 3; ++round) {
    if (round == 1) saboteur.plan({.call = DeviceCall::Callback});
    const Image image = *make_host_image(PixelFormat::RGB, 24, 20);
    for (size_t i = 0; i < size_t{24} * 20 * 3; ++i) {
      image.planes[0].buffer->host()[i] =
          static_cast<std::byte>(i * 7 + static_cast<size_t>(round));
    }
    ASSERT_TRUE(request->set_image(0, image, image.full()).ok());
    ASSERT_TRUE(wanted->set_image(0, image, image.full()).ok());
    ASSERT_TRUE(wanted->infer().ok());
    const Status status = request->infer();
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(std::memcmp(request->output(0).bytes(), wanted->output(0).bytes(),
                          wanted->output(0).size_bytes()),
              0);
    EXPECT_EQ(image.planes[0].buffer.use_count(), 1) << "round " << round;
  }
}

/// Devices that fail and are mended at random moments: every request ends right.
TEST_F(RuntimeFallback, RandomFaultsLoseNothing) {
  Saboteur saboteur(fast_);
  for (const char* device : {"MULTI:FAST,OTHER", "AUTO:FAST,OTHER"}) {
    const auto compiled = compile(*model_, device, {{"HETERO_RETRY_INTERVAL", "1"}});
    std::vector<CheckedRequest> requests = make_requests(*model_, *compiled, 8);
    std::atomic<bool> stopping{false};
    std::thread breaker([&] {
      std::mt19937 generator(7);
      constexpr DeviceCall kCalls[] = {DeviceCall::Submit, DeviceCall::Callback, DeviceCall::Wait};
      while (!stopping) {
        saboteur.plan({.call = kCalls[generator() % 3], .after = generator() % 4});
        std::this_thread::sleep_for(milliseconds(1 + generator() % 4));
        saboteur.mend();
        std::this_thread::sleep_for(milliseconds(1 + generator() % 4));
      }
    });
    run_all(requests, 150);
    stopping = true;
    breaker.join();
    EXPECT_GT(saboteur.errors(), 0u);
    const auto all = changes(*compiled);
    EXPECT_THAT(all, testing::Contains("-FAST"));
  }
}

}  // namespace
}  // namespace het::hetero
