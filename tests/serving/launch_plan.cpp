#include "serving/launch/plan/launch_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <set>

#include "serving/launch/plan/core_sharing.h"
#include "serving/launch/plan/number_list.h"

namespace het::serving {
namespace {

using testing::AnyOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

PlanRequest machine(const std::string& synthetic, size_t quota = 0,
                    const std::string& efficient = "") {
  PlanRequest request;
  const auto topology = read_topology(
      {.synthetic = synthetic, .efficiency_processors = efficient, .max_threads = quota});
  if (topology) {
    request.topology = *topology;
  } else {
    ADD_FAILURE() << topology.error().message();
  }
  request.streams.push_back({.name = "line"});
  return request;
}

PlanRequest dealt(PlanRequest request, std::vector<StreamNeeds> streams) {
  request.replicate = false;
  request.streams = std::move(streams);
  return request;
}

PlanRequest with_instances(PlanRequest request, size_t instances) {
  request.instances = instances;
  return request;
}

std::vector<StreamNeeds> streams_of(const std::vector<double>& costs) {
  std::vector<StreamNeeds> streams;
  for (const double cost : costs) {
    streams.push_back({.name = "s" + std::to_string(streams.size()), .cost = cost});
  }
  return streams;
}

LaunchPlan planned(const PlanRequest& request) {
  const Result<LaunchPlan> plan = plan_instances(request);
  if (!plan) {
    ADD_FAILURE() << plan.error().message();
    return {};
  }
  return *plan;
}

std::string refusal(const PlanRequest& request) {
  const Result<LaunchPlan> plan = plan_instances(request);
  if (plan) return "planned";
  EXPECT_EQ(plan.error().code(), StatusCode::InvalidArgument);
  return plan.error().message();
}

/// "0-1@0:2" an instance: processors, nodes, inference threads.
std::vector<std::string> places(const LaunchPlan& plan) {
  std::vector<std::string> texts;
  for (const InstancePlan& instance : plan.instances) {
    texts.push_back(fmt::format("{}@{}:{}", number_list(instance.processors),
                                number_list(instance.numa_nodes), instance.inference_threads));
  }
  return texts;
}

std::vector<std::vector<size_t>> streams(const LaunchPlan& plan) {
  std::vector<std::vector<size_t>> lists;
  for (const InstancePlan& instance : plan.instances) lists.push_back(instance.streams);
  return lists;
}

TEST(LaunchPlan, OneInstancePerNode) {
  EXPECT_THAT(places(planned(machine("numa:1 core:4 pu:1"))), ElementsAre("0-3@0:4"));
  EXPECT_THAT(places(planned(machine("numa:2 core:2 pu:1"))), ElementsAre("0-1@0:2", "2-3@1:2"));
  EXPECT_THAT(places(planned(machine("numa:4 core:2 pu:2"))),
              ElementsAre("0-3@0:2", "4-7@1:2", "8-11@2:2", "12-15@3:2"));
  EXPECT_THAT(planned(machine("numa:2 core:2 pu:1")).notes, ElementsAre());
}

TEST(LaunchPlan, SeveralInstancesOfANodeGetWholeCores) {
  const PlanRequest threads = machine("numa:1 core:4 pu:2");
  EXPECT_THAT(places(planned(with_instances(threads, 2))), ElementsAre("0-3@0:2", "4-7@0:2"));
  EXPECT_THAT(places(planned(with_instances(threads, 3))),
              ElementsAre("0-3@0:2", "4-5@0:1", "6-7@0:1"));
  EXPECT_THAT(places(planned(with_instances(threads, 4))),
              ElementsAre("0-1@0:1", "2-3@0:1", "4-5@0:1", "6-7@0:1"));
  EXPECT_THAT(planned(with_instances(threads, 3)).notes,
              ElementsAre(HasSubstr("the smallest has 2 processors, the largest 4")));
}

TEST(LaunchPlan, MoreInstancesThanCoresShareThemAndSaySo) {
  const LaunchPlan plan = planned(with_instances(machine("numa:1 core:2 pu:2"), 3));
  EXPECT_THAT(places(plan), ElementsAre("0-1@0:1", "2@0:1", "3@0:1"));
  EXPECT_THAT(plan.notes, Contains(HasSubstr("3 instances of NUMA node 0 share 2 physical cores")));
}

TEST(LaunchPlan, InstancesAreSpreadInProportionToProcessors) {
  // Node 0 has two processors, node 1 six.
  PlanRequest request = machine("numa:2 core:6 pu:1");
  request.processors = {0, 1, 6, 7, 8, 9, 10, 11};
  EXPECT_THAT(places(planned(with_instances(request, 4))),
              ElementsAre("0-1@0:2", "6-7@1:2", "8-9@1:2", "10-11@1:2"));
  EXPECT_THAT(places(planned(with_instances(request, 2))), ElementsAre("0-1@0:2", "6-11@1:6"));
  EXPECT_THAT(places(planned(with_instances(machine("numa:2 core:4 pu:1"), 3))),
              ElementsAre("0-1@0:2", "2-3@0:2", "4-7@1:4"));
}

TEST(LaunchPlan, FewerInstancesThanNodesSpanNeighbours) {
  const PlanRequest four = machine("numa:4 core:2 pu:1");
  EXPECT_THAT(places(planned(with_instances(four, 1))), ElementsAre("0-7@0-3:8"));
  EXPECT_THAT(places(planned(with_instances(four, 2))), ElementsAre("0-3@0-1:4", "4-7@2-3:4"));
  EXPECT_THAT(places(planned(with_instances(four, 3))),
              ElementsAre("0-3@0-1:4", "4-5@2:2", "6-7@3:2"));
  PlanRequest uneven = machine("numa:3 core:4 pu:1");
  uneven.processors = {0, 4, 8, 9, 10, 11};
  EXPECT_THAT(places(planned(with_instances(uneven, 2))), ElementsAre("0,4@0-1:2", "8-11@2:4"));
}

TEST(LaunchPlan, HybridCoresAreDealtEvenly) {
  const PlanRequest request = machine("numa:1 core:8 pu:1", 0, "4-7");
  EXPECT_THAT(places(planned(request)), ElementsAre("0-7@0:4"));
  EXPECT_THAT(places(planned(with_instances(request, 2))),
              ElementsAre("0-1,4-5@0:2", "2-3,6-7@0:2"));
  // Six fast ones and six economical ones on four: three each.
  EXPECT_THAT(places(planned(with_instances(machine("numa:1 core:12 pu:1", 0, "6-11"), 4))),
              ElementsAre("0-1,6@0:2", "2-3,7@0:2", "4,8-9@0:1", "5,10-11@0:1"));
  EXPECT_THAT(places(planned(machine("numa:1 core:4 pu:1", 0, "0-3"))), ElementsAre("0-3@0:4"));
}

TEST(LaunchPlan, QuotasAreDealtOut) {
  // 1.5 processors are one thread.
  EXPECT_THAT(places(planned(machine("numa:1 core:4 pu:1", 1))), ElementsAre("0-3@0:1"));
  const LaunchPlan two = planned(machine("numa:2 core:2 pu:1", 2));
  EXPECT_THAT(places(two), ElementsAre("0-1@0:1", "2-3@1:1"));
  EXPECT_EQ(two.max_threads, 2u);
  EXPECT_THAT(two.notes,
              ElementsAre(HasSubstr("quota allows 2 threads at a time on 4 processors")));
  EXPECT_THAT(places(planned(machine("numa:2 core:4 pu:1", 5))), ElementsAre("0-3@0:3", "4-7@1:2"));
}

TEST(LaunchPlan, AQuotaBelowTheNodesLeavesSome) {
  PlanRequest request = machine("numa:2 core:2 pu:1", 1);
  const LaunchPlan plan = planned(request);
  EXPECT_THAT(places(plan), ElementsAre("0-1@0:1"));
  EXPECT_THAT(plan.notes, Contains(HasSubstr("NUMA node 1 stays unused")));
  request.streams[0].near_nodes = {1};
  EXPECT_THAT(places(planned(request)), ElementsAre("2-3@1:1"));
}

TEST(LaunchPlan, TooManyInstancesAreRefused) {
  EXPECT_EQ(refusal(with_instances(machine("numa:2 core:2 pu:1"), 8)),
            "8 instances on 4 processors: each needs one of its own; ask for at most 4");
  EXPECT_THAT(refusal(with_instances(machine("numa:1 core:4 pu:1", 1), 2)),
              HasSubstr("2 instances on 4 processors of which the control groups' quota allows 1 "
                        "thread at a time"));
}

TEST(LaunchPlan, ProcessorsThatAreNotThereAreRefused) {
  PlanRequest request = machine("numa:1 core:4 pu:1");
  request.processors = {3, 4, 5};
  EXPECT_EQ(refusal(request), "processors 4-5 cannot be used: this process may run on 0-3");
}

TEST(LaunchPlan, NodesWithoutProcessorsOrWithHolesInTheirNumbers) {
  // A node whose processors are all excluded.
  PlanRequest request = machine("numa:3 core:2 pu:1");
  request.processors = {0, 1, 5};
  EXPECT_THAT(places(planned(request)), ElementsAre("0-1@0:2", "5@2:1"));
  // Memory only, beside each package's own.
  EXPECT_THAT(places(planned(machine("pack:2 [numa] [numa] core:2 pu:1"))),
              ElementsAre("0-1@0:2", "2-3@2:2"));
  PlanRequest holes;
  holes.topology = {
      .cores = {{.numa_node = 2, .processors = {8}}, {.numa_node = 7, .processors = {1, 33}}},
      .max_threads = 3};
  holes.streams = {{.name = "line"}};
  EXPECT_THAT(places(planned(holes)), ElementsAre("8@2:1", "1,33@7:1"));
}

TEST(LaunchPlan, WithoutAnythingToRunItFails) {
  EXPECT_EQ(refusal(dealt(machine("numa:1 core:1 pu:1"), {})), "there are no streams to run");
  PlanRequest nothing;
  nothing.streams = {{.name = "line"}};
  EXPECT_THAT(refusal(nothing), HasSubstr("no processor"));
}

TEST(LaunchPlan, LinesRunInEveryInstance) {
  PlanRequest request = machine("numa:2 core:2 pu:1");
  request.streams = {{.name = "a", .cost = 0.5}, {.name = "b"}};
  const LaunchPlan plan = planned(request);
  EXPECT_THAT(streams(plan), ElementsAre(ElementsAre(0, 1), ElementsAre(0, 1)));
  EXPECT_DOUBLE_EQ(plan.instances[1].load, 0.5);
  request.streams[0].near_nodes = {1};
  request.streams[0].near_what = "/dev/video0";
  EXPECT_THAT(planned(request).notes,
              ElementsAre("instance 0 on node 0 is far from /dev/video0 on node 1"));
}

TEST(LaunchPlan, StreamsAreDealtByCost) {
  const LaunchPlan plan =
      planned(dealt(machine("numa:2 core:4 pu:1"), streams_of({0.2, 0.9, 0.5, 0.7, 0.1, 0.6})));
  // 0.9 | 0.7, 0.6 | 0.5 | 0.2 | 0.1
  EXPECT_THAT(streams(plan), ElementsAre(ElementsAre(1, 2, 4), ElementsAre(0, 3, 5)));
  EXPECT_NEAR(plan.instances[0].load, 1.5, 1e-9);
  EXPECT_NEAR(plan.instances[1].load, 1.5, 1e-9);
  EXPECT_THAT(plan.notes, ElementsAre());
}

TEST(LaunchPlan, LoadIsPerProcessor) {
  PlanRequest request = machine("numa:2 core:6 pu:1");
  request.processors = {0, 1, 6, 7, 8, 9, 10, 11};
  const LaunchPlan plan = planned(dealt(request, streams_of({1, 1, 1, 1})));
  EXPECT_THAT(streams(plan), ElementsAre(ElementsAre(2), ElementsAre(0, 1, 3)));
}

TEST(LaunchPlan, StreamsOfUnknownCostCountAsTheMean) {
  std::vector<StreamNeeds> some = streams_of({2, 1, 0});
  some[2].cost.reset();
  const LaunchPlan plan = planned(dealt(machine("numa:2 core:4 pu:1"), some));
  EXPECT_THAT(streams(plan), ElementsAre(ElementsAre(0), ElementsAre(1, 2)));
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("'s2': counted as 1.50, the mean of the others")));
  EXPECT_THAT(planned(dealt(machine("numa:2 core:4 pu:1"), {{.name = "a"}, {.name = "b"}})).notes,
              ElementsAre("nothing is known of the cost of 'a', 'b': all count the same"));
}

