// HETERO_REPLAN_INTERVAL: plans that are judged while they run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <thread>

#include "hetero/execution/plan_times.h"
#include "inference/base/log.h"
#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// The warnings of a test, on whatever threads.
class Warnings {
 public:
  Warnings() {
    set_log_sink(
        [this](LogLevel, std::string_view text) {
          std::lock_guard lock(mutex_);
          texts_.emplace_back(text);
        },
        LogLevel::Warning);
  }
  ~Warnings() { set_log_sink({}, LogLevel::Warning); }
  std::vector<std::string> texts() {
    std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

/// A chain whose first node is FAST's and whose others are OTHER's, while that is as quick as it
/// was when the plan was made.
class Replanning : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    set_speed(*fast_, {{"Tanh", 4}, {"Sigmoid", 7}, {"Neg", 4}});
    set_speed(*other_, {{"Tanh", 12}, {"Sigmoid", 4}, {"Neg", 4}});
    other_->before = [this] { std::this_thread::sleep_for(other_late_.load()); };
    fast_->before = [this] { std::this_thread::sleep_for(fast_late_.load()); };
    ModelMaker maker("chain");
    Value* x = maker.input({1, 64});
    for (const char* type : {"Tanh", "Sigmoid", "Neg"}) x = maker.op(type, {x});
    maker.output(x);
    model_ = maker.model().clone();
  }

  static void set_speed(WrappedBehaviour& behaviour, std::map<std::string, int> by_type) {
    behaviour.speed = [by_type](const Node& node) {
      const auto time = by_type.find(node.op_type());
      return std::chrono::microseconds(time == by_type.end() ? 0 : 1000 * time->second);
    };
  }

  std::shared_ptr<CompiledModel> planned(const std::string& policy, const std::string& interval,
                                         Properties properties = {}) {
    properties["HETERO_POLICY"] = policy;
    properties["HETERO_REPLAN_INTERVAL"] = interval;
    return compile(*model_, "HETERO:FAST,OTHER", properties);
  }

  /// With `in_flight` requests, until the devices are these or the time is over; every result is
  /// looked at.
  void run_until(CompiledModel& compiled, const std::string& devices, size_t in_flight,
                 std::chrono::seconds limit = 20s) {
    const auto ref = compile(*model_, "REF");
    const std::vector<Tensor> inputs = inputs_of(*ref);
    auto wanted = *ref->create_infer_request();
    const Tensor expected = infer(*wanted, inputs)[0];
    std::vector<std::unique_ptr<InferRequest>> requests;
    for (size_t i = 0; i < in_flight; ++i) {
      requests.push_back(*compiled.create_infer_request());
      ASSERT_TRUE(requests[i]->set_input(0, inputs[0]).ok());
      ASSERT_TRUE(requests[i]->start_async().ok());
    }
    const auto end = std::chrono::steady_clock::now() + limit;
    for (bool is_over = false; !is_over;) {
      is_over = property(compiled, "EXECUTION_DEVICES") == devices ||
                std::chrono::steady_clock::now() > end;
      for (const auto& request : requests) {
        const Status status = request->wait();
        ASSERT_TRUE(status.ok()) << status.message();
        const Tensor got = *request->output(0).clone();
        ASSERT_EQ(std::memcmp(got.bytes(), expected.bytes(), got.size_bytes()), 0);
        if (!is_over) {
          ASSERT_TRUE(request->start_async().ok());
        }
      }
    }
  }

  std::unique_ptr<Model> model_;
  std::atomic<std::chrono::milliseconds> other_late_ = 0ms;
  std::atomic<std::chrono::milliseconds> fast_late_ = 0ms;
};

TEST_F(Replanning, WhatBecomesSlowLosesItsPart) {
  const auto compiled = planned("latency", "50");
  ASSERT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER")
      << property(*compiled, "HETERO_PLAN");
  Warnings warnings;
  run_until(*compiled, "FAST", 1, 1s);
  other_late_ = 8ms;  // half as fast
  run_until(*compiled, "FAST", 1);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
  EXPECT_EQ(compiled->subgraphs().size(), 1u);
  const std::string plan = property(*compiled, "HETERO_PLAN");
  EXPECT_THAT(plan, HasSubstr("* FAST alone"));
  EXPECT_THAT(plan, HasSubstr("made anew while requests run: "));
  // A busy machine may have made it anew before, with three subgraphs; each time is one message.
  ASSERT_FALSE(warnings.texts().empty());
  EXPECT_THAT(
      warnings.texts().back(),
      testing::AllOf(HasSubstr("model 'chain' on HETERO:FAST,OTHER: the plan is made anew"),
                     HasSubstr(" on OTHER takes "), HasSubstr("'FAST alone' instead of '")));
  EXPECT_EQ(std::ranges::count_if(warnings.texts(),
                                  [](const std::string& text) {
                                    return text.find("'FAST alone' instead") != std::string::npos;
                                  }),
            1);
  for (const std::string& text : warnings.texts()) std::printf("%s\n", text.c_str());
  expect_results_of_ref(*model_, *compiled);
}

TEST_F(Replanning, ManyRequestsMoveWithoutLoss) {
  const auto compiled = planned("throughput", "50", {{"HETERO_MIXES", "NO"}});
  ASSERT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER")
      << property(*compiled, "HETERO_PLAN");
  run_until(*compiled, "FAST", 4, 2s);
  other_late_ = 30ms;
  run_until(*compiled, "FAST", 4);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST") << property(*compiled, "HETERO_PLAN");
}

