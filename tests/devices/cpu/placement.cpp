#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpu_testing.h"
#include "devices/cpu/plan/stream_settings.h"
#include "devices/cpu/threads/core_budget.h"

namespace het::cpu {
namespace {

Topology machine(const std::string& synthetic, size_t max_threads = 0,
                 const std::string& efficiency = "") {
  TopologySource source{synthetic, efficiency, max_threads};
  auto topology = read_topology(source);
  EXPECT_TRUE(topology) << topology.error().message();
  return topology ? *topology : Topology{};
}

StreamSettings settings_of(const Topology& topology, const Properties& properties) {
  auto settings = stream_settings(properties, topology);
  EXPECT_TRUE(settings) << settings.error().message();
  return settings ? *settings : StreamSettings{};
}

using CpuPlacement = cpu_testing::CpuTest;
using Numbers = std::vector<int>;

/// Processors of all threads in order, when each is bound to one.
Numbers bound(const TeamPlaces& places) {
  Numbers numbers;
  for (const std::vector<int>& place : places) {
    EXPECT_EQ(place.size(), 1u);
    if (!place.empty()) numbers.push_back(place.front());
  }
  return numbers;
}

TEST(CpuTopology, ReadsNodesCoresAndHardwareThreads) {
  const Topology two_nodes = machine("numa:2 core:4 pu:2");
  ASSERT_EQ(two_nodes.cores.size(), 8u);
  EXPECT_EQ(two_nodes.max_threads, 16u);
  EXPECT_EQ(two_nodes.cores[0].processors, (Numbers{0, 1}));
  EXPECT_EQ(two_nodes.cores[3].numa_node, 0u);
  EXPECT_EQ(two_nodes.cores[4].numa_node, 1u);
  EXPECT_EQ(two_nodes.cores[4].processors, (Numbers{8, 9}));

  const Topology hybrid = machine("numa:1 core:8 pu:1", 0, "4-7");
  EXPECT_EQ(hybrid.cores[3].kind, CoreKind::Performance);
  EXPECT_EQ(hybrid.cores[4].kind, CoreKind::Efficiency);
  EXPECT_FALSE(read_topology({"no such machine", "", 0}));
}

TEST(CpuTopology, ThisMachineHasNoMoreThreadsThanItGives) {
  const auto topology = read_topology();
  ASSERT_TRUE(topology) << topology.error().message();
  EXPECT_GE(topology->max_threads, 1u);
  size_t processors = 0;
  for (const PhysicalCore& core : topology->cores) processors += core.processors.size();
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  EXPECT_EQ(processors, static_cast<size_t>(CPU_COUNT(&allowed)));
  EXPECT_LE(topology->max_threads, processors);
}

TEST(CpuStreamSettings, FollowHintsAndLimits) {
  const Topology eight = machine("numa:1 core:8 pu:1");
  const auto streams = [&](const Properties& properties) {
    const StreamSettings settings = settings_of(eight, properties);
    return std::pair(settings.streams, settings.threads_per_stream);
  };
  using Pair = std::pair<size_t, size_t>;
  EXPECT_EQ(streams({}), Pair(1, 8));
  EXPECT_EQ(streams({{"PERFORMANCE_HINT", "THROUGHPUT"}}), Pair(8, 1));
  EXPECT_EQ(streams({{"PERFORMANCE_HINT", "CUMULATIVE_THROUGHPUT"}}), Pair(8, 1));
  EXPECT_EQ(streams({{"NUM_STREAMS", "AUTO"}}), Pair(8, 1));
  EXPECT_EQ(streams({{"PERFORMANCE_HINT", "THROUGHPUT"}, {"PERFORMANCE_HINT_NUM_REQUESTS", "2"}}),
            Pair(2, 4));
  EXPECT_EQ(streams({{"NUM_STREAMS", "3"}}), Pair(3, 2));
  EXPECT_EQ(streams({{"NUM_STREAMS", "16"}}), Pair(16, 1));
  EXPECT_EQ(streams({{"INFERENCE_NUM_THREADS", "4"}, {"NUM_STREAMS", "2"}}), Pair(2, 2));
}

TEST(CpuStreamSettings, LatencyHasAStreamPerNumaNode) {
  const StreamSettings two = settings_of(machine("numa:2 core:4 pu:2"), {});
  EXPECT_EQ(two.streams, 2u);
  EXPECT_EQ(two.optimal_requests, 2u);
  // One hardware thread a core.
  EXPECT_EQ(bound(two.places[0]), (Numbers{0, 2, 4, 6}));
  EXPECT_EQ(bound(two.places[1]), (Numbers{8, 10, 12, 14}));

  const StreamSettings four = settings_of(machine("numa:4 core:2 pu:1"), {});
  EXPECT_EQ(four.streams, 4u);
  EXPECT_EQ(bound(four.places[3]), (Numbers{6, 7}));
  const StreamSettings one = settings_of(machine("numa:4 core:2 pu:1"), {{"NUM_STREAMS", "1"}});
  EXPECT_EQ(one.threads_per_stream, 8u);
}

TEST(CpuStreamSettings, ThroughputUsesHardwareThreadsAndSpreadsOverNodes) {
  const Topology two_nodes = machine("numa:2 core:2 pu:2");
  const StreamSettings all = settings_of(two_nodes, {{"PERFORMANCE_HINT", "THROUGHPUT"}});
  EXPECT_EQ(all.streams, 8u);
  std::vector<int> used;
  for (const TeamPlaces& places : all.places) used.push_back(bound(places).at(0));
  // Cores of both nodes before second hardware threads.
  EXPECT_EQ(used, (Numbers{0, 4, 2, 6, 1, 5, 3, 7}));

  const StreamSettings cores = settings_of(
      two_nodes, {{"PERFORMANCE_HINT", "THROUGHPUT"}, {"ENABLE_HYPER_THREADING", "NO"}});
  EXPECT_EQ(cores.streams, 4u);
  const StreamSettings nodes = settings_of(two_nodes, {{"NUM_STREAMS", "NUMA"}});
  EXPECT_EQ(nodes.streams, 2u);
  // No stream lies on two nodes while one has room.
  const StreamSettings pairs = settings_of(machine("numa:2 core:3 pu:1"),
                                           {{"NUM_STREAMS", "2"}, {"INFERENCE_NUM_THREADS", "4"}});
  EXPECT_EQ(bound(pairs.places[0]), (Numbers{0, 1}));
  EXPECT_EQ(bound(pairs.places[1]), (Numbers{3, 4}));
}

TEST(CpuStreamSettings, BindingToCoresNodesOrNothing) {
  const Topology two_nodes = machine("numa:2 core:2 pu:1");
  const auto places = [&](const char* pinning) {
    return settings_of(two_nodes, {{"ENABLE_CPU_PINNING", pinning}}).places;
  };
  EXPECT_EQ(bound(places("YES")[1]), (Numbers{2, 3}));
  EXPECT_EQ(places("NUMA")[1], (TeamPlaces{{2, 3}, {2, 3}}));
  EXPECT_EQ(places("NO")[1], (TeamPlaces{{}, {}}));
}

TEST(CpuStreamSettings, ProcessorsAreTheOnlyOnes) {
  const Topology two_nodes = machine("numa:2 core:2 pu:2");
  const auto settings = [&](const char* processors, Properties properties) {
    properties["PROCESSORS"] = processors;
    return settings_of(two_nodes, properties);
  };
  // 0, 1 and 2, 3 are the cores of the first node.
  EXPECT_EQ(bound(settings("1, 2-3", {}).places[0]), (Numbers{1, 2})) << "a thread a core";
  EXPECT_EQ(settings("0;4", {}).streams, 2u) << "one a node";
  const StreamSettings all = settings("1-2;6", {{"PERFORMANCE_HINT", "THROUGHPUT"}});
  EXPECT_EQ(all.streams, 3u);
  EXPECT_EQ(settings("5-7", {{"ENABLE_CPU_PINNING", "NO"}}).places[0][0], (Numbers{5, 6, 7}));
  EXPECT_EQ(settings("0,4,5", {{"ENABLE_CPU_PINNING", "NUMA"}, {"PERFORMANCE_HINT", "THROUGHPUT"}})
                .places[2][0],
            (Numbers{4, 5}));
  for (const auto& [processors, words] :
       {std::pair("0-8", "may not run on processor 8"), std::pair("", ""),
        std::pair("3-1", "'3-1' of '3-1' is neither"), std::pair("0,,2", "'' of '0,,2' is neither"),
        std::pair("0x1", "'0x1' of '0x1' is neither"),
        std::pair("0-99999", "nor a range; write 0-3")}) {
    const auto wrong = stream_settings({{"PROCESSORS", processors}}, two_nodes);
    EXPECT_EQ(wrong.has_value(), *words == '\0') << processors;
    if (!wrong) {
      EXPECT_NE(wrong.error().message().find(words), std::string::npos) << wrong.error().message();
    }
  }
}

TEST(CpuStreamSettings, HybridProcessors) {
  const Topology hybrid = machine("numa:1 core:8 pu:1", 0, "2-7");
  const auto threads = [&](const Properties& properties) {
    const StreamSettings settings = settings_of(hybrid, properties);
    return settings.streams * settings.threads_per_stream;
  };
  EXPECT_EQ(threads({}), 2u) << "a team is as slow as its slowest thread";
  EXPECT_EQ(threads({{"PERFORMANCE_HINT", "THROUGHPUT"}}), 8u);
  EXPECT_EQ(threads({{"PERFORMANCE_HINT", "THROUGHPUT"}, {"SCHEDULING_CORE_TYPE", "ECORE_ONLY"}}),
            6u);
  EXPECT_EQ(threads({{"PERFORMANCE_HINT", "THROUGHPUT"}, {"SCHEDULING_CORE_TYPE", "PCORE_ONLY"}}),
            2u);
  const auto refused =
      stream_settings({{"SCHEDULING_CORE_TYPE", "ECORE_ONLY"}}, machine("numa:1 core:4 pu:1"));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("ECORE_ONLY"), std::string::npos);
}

TEST(CpuStreamSettings, SpareCoresStayFree) {
  const auto used = [](const Topology& topology, Properties properties) {
    properties.try_emplace("SPARE_CORES", "1");
    Numbers numbers;
    for (const TeamPlaces& places : settings_of(topology, properties).places) {
      for (const int number : bound(places)) numbers.push_back(number);
    }
    std::ranges::sort(numbers);
    return numbers;
  };
  const Topology four = machine("numa:1 core:4 pu:2");
  const Properties throughput = {{"PERFORMANCE_HINT", "THROUGHPUT"}};
  EXPECT_EQ(used(four, {}), (Numbers{0, 2, 4}));
  EXPECT_EQ(used(four, {{"SPARE_CORES", "2"}}), (Numbers{0, 2}));
  EXPECT_EQ(used(four, {{"SPARE_CORES", "9"}}), (Numbers{0}));
  EXPECT_EQ(used(four, throughput), (Numbers{0, 1, 2, 3, 4, 5})) << "both threads of a core";
  EXPECT_EQ(used(four, {{"INFERENCE_NUM_THREADS", "4"}}), (Numbers{0, 2, 4, 6}));
  EXPECT_EQ(used(machine("numa:1 core:1 pu:2"), throughput), (Numbers{0, 1})) << "the only core";
  // A fast core that one team uses is worth more; those that no team uses are free already.
  const Topology hybrid = machine("numa:1 core:4 pu:1", 0, "0-1");
  EXPECT_EQ(used(hybrid, throughput), (Numbers{0, 2, 3}));
  EXPECT_EQ(used(hybrid, {}), (Numbers{2, 3}));
  // What a quota allows is less than there are processors.
  const StreamSettings container =
      settings_of(machine("numa:1 core:8 pu:1", 3), {{"SPARE_CORES", "1"}});
  EXPECT_EQ(container.threads_per_stream, 2u);
}

TEST(CpuStreamSettings, AQuotaLimitsTheThreads) {
  // A container with 1.5 CPUs on a machine of 16 processors.
  const Topology container = machine("numa:2 core:4 pu:2", 1);
  for (const char* hint : {"LATENCY", "THROUGHPUT"}) {
    const StreamSettings settings = settings_of(container, {{"PERFORMANCE_HINT", hint}});
    EXPECT_EQ(settings.streams * settings.threads_per_stream, 1u) << hint;
  }
}

TEST(CpuStreamSettings, MoreThreadsThanProcessorsShareThem) {
  const StreamSettings settings = settings_of(
      machine("numa:1 core:2 pu:1"), {{"NUM_STREAMS", "3"}, {"INFERENCE_NUM_THREADS", "6"}});
  EXPECT_EQ(bound(settings.places[0]), (Numbers{0, 1}));
  EXPECT_EQ(bound(settings.places[2]), (Numbers{0, 1}));
}

/// Threads of this process.
std::set<pid_t> threads() {
  std::set<pid_t> ids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    ids.insert(static_cast<pid_t>(std::stol(entry.path().filename())));
  }
  return ids;
}