TEST(LaunchPlan, StreamsWithoutACostToSpeakOfAreSpreadToo) {
  EXPECT_THAT(streams(planned(dealt(machine("numa:2 core:4 pu:1"), streams_of({0, 0, 0, 0})))),
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
}

TEST(LaunchPlan, CostsThatAreNoneAreRefused) {
  for (const double cost : {-1.0, std::nan(""), HUGE_VAL, 1e9}) {
    EXPECT_THAT(refusal(dealt(machine("numa:1 core:1 pu:1"), streams_of({cost}))),
                HasSubstr("the cost of stream 's0'"));
  }
}

TEST(LaunchPlan, StreamsGoToTheNodeOfTheirDevice) {
  std::vector<StreamNeeds> some = streams_of({1, 1, 1, 1});
  some[0].near_nodes = {1};
  some[0].near_what = "/dev/video0";
  some[1].near_nodes = {1};
  some[2].node = 1;
  const LaunchPlan plan = planned(dealt(machine("numa:2 core:4 pu:1"), some));
  EXPECT_THAT(streams(plan), ElementsAre(ElementsAre(3), ElementsAre(0, 1, 2)));
  EXPECT_THAT(plan.instances[1].reasons,
              ElementsAre("/dev/video0 on node 1", "its device on node 1", "node 1"));
}

TEST(LaunchPlan, WithoutTheirNodeStreamsGoToTheNearest) {
  std::vector<StreamNeeds> some = streams_of({1, 1});
  some[0].near_nodes = {0};
  some[0].near_what = "/dev/video0";
  PlanRequest request = dealt(machine("numa:3 core:2 pu:1"), some);
  request.processors = {2, 3, 4, 5};
  request.nodes_by_distance = {{0, {2, 1}}};
  const LaunchPlan near = planned(request);
  EXPECT_THAT(streams(near), ElementsAre(ElementsAre(1), ElementsAre(0)));
  EXPECT_THAT(near.notes, ElementsAre("'s0': /dev/video0 on node 0, which has no instance; node 2 "
                                      "is the nearest"));
  request.nodes_by_distance.clear();
  const LaunchPlan any = planned(request);
  EXPECT_THAT(streams(any), ElementsAre(ElementsAre(0), ElementsAre(1)));
  EXPECT_THAT(any.notes, ElementsAre(HasSubstr("frames come from there to any")));
}

TEST(LaunchPlan, ANodeThatTheUserNamesMustBeThere) {
  std::vector<StreamNeeds> some = streams_of({1});
  some[0].node = 5;
  EXPECT_THAT(refusal(dealt(machine("numa:2 core:2 pu:1"), some)),
              HasSubstr("stream 's0' must run on NUMA node 5, of which no processor can be used; "
                        "there are nodes 0-1"));
}

TEST(LaunchPlan, InstancesWithoutStreamsAreLeftOut) {
  // The cores of a node's instance go to the others of the node.
  const LaunchPlan one =
      planned(with_instances(dealt(machine("numa:1 core:4 pu:1"), streams_of({1, 1, 1})), 4));
  EXPECT_THAT(places(one), ElementsAre("0-1@0:2", "2@0:1", "3@0:1"));
  EXPECT_THAT(one.notes, Contains("1 instance would get no stream and is left out"));
  const LaunchPlan two = planned(dealt(machine("numa:2 core:2 pu:1"), streams_of({1})));
  EXPECT_THAT(places(two), ElementsAre("0-1@0:2"));
  EXPECT_EQ(two.instances[0].index, 0u);
  EXPECT_THAT(two.notes, Contains(HasSubstr("NUMA node 1 stays unused: too few streams")));
  std::vector<StreamNeeds> far = streams_of({1});
  far[0].node = 1;
  const LaunchPlan second = planned(dealt(machine("numa:2 core:2 pu:1"), far));
  EXPECT_THAT(places(second), ElementsAre("2-3@1:2"));
  EXPECT_EQ(second.instances[0].index, 0u);
}

TEST(LaunchPlan, TooMuchLoadIsSaid) {
  const LaunchPlan plan = planned(dealt(machine("numa:1 core:4 pu:1"), streams_of({2.6, 2.6})));
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("instance 0 gets streams that need 5.2 processors "
                                                "and has 4")));
}