TEST_F(Replanning, AStoredPlanIsJudgedToo) {
  const std::string folder =
      std::filesystem::path(testing::TempDir()) / ("replanning" + std::to_string(getpid()));
  planned("latency", "50", {{"CACHE_DIR", folder}});
  const auto compiled = planned("latency", "50", {{"CACHE_DIR", folder}});
  EXPECT_THAT(property(*compiled, "HETERO_PLAN"), HasSubstr("* as stored"));
  run_until(*compiled, "FAST", 1, 1s);
  other_late_ = 8ms;
  run_until(*compiled, "FAST", 1);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
  std::filesystem::remove_all(folder);
}

TEST_F(Replanning, ThePlanStaysWhereNoOtherIsBetter) {
  set_speed(*other_, {{"Tanh", 30}, {"Sigmoid", 30}, {"Neg", 30}});
  const auto compiled = planned("latency", "50");
  ASSERT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
  Warnings warnings;
  fast_late_ = 16ms;
  run_until(*compiled, "OTHER", 1, 2s);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
  EXPECT_TRUE(warnings.texts().empty()) << warnings.texts()[0];
}

TEST_F(Replanning, OffUnlessAsked) {
  const auto compiled = planned("latency", "0");
  other_late_ = 8ms;
  run_until(*compiled, "FAST", 1, 1s);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER");
}

TEST_F(Replanning, ALostDeviceIsNoDrift) {
  const auto compiled = planned("latency", "200", {{"HETERO_RETRY_INTERVAL", "100"}});
  std::atomic<bool> is_lost = true;
  other_->outcome = [&](size_t) {
    return is_lost ? Status(error(StatusCode::DeviceLost, "gone")) : Status();
  };
  run_until(*compiled, "FAST", 2);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
  is_lost = false;
  run_until(*compiled, "FAST OTHER", 2);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST OTHER");
  other_late_ = 8ms;
  run_until(*compiled, "FAST", 1);
  EXPECT_EQ(property(*compiled, "EXECUTION_DEVICES"), "FAST");
}

TEST_F(Replanning, NeedsAPolicyThatMeasures) {
  const auto error = [&](Properties properties) {
    properties["HETERO_REPLAN_INTERVAL"] = "1000";
    return compile_error(*model_, "HETERO:FAST,OTHER", properties);
  };
  EXPECT_THAT(error({}), HasSubstr("HETERO_POLICY=latency, parallel or throughput"));
  EXPECT_THAT(error({{"HETERO_POLICY", "latency"}, {"HETERO_FAIL_OVER", "NO"}}),
              HasSubstr("HETERO_FAIL_OVER=YES"));
  EXPECT_THAT(error({{"HETERO_POLICY", "latency"}, {"HETERO_STRICT", "YES"}}),
              HasSubstr("HETERO_STRICT=NO"));
  EXPECT_THAT(compile_error(*model_, "HETERO:FAST,OTHER",
                            {{"HETERO_POLICY", "latency"}, {"HETERO_REPLAN_INTERVAL", "-1"}}),
              HasSubstr("HETERO_REPLAN_INTERVAL"));
}

TEST(PlanTimes, AreMediansBesideAsManyOthers) {
  DeviceLoads loads;
  PlanTimes times({loads.count("A"), loads.count("A"), loads.count("B")});
  const auto run = [&](size_t subgraph, std::chrono::milliseconds time) {
    PlanTimes::Run begun = times.begin(subgraph);
    begun.begun -= time;
    times.end(subgraph, begun, true);
  };
  for (size_t i = 0; i < PlanTimes::kSamples; ++i) {
    EXPECT_FALSE(times.change(0));
    run(0, 10ms);
  }
  EXPECT_FALSE(times.change(0)) << "these are the plan's";
  for (size_t i = 0; i < PlanTimes::kSamples; ++i) {
    EXPECT_FALSE(times.change(0));
    run(0, i % 3 == 0 ? 1000ms : 20ms);
  }
  ASSERT_TRUE(times.change(0));
  EXPECT_NEAR(times.change(0)->factor(), 2.0, 0.1);
  EXPECT_FALSE(times.change(1));
  // Beside another one of the device it is something else; one of another device is none.
  const PlanTimes::Run elsewhere = times.begin(2);
  const PlanTimes::Run other = times.begin(1);
  EXPECT_EQ(other.others, 0u);
  EXPECT_EQ(times.begin(0).others, 1u);
  times.end(0, {PlanTimes::Clock::now() - 90ms, 1}, true);
  EXPECT_FALSE(times.change(0)) << "too few beside another";
  times.end(1, other, false);
  times.end(2, elsewhere, false);
  run(0, 20ms);
  EXPECT_TRUE(times.change(0));
  times.accept();
  EXPECT_FALSE(times.change(0));
  times.expect(2, 1ms);
  times.accept();
  times.expect(2, 40ms);
  for (size_t i = 0; i < PlanTimes::kSamples; ++i) run(2, i % 2 == 0 ? 20ms : 60ms);
  ASSERT_TRUE(times.change(2));
  EXPECT_EQ(times.change(2)->planned, 40ms);
  EXPECT_NEAR(times.change(2)->low / 1.0ms, 20, 1);
  EXPECT_NEAR(times.change(2)->high / 1.0ms, 60, 1);
  times.accept();
  // What a plan was chosen by is its own, though it was little.
  for (int i = 0; i < 3; ++i) run(2, 5ms);
  times.settle();
  for (size_t i = 0; i < PlanTimes::kSamples; ++i) run(2, 15ms);
  ASSERT_TRUE(times.change(2));
  EXPECT_NEAR(times.change(2)->factor(), 3.0, 0.3);
}

}  // namespace
}  // namespace het::hetero
