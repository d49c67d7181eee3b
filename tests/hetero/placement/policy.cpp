#include "hetero/placement/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <thread>

#include "hetero/execution/plan_mix.h"
#include "hetero/split/stages.h"
#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

using std::chrono::microseconds;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

/// Plans over two devices of known speeds.
class HeteroPolicyTest : public HeteroDeviceTest {
 protected:
  void SetUp() override {
    HeteroDeviceTest::SetUp();
    set_speed(*fast_, {});
    set_speed(*other_, {});
  }

  /// Milliseconds by operator type, others in no time.
  static void set_speed(WrappedBehaviour& behaviour, std::map<std::string, int> by_type) {
    behaviour.speed = [by_type](const Node& node) -> microseconds {
      const auto time = by_type.find(node.op_type());
      return microseconds(time == by_type.end() ? 0 : 1000 * time->second);
    };
  }

  std::string plan(const Model& model, const std::string& policy, Properties properties = {}) {
    properties["HETERO_POLICY"] = policy;
    compiled_ = compile(model, "HETERO:FAST,OTHER", properties);
    EXPECT_NE(compiled_, nullptr);
    if (compiled_ == nullptr) compiled_ = compile(model, "REF");
    return property(*compiled_, "HETERO_PLAN");
  }
  void forget() {
    for (const auto& behaviour : {fast_, other_}) {
      std::lock_guard lock(behaviour->mutex);
      behaviour->executions.clear();
    }
  }

  std::shared_ptr<CompiledModel> compiled_;
};

std::unique_ptr<Model> chain() {
  ModelMaker maker("chain");
  Value* x = maker.input({1, 64});
  for (const char* type : {"Tanh", "Sigmoid", "Neg"}) x = maker.op(type, {x});
  maker.output(x);
  return maker.model().clone();
}

TEST_F(HeteroPolicyTest, LatencyTakesTheFasterDeviceForEveryPart) {
  set_speed(*fast_, {{"Tanh", 4}, {"Sigmoid", 30}, {"Neg", 6}});
  set_speed(*other_, {{"Tanh", 30}, {"Sigmoid", 4}, {"Neg", 4}});
  const auto model = chain();
  const std::string text = plan(*model, "latency");
  EXPECT_THAT(text, HasSubstr("* latency"));
  EXPECT_THAT(text, HasSubstr("FAST alone"));
  EXPECT_THAT(text, HasSubstr("OTHER alone"));
  // Neg stays where its input is.
  EXPECT_EQ(property(*compiled_, "HETERO_NUMBER_OF_SUBMODELS"), "2") << text;
  expect_results_of_ref(*model, *compiled_);
}

/// Something else takes the machine once, while candidates are warmed up and measured.
TEST_F(HeteroPolicyTest, AStallDoesNotChangeThePlan) {
  set_speed(*fast_, {{"Tanh", 1}, {"Sigmoid", 10}, {"Neg", 10}});
  set_speed(*other_, {{"Tanh", 10}, {"Sigmoid", 1}, {"Neg", 1}});
  const auto model = chain();
  std::atomic<size_t> executions = 0;  // since the last candidate was compiled
  fast_->compiling = [&](const Model&) -> Status {
    executions = 0;
    return {};
  };
  for (size_t stalled = 1; stalled <= 6; ++stalled) {
    fast_->before = [&] {
      if (++executions == stalled) std::this_thread::sleep_for(std::chrono::milliseconds(60));
    };
    const std::string text = plan(*model, "latency");
    EXPECT_THAT(text, HasSubstr("* latency")) << "in execution " << stalled;
    EXPECT_GT(executions, 10u);
  }
}

TEST_F(HeteroPolicyTest, ADeviceAloneIsTakenWhereSeveralGainNothing) {
  set_speed(*fast_, {{"Tanh", 4}, {"Sigmoid", 4}, {"Neg", 4}});
  set_speed(*other_, {{"Tanh", 4}, {"Sigmoid", 4}, {"Neg", 5}});
  const auto model = chain();
  for (const char* policy : {"latency", "parallel"}) {
    const std::string text = plan(*model, policy);
    EXPECT_EQ(property(*compiled_, "HETERO_NUMBER_OF_SUBMODELS"), "1") << text;
  }
}