size_t processors_of(pid_t thread) {
  cpu_set_t allowed;
  if (sched_getaffinity(thread, sizeof allowed, &allowed) != 0) return 0;
  return static_cast<size_t>(CPU_COUNT(&allowed));
}

TEST_F(CpuPlacement, TheTeamStartsAndIsBoundWithTheFirstRequest) {
  cpu_testing::ModelMaker maker;
  maker.output(maker.op("Relu", {maker.conv(maker.input({1, 32, 64, 64}), 32, 32, 3)}));
  std::thread([] {}).join();  // with the first thread a sanitizer starts its own
  const std::set<pid_t> before = threads();
  const auto compiled =
      compile(maker.model(), {{"INFERENCE_NUM_THREADS", "3"}, {"NUM_STREAMS", "1"}});
  std::set<pid_t> made = threads();
  std::erase_if(made, [&](pid_t thread) { return before.contains(thread); });
  ASSERT_EQ(made.size(), 1u) << "the stream's own thread";
  infer(*compiled, random_inputs(maker.model()));
  made = threads();
  std::erase_if(made, [&](pid_t thread) { return before.contains(thread); });
  EXPECT_EQ(made.size(), 3u);
  // A helper binds itself when it first has a core, which the request need not have waited for.
  const auto all_bound = [&] {
    return std::ranges::all_of(made, [](pid_t thread) { return processors_of(thread) == 1; });
  };
  for (int k = 0; k < 1000 && !all_bound(); ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  for (const pid_t thread : made) EXPECT_EQ(processors_of(thread), 1u) << thread;
}

TEST_F(CpuPlacement, ThreadsOfAModelStayOnItsProcessorsAndOthersWhereTheyWere) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last, &allowed)) --last;
  const size_t everywhere = processors_of(0);
  if (everywhere < 2) GTEST_SKIP() << "this process may use one processor only";
  cpu_testing::ModelMaker maker;
  maker.output(maker.op("Relu", {maker.conv(maker.input({1, 32, 64, 64}), 32, 32, 3)}));
  std::thread([] {}).join();
  const std::set<pid_t> before = threads();
  for (const char* pinning : {"YES", "NUMA", "NO"}) {
    const auto compiled = compile(
        maker.model(), {{"PROCESSORS", std::to_string(last)}, {"ENABLE_CPU_PINNING", pinning}});
    auto request = compiled->create_infer_request();
    ASSERT_TRUE(request) << request.error().message();
    std::atomic<pid_t> computing = 0;
    (*request)->set_callback([&](const Status&) { computing = gettid(); });
    // From the second time on the application's thread could compute itself.
    for (int run = 0; run < 3; ++run) {
      ASSERT_TRUE((*request)->infer().ok());
      EXPECT_NE(computing, gettid());
    }
    std::set<pid_t> made = threads();
    std::erase_if(made, [&](pid_t thread) { return before.contains(thread); });
    ASSERT_EQ(made.size(), 1u);
    cpu_set_t own;
    ASSERT_EQ(sched_getaffinity(*made.begin(), sizeof own, &own), 0);
    EXPECT_TRUE(CPU_COUNT(&own) == 1 && CPU_ISSET(last, &own)) << pinning;
    EXPECT_EQ(processors_of(0), everywhere);
  }
}