TEST(LaunchPlan, DecodersShareTheProcessors) {
  const auto threads = [](size_t streams, size_t said) {
    PlanRequest request = machine("numa:1 core:4 pu:2");
    request.streams.assign(streams, {.name = "s"});
    request.streams[0].decoder_threads = said;
    return planned(request).instances[0].decoder_threads;
  };
  EXPECT_EQ(threads(1, 0), 8u);
  EXPECT_EQ(threads(2, 0), 4u);
  EXPECT_EQ(threads(3, 0), 2u);
  EXPECT_EQ(threads(8, 0), 1u);
  EXPECT_EQ(threads(40, 0), 1u);
  EXPECT_EQ(threads(2, 6), 2u);
  EXPECT_EQ(threads(3, 8), 1u);
  EXPECT_EQ(planned(machine("numa:1 core:64 pu:1")).instances[0].decoder_threads, 16u);
  EXPECT_EQ(planned(machine("numa:1 core:8 pu:1", 2)).instances[0].decoder_threads, 2u);
}

TEST(LaunchPlan, MoreThreadsThanProcessorsAreRefused) {
  PlanRequest request = machine("numa:1 core:4 pu:1");
  request.streams = {{.name = "door", .decoder_threads = 8}};
  EXPECT_THAT(refusal(request),
              HasSubstr("stream 'door' asks for 8 decoder threads, its instance has 4 processors"));
  request.streams = {{.name = "door", .inference_threads = 4}};
  EXPECT_EQ(planned(request).instances.size(), 1u);
  request.instances = 2;
  EXPECT_THAT(refusal(request), HasSubstr("stream 'door' asks for INFERENCE_NUM_THREADS=4, its "
                                          "instance has 2 processors: take it away"));
  PlanRequest quota = machine("numa:1 core:4 pu:1", 2);
  quota.streams = {{.name = "door", .inference_threads = 3}};
  EXPECT_THAT(refusal(quota), HasSubstr("may run 2 at a time by the control groups' quota"));
}

