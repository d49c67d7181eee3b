#include "hetero/multi/auto_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <thread>

#include "devices/ref/ref_device.h"
#include "hetero/batch/device.h"
#include "hetero/hetero_device.h"
#include "hetero/multi/device.h"
#include "inference/base/log.h"
#include "tests/hetero/multi/multi_testing.h"

namespace het::hetero {
namespace {

using testing::HasSubstr;

/// CPU is a wrapped device, too, so that all results have REF's bits; BROKEN cannot be opened.
class AutoDeviceTest : public MultiTest {
 protected:
  void SetUp() override {
    const auto exists_once = [] { return std::vector<std::string>{""}; };
    add_wrapped_device(core_, "CPU", cpu_);
    core_.devices().add("REF", ref::make_device, exists_once);
    add_wrapped_device(core_, "FAST", fast_);
    add_wrapped_device(core_, "OTHER", other_);
    core_.devices().add(
        "BROKEN",
        [](Core&, std::string_view) -> Result<std::shared_ptr<Device>> {
          return error(StatusCode::DeviceLost, "no driver answers");
        },
        [] { return std::vector<std::string>(); });
    core_.devices().add("HETERO", make_hetero_device, {}, true);
    core_.devices().add("MULTI", make_multi_device, {}, true);
    core_.devices().add("AUTO", make_auto_device, {}, true);
    fast_->before = [this] { fast_gate_.pass(); };
    cpu_->before = [this] { cpu_gate_.pass(); };
    fast_->compiling = [this](const Model&) {
      compile_gate_.pass();
      return Status();
    };
  }
  void TearDown() override {
    MultiTest::TearDown();
    cpu_gate_.open();
    compile_gate_.open();
  }

  static bool runs_on(const CompiledModel& compiled, const std::string& device) {
    return eventually([&] { return property(compiled, "EXECUTION_DEVICES") == device; });
  }

  std::shared_ptr<WrappedBehaviour> cpu_ = std::make_shared<WrappedBehaviour>();
  Gate cpu_gate_;
  Gate compile_gate_;
};

/// Counts warnings while it lives.
class WarningCounter {
 public:
  WarningCounter() {
    set_log_sink(
        [this](LogLevel, std::string_view message) {
          std::lock_guard lock(mutex_);
          messages_.emplace_back(message);
        },
        LogLevel::Warning);
  }
  ~WarningCounter() { set_log_sink({}, LogLevel::Warning); }
  std::vector<std::string> messages() {
    std::lock_guard lock(mutex_);
    return messages_;
  }

 private:
  std::mutex mutex_;  ///< protects messages_; taken alone
  std::vector<std::string> messages_;
};

TEST_F(AutoDeviceTest, CpuServesUntilTheAcceleratorIsReady) {
  const auto model = diamond();
  compile_gate_.close();
  for (const char* hint : {"LATENCY", "THROUGHPUT"}) {
    const auto compiled = compile(*model, "AUTO:FAST,CPU", {{"PERFORMANCE_HINT", hint}});
    ASSERT_NE(compiled, nullptr);
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "(CPU)");
    EXPECT_EQ(property(*compiled, "MULTI_DEVICE_PRIORITIES"), "FAST,CPU");
    {
      // Inputs are told apart by their addresses, which come again.
      std::lock_guard lock(cpu_->mutex);
      cpu_->executions.clear();
    }
    std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 3);
    const size_t before = runs(*fast_);
    for (CheckedRequest& request : requests) start(request);
    for (CheckedRequest& request : requests) expect_right(request);
    EXPECT_EQ(runs(*fast_), before);
    EXPECT_EQ(runs(*cpu_, requests[2]), 1u);
    compile_gate_.open();
    EXPECT_TRUE(runs_on(*compiled, "FAST"));
    for (CheckedRequest& request : requests) start(request);
    for (CheckedRequest& request : requests) expect_right(request);
    EXPECT_EQ(runs(*fast_), before + 3);
    EXPECT_EQ(fast_->compiled_with.back(), (Properties{{"PERFORMANCE_HINT", hint}}));
    EXPECT_TRUE(eventually([&] { return cpu_->live_models == 0; }));
    compile_gate_.close();
  }
}