/// From when to when each of some executions computed, by the steady clock.
std::vector<std::pair<int64_t, int64_t>> executions(CompiledModel& model,
                                                    const std::vector<Tensor>& inputs) {
  std::vector<std::pair<int64_t, int64_t>> spans;
  auto request = model.create_infer_request();
  EXPECT_TRUE(request) << request.error().message();
  if (!request) return spans;
  for (size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_TRUE((*request)->set_input(i, inputs[i]).ok());
  }
  for (int run = 0; run < 100; ++run) {
    EXPECT_TRUE((*request)->infer().ok());
    int64_t begin = std::numeric_limits<int64_t>::max();
    int64_t end = 0;
    for (const ProfileRow& row : (*request)->profiling()) {
      if (row.status != ProfileStatus::Executed) continue;
      begin = std::min(begin, row.start_us);
      end = std::max(end, row.start_us + row.real_us);
    }
    spans.emplace_back(begin, end);
  }
  return spans;
}

TEST_F(CpuPlacement, ModelsThatLeaveTheSameCoresTakeTurns) {
  if (processors_of(0) < 2) GTEST_SKIP() << "this process may use one processor only";
  cpu_testing::ModelMaker maker;
  maker.output(maker.op("Relu", {maker.conv(maker.input({1, 16, 64, 64}), 16, 32, 3)}));
  // All but one core are left, and the threads may run on any.
  const Properties properties{
      {"SPARE_CORES", "1000"}, {"ENABLE_CPU_PINNING", "NO"}, {"PERF_COUNT", "YES"}};
  const auto first = compile(maker.model(), properties);
  const auto second = compile(maker.model(), properties);
  const std::vector<Tensor> inputs = random_inputs(maker.model());
  std::vector<std::pair<int64_t, int64_t>> spans;
  std::thread other([&] { spans = executions(*first, inputs); });
  const auto mine = executions(*second, inputs);
  other.join();
  spans.insert(spans.end(), mine.begin(), mine.end());
  std::sort(spans.begin(), spans.end());
  for (size_t i = 1; i < spans.size(); ++i) {
    EXPECT_LE(spans[i - 1].second, spans[i].first) << "execution " << i;
  }
}