TEST_F(HeteroPolicyTest, PriorityMeasuresNothing) {
  set_speed(*fast_, {{"Tanh", 4}, {"Sigmoid", 30}});
  const auto model = chain();
  EXPECT_THAT(plan(*model, "priority"), HasSubstr("* by priority"));
  EXPECT_THAT(plan(*model, "latency", {{"DETERMINISTIC", "YES"}}), HasSubstr("* by priority"));
  EXPECT_TRUE(fast_->executions.empty());
  EXPECT_TRUE(other_->executions.empty());
}

TEST_F(HeteroPolicyTest, ParallelRunsBranchesSideBySide) {
  set_speed(*fast_, {{"Sigmoid", 20}, {"Tanh", 20}});
  set_speed(*other_, {{"Sigmoid", 20}, {"Tanh", 20}});
  const auto model = diamond();
  const std::string text = plan(*model, "parallel");
  EXPECT_THAT(text, HasSubstr("* parallel")) << text;
  expect_results_of_ref(*model, *compiled_);
  forget();
  auto request = *compiled_->create_infer_request();
  ASSERT_TRUE(request->infer().ok());
  const auto longest = [](const WrappedBehaviour& behaviour) {
    return *std::ranges::max_element(behaviour.executions, {},
                                     [](const TracedExecution& e) { return e.end - e.start; });
  };
  const TracedExecution fast = longest(*fast_);
  const TracedExecution other = longest(*other_);
  EXPECT_LT(fast.start, other.end);
  EXPECT_LT(other.start, fast.end);
}

TEST_F(HeteroPolicyTest, ThroughputKeepsBothDevicesBusy) {
  // Each is good at one half: whole executions side by side would take twice as long.
  set_speed(*fast_, {{"Tanh", 4}, {"Sigmoid", 12}});
  set_speed(*other_, {{"Tanh", 12}, {"Sigmoid", 4}});
  const auto model = chain();
  const std::string text = plan(*model, "throughput");
  EXPECT_THAT(text, HasSubstr("* throughput")) << text;
  EXPECT_EQ(property(*compiled_, "EXECUTION_DEVICES").size(), std::string("FAST OTHER").size());
  expect_results_of_ref(*model, *compiled_);
}

/// One node that counts, so that no plan can use both devices for a frame.
class HeteroMixTest : public HeteroPolicyTest {
 protected:
  void SetUp() override {
    HeteroPolicyTest::SetUp();
    set_speed(*fast_, {{"Tanh", 10}});
    set_speed(*other_, {{"Tanh", 20}});
  }

  static size_t executions(WrappedBehaviour& behaviour) {
    std::lock_guard lock(behaviour.mutex);
    return behaviour.executions.size();
  }

  const std::unique_ptr<Model> model_ = chain();
};

TEST_F(HeteroMixTest, ExecutionsAreSharedWhereOnePlanCannotUseBothDevices) {
  const std::string text = plan(*model_, "throughput");
  EXPECT_THAT(text, AnyOf(HasSubstr("* mix"), HasSubstr("* side by side")));
  EXPECT_THAT(text, HasSubstr("% of all executions:"));
  EXPECT_EQ(property(*compiled_, "EXECUTION_DEVICES"), "FAST OTHER");
  EXPECT_EQ(property(*compiled_, "HETERO_NUMBER_OF_SUBMODELS"), "2");
  // One on each device.
  EXPECT_GE(std::stoul(property(*compiled_, "OPTIMAL_NUMBER_OF_INFER_REQUESTS")), 2u);
  forget();
  expect_results_of_ref(*model_, *compiled_);
  auto request = *compiled_->create_infer_request();
  const size_t before = executions(*fast_) + executions(*other_);
  for (size_t i = before; i < 12; ++i) ASSERT_TRUE(request->infer().ok());
  EXPECT_NEAR(executions(*fast_), 8.0, 1.0);
  EXPECT_NEAR(executions(*other_), 4.0, 1.0);
}

