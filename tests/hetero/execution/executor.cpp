#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/hetero/hetero_testing.h"

namespace het::hetero {
namespace {

using testing::HasSubstr;

constexpr const char* kAffinity =
    R"({"rules": [{"type": "Sigmoid", "device": "OTHER"}, {"type": "Tanh", "device": "FAST"}]})";

/// Two branches: a node on FAST, and two on OTHER, which come behind it in the model.
class HeteroExecutorTest : public HeteroDeviceTest {
 protected:
  struct Span {
    std::string device;
    std::chrono::steady_clock::time_point start;
    std::chrono::steady_clock::time_point end;
  };

  void SetUp() override {
    HeteroDeviceTest::SetUp();
    for (const auto& behaviour : {fast_, other_}) {
      behaviour->duration = std::chrono::milliseconds(15);
    }
    ModelMaker maker("branches");
    Value* const x = maker.input({1, 16});
    Value* const shorter = maker.op("Tanh", {x});
    Value* const longer = maker.op("Sigmoid", {maker.op("Sigmoid", {x})});
    maker.output(shorter);
    maker.output(longer);
    model_ = maker.model().clone();
  }

  /// The subgraphs of one request in the order of their starts.
  std::vector<Span> run(const Properties& properties) {
    Properties all = properties;
    all["HETERO_AFFINITY"] = kAffinity;
    const auto compiled = compile(*model_, "HETERO:FAST,OTHER", all);
    if (compiled == nullptr) return {};
    EXPECT_EQ(property(*compiled, "HETERO_NUMBER_OF_SUBMODELS"), "2");
    for (const auto& behaviour : {fast_, other_}) {
      std::lock_guard lock(behaviour->mutex);
      behaviour->executions.clear();
    }
    auto request = compiled->create_infer_request();
    EXPECT_TRUE(request && (*request)->infer().ok());
    std::vector<Span> spans;
    for (const auto& behaviour : {fast_, other_}) {
      std::lock_guard lock(behaviour->mutex);
      const std::string device = behaviour == fast_ ? "FAST" : "OTHER";
      for (const TracedExecution& one : behaviour->executions) {
        spans.push_back({device, one.start, one.end});
      }
    }
    std::ranges::sort(spans, {}, &Span::start);
    expect_results_of_ref(*model_, *compiled);
    return spans;
  }

  std::unique_ptr<Model> model_;
};

TEST_F(HeteroExecutorTest, LinearRunsOneAtATimeInTheModelsOrder) {
  const std::vector<Span> spans = run({{"HETERO_EXECUTOR", "LINEAR"}});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].device, "FAST");
  EXPECT_EQ(spans[1].device, "OTHER");
  EXPECT_GE(spans[1].start, spans[0].end);
}

TEST_F(HeteroExecutorTest, DataflowBeginsWithTheLongestWay) {
  const std::vector<Span> spans = run({{"HETERO_EXECUTOR", "DATAFLOW"}});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_EQ(spans[0].device, "OTHER");
  EXPECT_EQ(spans[1].device, "FAST");
  EXPECT_GE(spans[1].start, spans[0].end);
}

TEST_F(HeteroExecutorTest, ParallelRunsBranchesSideBySideAndIsTheDefault) {
  for (const Properties& properties :
       {Properties{{"HETERO_EXECUTOR", "PARALLEL"}}, Properties{},
        Properties{{"HETERO_POLICY", "latency"}, {"HETERO_EXECUTOR", "PARALLEL"}}}) {
    const std::vector<Span> spans = run(properties);
    ASSERT_EQ(spans.size(), 2u);
    EXPECT_LT(spans[1].start, spans[0].end);
  }
}

TEST_F(HeteroExecutorTest, LatencyRunsOneAtATime) {
  const std::vector<Span> spans = run({{"HETERO_POLICY", "latency"}});
  ASSERT_EQ(spans.size(), 2u);
  EXPECT_GE(spans[1].start, spans[0].end);
}

TEST_F(HeteroExecutorTest, AFailureEndsTheRequestAndTheNextOneRuns) {
  const auto compiled = compile(
      *model_, "HETERO:FAST,OTHER",
      {{"HETERO_EXECUTOR", "LINEAR"}, {"HETERO_FAIL_OVER", "NO"}, {"HETERO_AFFINITY", kAffinity}});
  ASSERT_NE(compiled, nullptr);
  other_->outcome = [](size_t count) {
    return count == 0 ? Status(error(StatusCode::Internal, "broken")) : Status();
  };
  auto request = compiled->create_infer_request();
  ASSERT_TRUE(request);
  EXPECT_THAT((*request)->infer().message(), HasSubstr("broken"));
  expect_results_of_ref(*model_, *compiled);
}

}  // namespace
}  // namespace het::hetero