TEST(CoreBudget, NoMoreThreadsAtOnceThanItHas) {
  CoreBudget budget(3, CoreBudget::Kind::Strict);
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::atomic<int> done{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t) {
    threads.emplace_back([&, share = static_cast<size_t>(t % 3) + 1] {
      for (int i = 0; i < 300; ++i) {
        const CoreLease lease(budget, share);
        const int now = running += static_cast<int>(share);
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::yield();
        running -= static_cast<int>(share);
        ++done;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(done, 6 * 300);
  EXPECT_LE(most, 3);
}

TEST(CoreBudget, ATeamLargerThanAllGetsAll) {
  for (const auto kind : {CoreBudget::Kind::Strict, CoreBudget::Kind::Filled}) {
    CoreBudget budget(2, kind);
    EXPECT_EQ(budget.threads(), 2u);
    { const CoreLease lease(budget, 8); }
    const CoreLease again(budget, 2);
  }
}

TEST(CoreBudget, OneThreadMoreThanCoresWhateverItsTeam) {
  CoreBudget budget(2, CoreBudget::Kind::Filled);
  std::atomic<bool> has_it = false;
  std::thread third;
  {
    const CoreLease team(budget, 2);
    const CoreLease other(budget, 2);
    third = std::thread([&] {
      const CoreLease lease(budget, 1);
      has_it = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(has_it);
  }
  third.join();
  EXPECT_TRUE(has_it);
}

/// The most threads that compute at once where these many models, each with a thread, leave cores.
int most_at_once(CoreBudgets& budgets, int models, size_t spare) {
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int model = 0; model < models; ++model) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        const CoreLease lease(budgets.sparing(spare), budgets.all(), 1);
        const int now = ++running;
        int seen = most;
        while (now > seen && !most.compare_exchange_weak(seen, now)) {
        }
        std::this_thread::sleep_for(std::chrono::microseconds(50));
        --running;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return most;
}

TEST(CoreBudgets, ModelsThatLeaveCoresLeaveThemTogether) {
  CoreBudgets budgets(4);
  EXPECT_LE(most_at_once(budgets, 6, 0), 5) << "one more than cores";
  EXPECT_LE(most_at_once(budgets, 6, 1), 3);
  EXPECT_LE(most_at_once(budgets, 6, 3), 1);
  EXPECT_LE(most_at_once(budgets, 6, 9), 1);
  EXPECT_EQ(budgets.sparing(0), nullptr) << "nothing is left to others";
  EXPECT_EQ(budgets.sparing(1), budgets.sparing(1)) << "one for all models";
  EXPECT_EQ(budgets.sparing(1)->threads(), 3u);
  EXPECT_EQ(budgets.sparing(9)->threads(), 1u) << "one is always there";
}

TEST(CoreBudget, ThoseThatWaitAreServedInTurn) {
  CoreBudget budget(2, CoreBudget::Kind::Strict);
  budget.acquire(1);
  std::atomic<bool> large_has{false};
  std::thread large([&] {
    budget.acquire(2);
    large_has = true;
    budget.release(2);
  });
  // One thread is free, but it is kept for the one that waits for two.
  std::thread small;
  std::atomic<bool> small_first{false};
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  small = std::thread([&] {
    budget.acquire(1);
    small_first = !large_has;
    budget.release(1);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(large_has);
  budget.release(1);
  large.join();
  small.join();
  EXPECT_FALSE(small_first);
}

}  // namespace
}  // namespace het::cpu
