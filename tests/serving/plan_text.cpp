#include "serving/launch/plan/plan_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace het::serving {
namespace {

PlanRequest two_cameras() {
  PlanRequest request;
  const auto topology = read_topology(
      {.synthetic = "numa:2 core:2 pu:1", .efficiency_processors = "", .max_threads = 3});
  EXPECT_TRUE(topology);
  request.topology = *topology;
  request.replicate = false;
  request.streams = {{.name = "door", .cost = 0.75}, {.name = "gate"}};
  request.streams[0].near_nodes = {1};
  request.streams[0].near_what = "/dev/video0";
  return request;
}

TEST(PlanText, SaysWhoRunsWhereAndWhy) {
  const PlanRequest request = two_cameras();
  const Result<LaunchPlan> plan = plan_instances(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan_text(request, *plan),
            "2 instances on processors 0-3 of 0-3 that this process may use, 3 threads at a time\n"
            "instance 0: processors 0-1 with the memory of NUMA node 0, INFERENCE_NUM_THREADS=2, "
            "2 threads a decoder, load 0.75 of 2\n"
            "  gate: least load\n"
            "instance 1: processors 2-3 with the memory of NUMA node 1, 1 thread at a time, "
            "INFERENCE_NUM_THREADS=1, 1 thread a decoder, load 0.75 of 1\n"
            "  door (cost 0.75): /dev/video0 on node 1\n"
            "note: the control groups' quota allows 3 threads at a time on 4 processors\n"
            "note: nothing is known of the cost of 'gate': counted as 0.75, the mean of the "
            "others\n");
}

TEST(PlanText, IsJsonToo) {
  PlanRequest request = two_cameras();
  request.streams[1].name = "g\xff";  // of a command line: no UTF-8
  const Result<LaunchPlan> plan = plan_instances(request);
  ASSERT_TRUE(plan);
  const auto json = nlohmann::json::parse(plan_json(request, *plan));
  EXPECT_EQ(json["allowed_processors"], (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(json["max_threads"], 3);
  EXPECT_EQ(json["instances"][1]["processors"], (std::vector<int>{2, 3}));
  EXPECT_EQ(json["instances"][1]["numa_nodes"], (std::vector<int>{1}));
  EXPECT_EQ(json["instances"][1]["streams"][0]["name"], "door");
  EXPECT_EQ(json["instances"][1]["streams"][0]["cost"], 0.75);
  EXPECT_TRUE(json["instances"][0]["streams"][0]["cost"].is_null());
  EXPECT_EQ(json["notes"].size(), 2u);
}

}  // namespace
}  // namespace het::serving