TEST_F(AutoDeviceTest, NoRequestIsLostOrRunTwiceWhenTheAcceleratorTakesOver) {
  const auto model = diamond();
  cpu_->duration = milliseconds(1);
  for (int round = 0; round < 5; ++round) {
    compile_gate_.close();
    auto compiled = compile(*model, "AUTO:FAST(2),CPU(3)");
    std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 7);
    std::vector<std::atomic<int>> ended(requests.size());
    std::atomic<bool> stop = false;
    std::atomic<int> wrong = 0;
    for (size_t i = 0; i < requests.size(); ++i) {
      requests[i].request->set_callback([&, i](const Status& status) {
        if (!status.ok() || !is_right(requests[i])) ++wrong;
        std::memset(requests[i].request->output(0).bytes(), 0xff, 64);
        ++ended[i];
        if (!stop) start(requests[i]);
      });
    }
    for (CheckedRequest& request : requests) start(request);
    ASSERT_TRUE(eventually(
        [&] { return std::ranges::all_of(ended, [&](const auto& n) { return n > round; }); }));
    compile_gate_.open();
    ASSERT_TRUE(runs_on(*compiled, "FAST"));
    ASSERT_TRUE(eventually([&] { return cpu_->live_models == 0; }));
    const size_t on_cpu = runs(*cpu_);
    const size_t on_fast = runs(*fast_);
    EXPECT_TRUE(eventually([&] { return runs(*fast_) > on_fast + 20; }));
    stop = true;
    for (size_t i = 0; i < requests.size(); ++i) {
      EXPECT_TRUE(requests[i].request->wait().ok());
      EXPECT_EQ(runs(*cpu_, requests[i]) + runs(*fast_, requests[i]),
                static_cast<size_t>(ended[i]));
      EXPECT_GT(runs(*cpu_, requests[i]), 0u);
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(runs(*cpu_), on_cpu);
    requests.clear();
    compiled.reset();
    std::scoped_lock lock(cpu_->mutex, fast_->mutex);
    cpu_->executions.clear();
    fast_->executions.clear();
  }
}

TEST_F(AutoDeviceTest, CpuIsLetGoWhenItsLastRequestHasEnded) {
  const auto model = diamond();
  compile_gate_.close();
  cpu_gate_.close();
  const auto compiled = compile(*model, "AUTO:FAST(2),CPU(1)");
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 4);
  for (const size_t i : {0, 1, 2}) start(requests[i]);
  EXPECT_EQ(cpu_->in_flight, 1u);
  compile_gate_.open();
  // What waited for CPU runs, too.
  for (const size_t i : {1, 2}) expect_right(requests[i]);
  EXPECT_TRUE(runs_on(*compiled, "FAST"));
  start(requests[3]);
  expect_right(requests[3]);
  EXPECT_EQ(runs(*fast_), 3u);
  EXPECT_EQ(cpu_->live_models, 1u);
  EXPECT_FALSE(requests[0].request->wait_for(milliseconds(1)).ok());
  cpu_gate_.open();
  expect_right(requests[0]);
  EXPECT_EQ(runs(*fast_, requests[0]), 0u);
  EXPECT_TRUE(eventually([&] { return cpu_->live_models == 0; }));
  EXPECT_TRUE(is_right(requests[0]));
}

TEST_F(AutoDeviceTest, RequestsAreCancelledAroundTheChange) {
  const auto model = diamond();
  for (int round = 0; round < 30; ++round) {
    compile_gate_.close();
    const auto compiled = compile(*model, "AUTO:FAST(1),CPU(1)");
    std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 4);
    std::thread opener([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(50 * round));
      compile_gate_.open();
    });
    for (int turn = 0; turn < 20; ++turn) {
      for (CheckedRequest& request : requests) start(request);
      for (const size_t i : {3, 0}) requests[i].request->cancel();
      for (const size_t i : {0, 3}) {
        const Status status = requests[i].request->wait();
        EXPECT_TRUE(status.ok() || status.code() == StatusCode::Cancelled) << status.message();
      }
      for (const size_t i : {1, 2}) expect_right(requests[i]);
    }
    opener.join();
  }
}