TEST_F(HeteroMixTest, AllTakeTheSameWhereMixesAreOff) {
  const std::string text = plan(*model_, "throughput", {{"HETERO_MIXES", "NO"}});
  EXPECT_THAT(text, Not(AnyOf(HasSubstr("mix"), HasSubstr("side by side"))));
  EXPECT_THAT(property(*compiled_, "EXECUTION_DEVICES"), "FAST");
}

TEST_F(HeteroMixTest, MixesAreKept) {
  const std::string folder =
      std::filesystem::path(testing::TempDir()) / ("mixes" + std::to_string(getpid()));
  const Properties cache = {{"CACHE_DIR", folder}};
  EXPECT_THAT(plan(*model_, "throughput", cache),
              AnyOf(HasSubstr("* mix"), HasSubstr("* side by side")));
  const std::string requests = property(*compiled_, "OPTIMAL_NUMBER_OF_INFER_REQUESTS");
  forget();
  const std::string text = plan(*model_, "throughput", cache);
  EXPECT_THAT(text, HasSubstr("* as stored"));
  EXPECT_THAT(text, HasSubstr("% of all executions:"));
  EXPECT_EQ(property(*compiled_, "OPTIMAL_NUMBER_OF_INFER_REQUESTS"), requests);
  EXPECT_TRUE(fast_->executions.empty());
  expect_results_of_ref(*model_, *compiled_);
  std::filesystem::remove_all(folder);
}

TEST_F(HeteroMixTest, RequestsOfALostDeviceTakeTheOthersWay) {
  EXPECT_THAT(plan(*model_, "throughput"), AnyOf(HasSubstr("* mix"), HasSubstr("* side by side")));
  fast_->outcome = [](size_t) { return Status(error(StatusCode::DeviceLost, "gone")); };
  for (int i = 0; i < 3; ++i) expect_results_of_ref(*model_, *compiled_);
  EXPECT_EQ(property(*compiled_, "EXECUTION_DEVICES"), "OTHER");
}

TEST(PlanMix, TurnsFollowTheShares) {
  const std::vector<double> shares = {5, 3, 2};
  const std::vector<size_t> turns = order_turns(shares, 64);
  std::array<double, 3> counts{};
  for (int i = 1; i <= 640; ++i) {
    ++counts[turns[i % turns.size()]];
    for (size_t w = 0; w < counts.size(); ++w) {
      EXPECT_NEAR(counts[w], i * shares[w] / 10, 1.0 + i / 64.0) << i;
    }
  }
}

TEST_F(HeteroPolicyTest, AffinitiesAndSupportBindThePlanner) {
  set_speed(*fast_, {{"Tanh", 1}, {"Sigmoid", 1}, {"Neg", 1}});
  set_speed(*other_, {{"Tanh", 9}, {"Sigmoid", 9}, {"Neg", 9}});
  refuse_types(*fast_, {"Neg"});
  const auto model = chain();
  const std::string text = plan(*model, "latency", {{"HETERO_AFFINITY", R"({"Tanh0":"OTHER"})"}});
  EXPECT_THAT(text, Not(HasSubstr("FAST alone")));
  // The wish and the refusal stay, whatever it costs.
  auto request = *compiled_->create_infer_request();
  forget();
  ASSERT_TRUE(request->infer().ok());
  EXPECT_FALSE(other_->executions.empty());
  expect_results_of_ref(*model, *compiled_);
}

TEST_F(HeteroPolicyTest, PlansAreKept) {
  const std::string folder =
      std::filesystem::path(testing::TempDir()) / ("plans" + std::to_string(getpid()));
  set_speed(*fast_, {{"Tanh", 4}, {"Sigmoid", 30}, {"Neg", 6}});
  set_speed(*other_, {{"Tanh", 30}, {"Sigmoid", 4}, {"Neg", 4}});
  const auto model = chain();
  const Properties cache = {{"CACHE_DIR", folder}};
  EXPECT_THAT(plan(*model, "latency", cache), HasSubstr("* latency"));
  forget();
  EXPECT_THAT(plan(*model, "latency", cache), HasSubstr("* as stored"));
  EXPECT_TRUE(fast_->executions.empty());
  EXPECT_EQ(property(*compiled_, "HETERO_NUMBER_OF_SUBMODELS"), "2");
  expect_results_of_ref(*model, *compiled_);
  // Another policy, other properties, and a device that takes less: measured anew.
  EXPECT_THAT(plan(*model, "parallel", cache), Not(HasSubstr("as stored")));
  refuse_types(*fast_, {"Tanh"});
  EXPECT_THAT(plan(*model, "latency", cache), Not(HasSubstr("as stored")));
  std::filesystem::remove_all(folder);
}