TEST(LaunchPlan, StreamsGoWhereTheirThreadsFit) {
  PlanRequest request = machine("numa:2 core:6 pu:1");
  request.processors = {0, 1, 6, 7, 8, 9, 10, 11};
  std::vector<StreamNeeds> some = streams_of({9, 0.1, 0.1});
  some[1].inference_threads = 5;
  const LaunchPlan plan = planned(dealt(request, some));
  EXPECT_THAT(streams(plan), ElementsAre(ElementsAre(2), ElementsAre(0, 1)));
  some[1].inference_threads = 7;
  EXPECT_THAT(refusal(dealt(request, some)), HasSubstr("its instance has 6 processors"));
}

TEST(LaunchPlan, ManyDecoderThreadsTogetherAreSaid) {
  PlanRequest request = machine("numa:1 core:4 pu:1");
  request.streams = {{.name = "a", .decoder_threads = 3}, {.name = "b", .decoder_threads = 3}};
  EXPECT_THAT(planned(request).notes, ElementsAre(HasSubstr("ask for 6 decoder threads together")));
}

TEST(LaunchPlan, CountsToTry) {
  EXPECT_THAT(instance_counts_to_try(machine("numa:1 core:1 pu:1")), ElementsAre(1));
  EXPECT_THAT(instance_counts_to_try(machine("numa:2 core:4 pu:2")), ElementsAre(1, 2, 4, 8));
  EXPECT_THAT(instance_counts_to_try(machine("numa:3 core:4 pu:1")),
              ElementsAre(1, 2, 3, 4, 6, 8, 12));
  EXPECT_THAT(instance_counts_to_try(machine("numa:3 core:4 pu:1", 2)), ElementsAre(1, 2));
  EXPECT_THAT(
      instance_counts_to_try(dealt(machine("numa:1 core:8 pu:1"), streams_of({1, 1, 1, 1, 1}))),
      ElementsAre(1, 2, 4));
}