TEST_F(AutoDeviceTest, TheNextDeviceComesWhenOneFailsToCompile) {
  const auto model = diamond();
  fast_->compiling = [this](const Model&) {
    compile_gate_.pass();
    return Status(StatusCode::DeviceLost, "the kernels do not build");
  };
  WarningCounter warnings;
  const auto compiled = compile(*model, "AUTO:FAST,OTHER,CPU");
  EXPECT_TRUE(runs_on(*compiled, "OTHER"));
  expect_results_of_ref(*model, *compiled);
  EXPECT_EQ(runs(*other_), 3u);
  EXPECT_THAT(warnings.messages(),
              testing::ElementsAre("model 'diamond' on AUTO:FAST,OTHER,CPU runs without FAST: the "
                                   "kernels do not build"));
  uint64_t next = 0;
  const std::vector<DeviceEvent> events = compiled->device_events(next);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].device, "FAST");
  EXPECT_EQ(events[0].cause, "the kernels do not build");

  // CPU goes on for good where none compiles.
  refuse_types(*other_, {"Tanh"});
  compile_gate_.close();
  const auto alone = compile(*model, "AUTO:FAST,OTHER,CPU");
  auto request = *alone->create_infer_request();
  EXPECT_EQ(property(*alone, "EXECUTION_DEVICES"), "(CPU)");
  compile_gate_.open();
  EXPECT_TRUE(runs_on(*alone, "CPU"));
  expect_results_of_ref(*model, *alone);
  EXPECT_EQ(runs(*cpu_), 3u);
  EXPECT_EQ(warnings.messages().size(), 3u);
}

TEST_F(AutoDeviceTest, WithoutStartUpTheCompileWaits) {
  const auto model = diamond();
  for (const char* property_name : {"ENABLE_STARTUP_FALLBACK", "DETERMINISTIC"}) {
    const std::string value = std::string(property_name) == "DETERMINISTIC" ? "YES" : "NO";
    const auto compiled = compile(*model, "AUTO:FAST,CPU", {{property_name, value}});
    EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
    EXPECT_EQ(property(*compiled, property_name), value);
    EXPECT_TRUE(cpu_->compiled_with.empty());
    expect_results_of_ref(*model, *compiled);
  }
  refuse_types(*fast_, {"Tanh"});
  const auto next = compile(*model, "AUTO:FAST,CPU", {{"ENABLE_STARTUP_FALLBACK", "NO"}});
  EXPECT_EQ(property(*next, "EXECUTION_DEVICES"), "CPU");
}

TEST_F(AutoDeviceTest, CpuNeedNotRunTheModel) {
  const auto model = diamond();
  refuse_types(*cpu_, {"Tanh"});
  const auto compiled = compile(*model, "AUTO:FAST,CPU");
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
  expect_results_of_ref(*model, *compiled);
  refuse_types(*fast_, {"Relu"});
  const std::string message = compile_error(*model, "AUTO:FAST,CPU");
  EXPECT_THAT(message, HasSubstr("none of the devices runs the model"));
  EXPECT_THAT(message, HasSubstr("FAST: node 'Relu0': no Relu here"));
  EXPECT_THAT(message, HasSubstr("CPU: node 'Tanh2': no Tanh here"));
}

TEST_F(AutoDeviceTest, ACompileMayOutliveTheModel) {
  const auto model = diamond();
  for (int round = 0; round < 6; ++round) {
    compile_gate_.close();
    auto compiled = compile(*model, "AUTO:FAST,CPU");
    std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 3);
    for (CheckedRequest& request : requests) start(request);
    // The compile may have begun or not: either way nothing of it is left.
    std::thread opener([&] {
      std::this_thread::sleep_for(milliseconds(round));
      compile_gate_.open();
    });
    if (round % 2 == 0) {
      for (CheckedRequest& request : requests) expect_right(request);
    }
    requests.clear();
    compiled.reset();
    EXPECT_EQ(fast_->live_models, 0u);
    EXPECT_EQ(cpu_->live_models, 0u);
    opener.join();
  }
}