/// As instances have them that are bound to processors of their own.
TEST_F(HeteroPolicyTest, PlansOfTwoProcessorsAreNotThoseOfOne) {
  cpu_set_t all;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "this process may use one processor only";
  const std::string folder =
      std::filesystem::path(testing::TempDir()) / ("processors" + std::to_string(getpid()));
  set_speed(*fast_, {{"Tanh", 4}, {"Sigmoid", 30}, {"Neg", 6}});
  set_speed(*other_, {{"Tanh", 30}, {"Sigmoid", 4}, {"Neg", 4}});
  const auto model = chain();
  const Properties cache = {{"CACHE_DIR", folder}};
  plan(*model, "latency", cache);
  std::thread([&] {
    size_t first = 0;
    while (!CPU_ISSET(first, &all)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_THAT(plan(*model, "latency", cache), Not(HasSubstr("as stored")));
    EXPECT_THAT(plan(*model, "latency", cache), HasSubstr("* as stored"));
  }).join();
  EXPECT_THAT(plan(*model, "latency", cache), HasSubstr("* as stored"));
  std::filesystem::remove_all(folder);
}

TEST_F(HeteroPolicyTest, TimesOfNodesAndTransfersAreKept) {
  const std::string folder =
      std::filesystem::path(testing::TempDir()) / ("times" + std::to_string(getpid()));
  set_speed(*fast_, {{"Tanh", 4}, {"Sigmoid", 30}, {"Neg", 6}});
  set_speed(*other_, {{"Tanh", 30}, {"Sigmoid", 4}, {"Neg", 4}});
  const auto model = chain();
  const Properties cache = {{"CACHE_DIR", folder}};
  plan(*model, "latency", cache);
  // Another policy with the same costs: whole candidates are timed, but no single nodes.
  const auto models_with_rows = [&](WrappedBehaviour& behaviour) {
    std::lock_guard lock(behaviour.mutex);
    return std::ranges::count_if(behaviour.compiled_with, [](const Properties& properties) {
      return properties.contains("PERF_COUNT");
    });
  };
  const auto before = models_with_rows(*fast_) + models_with_rows(*other_);
  EXPECT_GE(before, 2);
  const std::string text = plan(*model, "parallel", cache);
  EXPECT_EQ(models_with_rows(*fast_) + models_with_rows(*other_), before);
  EXPECT_THAT(text, HasSubstr("* parallel"));
  expect_results_of_ref(*model, *compiled_);
  // Other properties of a device are another device; an empty CACHE_DIR has nothing.
  plan(*model, "parallel", {{"CACHE_DIR", folder}, {"FAST.PERF_COUNT", "NO"}});
  EXPECT_GT(models_with_rows(*fast_), 1);
  const auto measured_again = models_with_rows(*other_);
  plan(*model, "latency");
  EXPECT_GT(models_with_rows(*other_), measured_again);
  std::filesystem::remove_all(folder);
}

TEST_F(HeteroPolicyTest, StagesBeginAndEndWhereOthersWait) {
  const auto model = diamond();
  const auto split = split_in_stages(*model, {"A", "A", "B", "A"});
  ASSERT_TRUE(split) << split.error().message();
  ASSERT_EQ(split->subgraphs.size(), 4u);
  EXPECT_EQ(split->subgraphs[0].device, "A");
  // Nothing to overlap with: as few subgraphs as without stages.
  const auto chained = split_in_stages(*chain(), {"A", "A", "B"});
  EXPECT_EQ(chained->subgraphs.size(), 2u);
}

}  // namespace
}  // namespace het::hetero