TEST(DealThreads, InProportionAndOneEach) {
  EXPECT_THAT(deal_threads(4, {1, 1, 6}), ElementsAre(1, 1, 2));
  EXPECT_THAT(deal_threads(8, {1, 1, 6}), ElementsAre(1, 1, 6));
  EXPECT_THAT(deal_threads(3, {2, 2}), ElementsAre(2, 1));
  EXPECT_THAT(deal_threads(10, {7, 5, 8}), ElementsAre(4, 2, 4));
}

/// Whatever the machine and the wishes are.
TEST(LaunchPlan, NeverHasMoreThreadsThanProcessorsAndUsesEachOnce) {
  std::mt19937 random(38);
  const auto any = [&](size_t from, size_t to) {
    return std::uniform_int_distribution<size_t>(from, to)(random);
  };
  size_t planned_count = 0;
  for (int round = 0; round < 2000; ++round) {
    PlanRequest request;
    const size_t nodes = any(1, 5);
    int processor = 0;
    for (size_t node = 0; node < nodes; ++node) {
      for (size_t core = any(0, 5); core > 0; --core) {
        PhysicalCore& made = request.topology.cores.emplace_back();
        made.numa_node = 3 * node;
        made.kind = any(0, 2) == 0 ? CoreKind::Efficiency : CoreKind::Performance;
        for (size_t thread = any(1, 2); thread > 0; --thread)
          made.processors.push_back(processor++);
      }
    }
    if (request.topology.cores.empty()) continue;
    const auto all = static_cast<size_t>(processor);
    request.topology.max_threads = any(1, all);
    request.instances = any(0, all);
    request.replicate = any(0, 1) == 0;
    for (size_t count = any(1, 12); count > 0; --count) {
      StreamNeeds& stream = request.streams.emplace_back();
      stream.name = std::to_string(count);
      if (any(0, 1) == 0) stream.cost = 0.1 * static_cast<double>(any(0, 30));
      if (any(0, 3) == 0) stream.near_nodes = {3 * any(0, nodes - 1)};
      if (any(0, 9) == 0) stream.decoder_threads = any(1, 3);
    }
    const Result<LaunchPlan> plan = plan_instances(request);
    if (!plan) {
      EXPECT_EQ(plan.error().code(), StatusCode::InvalidArgument);
      continue;
    }
    ++planned_count;
    std::set<int> used;
    std::multiset<size_t> dealt_streams;
    size_t inference = 0;
    size_t threads = 0;
    for (const InstancePlan& instance : plan->instances) {
      ASSERT_FALSE(instance.processors.empty());
      ASSERT_FALSE(instance.numa_nodes.empty());
      ASSERT_FALSE(instance.streams.empty());
      ASSERT_EQ(instance.streams.size(), instance.reasons.size());
      for (const int number : instance.processors) ASSERT_TRUE(used.insert(number).second);
      ASSERT_GE(instance.inference_threads, 1u);
      ASSERT_LE(instance.inference_threads, instance.max_threads);
      ASSERT_LE(instance.max_threads, instance.processors.size());
      ASSERT_GE(instance.decoder_threads, 1u);
      inference += instance.inference_threads;
      threads += instance.max_threads;
      dealt_streams.insert(instance.streams.begin(), instance.streams.end());
    }
    ASSERT_LE(inference, threads);
    ASSERT_LE(threads, request.topology.max_threads);
    ASSERT_LE(used.size(), all);
    if (request.replicate) {
      ASSERT_EQ(dealt_streams.size(), request.streams.size() * plan->instances.size());
      ASSERT_TRUE(request.instances == 0 || plan->instances.size() == request.instances);
    } else {
      ASSERT_EQ(dealt_streams.size(), request.streams.size());
      ASSERT_EQ(std::set(dealt_streams.begin(), dealt_streams.end()).size(), dealt_streams.size());
    }
  }
  EXPECT_GT(planned_count, 500u);
}

}  // namespace
}  // namespace het::serving