TEST_F(AutoDeviceTest, ThreadsStartManyQuickRequests) {
  ModelMaker maker("short");
  maker.output(maker.op("Relu", {maker.input({4})}));
  compile_gate_.close();
  const auto compiled = compile(maker.model(), "AUTO:FAST(2),CPU(2)");
  std::vector<CheckedRequest> requests = make_requests(maker.model(), *compiled, 12);
  std::atomic<size_t> done = 0;
  const auto open_at_400 = [&] {
    if (++done == 400) compile_gate_.open();
  };
  EXPECT_EQ(run_from_threads(requests, open_at_400), 0u);
  EXPECT_EQ(runs(*cpu_) + runs(*fast_), 1200u);
  EXPECT_GE(runs(*cpu_), 400u);
}

TEST_F(AutoDeviceTest, CumulativeThroughputIsMulti) {
  const auto model = diamond();
  const auto compiled =
      compile(*model, "AUTO:FAST(1),CPU(2)", {{"PERFORMANCE_HINT", "CUMULATIVE_THROUGHPUT"}});
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST CPU");
  EXPECT_EQ(property(*compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "3");
  EXPECT_EQ(cpu_->compiled_with.back(),
            (Properties{{"PERFORMANCE_HINT", "THROUGHPUT"}, {"SPARE_CORES", "1"}}));
  std::vector<CheckedRequest> requests = make_requests(*model, *compiled, 3);
  fast_gate_.close();
  cpu_gate_.close();
  for (CheckedRequest& request : requests) start(request);
  EXPECT_EQ(fast_->in_flight, 1u);
  EXPECT_EQ(cpu_->in_flight, 2u);
  fast_gate_.open();
  cpu_gate_.open();
  for (CheckedRequest& request : requests) expect_right(request);
  EXPECT_TRUE(compiled->set_property({{"MULTI_DEVICE_PRIORITIES", "CPU"}}).ok());
}

TEST_F(AutoDeviceTest, DevicesComeFromTheListOrTheMachine) {
  const auto model = diamond();
  const auto devices = [&](const std::string& device) {
    const auto compiled = compile(*model, device);
    return compiled ? property(*compiled, "MULTI_DEVICE_PRIORITIES") : "no model";
  };
  // CPU, which is registered first, comes last; REF never.
  EXPECT_EQ(devices("AUTO"), "FAST,OTHER,CPU");
  EXPECT_EQ(devices("AUTO:-FAST"), "OTHER,CPU");
  EXPECT_EQ(devices("AUTO:-CPU,-OTHER"), "FAST");
  EXPECT_EQ(devices("AUTO:REF,FAST(3),-FAST"), "REF");
  EXPECT_EQ(devices("AUTO:CPU,FAST"), "CPU,FAST");
  EXPECT_EQ(property(*compile(*model, "AUTO:CPU,FAST"), "EXECUTION_DEVICES"), "CPU");
  EXPECT_EQ(
      property(*compile(*model, "AUTO", {{"MULTI_DEVICE_PRIORITIES", "CPU"}}), "EXECUTION_DEVICES"),
      "CPU");
  {
    WarningCounter warnings;
    EXPECT_EQ(devices("AUTO:BROKEN,CPU"), "CPU");
    EXPECT_THAT(warnings.messages(),
                testing::ElementsAre("AUTO goes on without BROKEN: no driver answers"));
    EXPECT_THAT(compile_error(*model, "AUTO:BROKEN"),
                HasSubstr("AUTO has no device to choose from:\n  BROKEN: no driver answers"));
  }
  EXPECT_THAT(compile_error(*model, "AUTO:-FAST,-OTHER,-CPU"), HasSubstr("no device to choose"));
  EXPECT_THAT(compile_error(*model, "AUTO:FAST,CPV"), HasSubstr("there is no device 'CPV'"));
  EXPECT_THAT(compile_error(*model, "AUTO:MULTI:FAST"), HasSubstr("distributes work itself"));
  EXPECT_THAT(compile_error(*model, "MULTI:AUTO"), HasSubstr("distributes work itself"));
  EXPECT_EQ(*core_.get_property("AUTO", "FULL_DEVICE_NAME"), "The best device for a model");
}

TEST_F(AutoDeviceTest, PropertiesReachTheDevices) {
  const auto model = diamond();
  compile_gate_.close();
  const auto compiled = compile(*model, "AUTO",
                                {{"PERF_COUNT", "YES"},
                                 {"INFERENCE_NUM_THREADS", "1"},
                                 {"CPU.NUM_STREAMS", "2"},
                                 {"DEVICE_PROPERTIES", "{FAST:{PERFORMANCE_HINT:THROUGHPUT}}"}});
  ASSERT_NE(compiled, nullptr);
  EXPECT_EQ(
      cpu_->compiled_with.back(),
      (Properties{{"INFERENCE_NUM_THREADS", "1"}, {"NUM_STREAMS", "2"}, {"PERF_COUNT", "YES"}}));
  EXPECT_EQ(property(*compiled, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), "2");
  EXPECT_EQ(property(*compiled, "CPU.NUM_STREAMS"), "2");
  EXPECT_EQ(property(*compiled, "ENABLE_STARTUP_FALLBACK"), "YES");
  EXPECT_THAT(property(*compiled, "FAST.PERF_COUNT"), HasSubstr("does not run on 'FAST'"));
  compile_gate_.open();
  EXPECT_TRUE(runs_on(*compiled, "FAST"));
  EXPECT_EQ(fast_->compiled_with.back(),
            (Properties{{"PERFORMANCE_HINT", "THROUGHPUT"}, {"PERF_COUNT", "YES"}}));
  EXPECT_EQ(property(*compiled, "FAST.PERF_COUNT"), "YES");
  EXPECT_THAT(compile_error(*model, "AUTO:FAST,CPU", {{"GPU.PERF_COUNT", "YES"}}),
              HasSubstr("for a device 'GPU', which is not in AUTO:FAST,CPU"));
  EXPECT_THAT(compile_error(*model, "AUTO", {{"HETERO_POLICY", "latency"}}),
              HasSubstr("no property 'HETERO_POLICY'"));
  EXPECT_EQ(compiled->set_property({{"MULTI_DEVICE_PRIORITIES", "CPU"}}).code(),
            StatusCode::NotSupported);
}

TEST(Auto, RunsOnWhateverTheMachineHas) {
  const std::shared_ptr<Core> core = het::core();
  ModelMaker maker("short");
  maker.output(maker.op("Tanh", {maker.op("Relu", {maker.input({1, 64})})}));
  const auto ref = core->compile_model(maker.model(), "REF");
  const auto compiled = core->compile_model(maker.model(), "AUTO");
  ASSERT_TRUE(ref);
  ASSERT_TRUE(compiled) << compiled.error().message();
  const Tensor input = random_tensor({1, 64}, 3);
  auto wanted = *(*ref)->create_infer_request();
  ASSERT_TRUE(wanted->set_input(0, input).ok());
  ASSERT_TRUE(wanted->infer().ok());
  auto request = *(*compiled)->create_infer_request();
  ASSERT_TRUE(request->set_input(0, input).ok());
  std::string device;
  // Compiling for OpenCL may take long on a busy machine.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(120);
  const auto is_settled = [&] { return !device.empty() && device[0] != '('; };
  for (int i = 0; i < 10 || (!is_settled() && std::chrono::steady_clock::now() < end); ++i) {
    ASSERT_TRUE(request->infer().ok());
    for (size_t k = 0; k < 64; ++k) {
      ASSERT_NEAR(request->output(0).values<float>()[k], wanted->output(0).values<float>()[k],
                  2e-5f);
    }
    device = *(*compiled)->get_property("EXECUTION_DEVICES");
    std::this_thread::sleep_for(milliseconds(1));
  }
  bool has_gpu = false;
  for (const std::string& name : core->available_devices()) {
    has_gpu = has_gpu || parse_device_name(name).kind == "GPU";
  }
  EXPECT_EQ(parse_device_name(device).kind, has_gpu ? "GPU" : "CPU");
}

}  // namespace
}  // namespace het::hetero
