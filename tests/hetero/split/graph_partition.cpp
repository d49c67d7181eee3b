#include "hetero/split/graph_partition.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>
#include <set>

namespace het::hetero {
namespace {

using Parts = std::vector<size_t>;

/// Nodes read up to two of the `reach` nodes before them, and some of the shared values.
DeviceGraph random_graph(std::mt19937& random, size_t count, size_t devices, size_t reach,
                         size_t shared) {
  DeviceGraph graph;
  graph.readers.resize(shared);
  for (size_t i = 0; i < count; ++i) {
    graph.devices.push_back(random() % devices);
    std::vector<size_t>& sources = graph.sources.emplace_back();
    for (int k = 0; k < 2 && i > 0; ++k) {
      if (random() % 8 > 0) sources.push_back(i - 1 - random() % std::min(i, reach));
    }
    if (shared > 0 && random() % 2 == 0) graph.readers[random() % shared].push_back(i);
  }
  return graph;
}

/// True when parts can run one after the other.
bool is_acyclic(const DeviceGraph& graph, const Parts& parts, size_t count) {
  std::vector<std::set<size_t>> readers(count);
  std::vector<size_t> waiting(count);
  for (size_t i = 0; i < parts.size(); ++i) {
    for (const size_t source : graph.sources[i]) {
      if (parts[source] == parts[i]) continue;
      if (readers[parts[source]].insert(parts[i]).second) ++waiting[parts[i]];
    }
  }
  std::vector<size_t> ready;
  for (size_t part = 0; part < count; ++part) {
    if (waiting[part] == 0) ready.push_back(part);
  }
  size_t done = 0;
  for (; !ready.empty(); ++done) {
    const size_t part = ready.back();
    ready.pop_back();
    for (const size_t reader : readers[part]) {
      if (--waiting[reader] == 0) ready.push_back(reader);
    }
  }
  return done == count;
}

class Sets {
 public:
  explicit Sets(size_t count) : parents_(count) {
    std::iota(parents_.begin(), parents_.end(), size_t{0});
  }
  size_t find(size_t i) { return parents_[i] == i ? i : parents_[i] = find(parents_[i]); }
  void join(size_t a, size_t b) { parents_[find(a)] = find(b); }

 private:
  std::vector<size_t> parents_;
};

/// The first step of OpenVINO's collector: what an edge within a device connects is one set, with
/// model inputs and constants as nodes that have the device of their first reader. Fills `parts`
/// and returns the number of sets with a node in them.
size_t openvino_sets(const DeviceGraph& graph, Parts& parts) {
  const size_t count = graph.devices.size();
  Sets sets(count);
  for (size_t i = 0; i < count; ++i) {
    for (const size_t source : graph.sources[i]) {
      if (graph.devices[source] == graph.devices[i]) sets.join(source, i);
    }
  }
  for (const std::vector<size_t>& readers : graph.readers) {
    for (const size_t reader : readers) {
      if (graph.devices[reader] == graph.devices[readers[0]]) sets.join(reader, readers[0]);
    }
  }
  std::set<size_t> roots;
  for (size_t i = 0; i < count; ++i) roots.insert(sets.find(i));
  parts.clear();
  for (size_t i = 0; i < count; ++i) {
    parts.push_back(static_cast<size_t>(std::distance(roots.begin(), roots.find(sets.find(i)))));
  }
  return roots.size();
}

/// The least number of connected, acyclic parts, by trying all.
class BruteForce {
 public:
  explicit BruteForce(const DeviceGraph& graph)
      : graph_(graph), parts_(graph.devices.size()), best_(graph.devices.size()) {}
  size_t run() {
    place(0, 0);
    return best_;
  }

 private:
  void place(size_t node, size_t count) {
    if (count >= best_) return;
    if (node == parts_.size()) {
      if (is_connected(count) && is_acyclic(graph_, parts_, count)) best_ = count;
      return;
    }
    for (size_t part = 0; part <= count; ++part) {
      const auto clashes = [&](size_t other) {
        return parts_[other] == part && graph_.devices[other] != graph_.devices[node];
      };
      bool is_free = true;
      for (size_t other = 0; other < node; ++other) is_free = is_free && !clashes(other);
      if (!is_free) continue;
      parts_[node] = part;
      place(node + 1, std::max(count, part + 1));
    }
  }
  bool is_connected(size_t count) const {
    Sets sets(parts_.size());
    size_t joined = parts_.size();
    for (size_t i = 0; i < parts_.size(); ++i) {
      for (const size_t source : graph_.sources[i]) {
        if (parts_[source] != parts_[i] || sets.find(source) == sets.find(i)) continue;
        sets.join(source, i);
        --joined;
      }
    }
    return joined == count;
  }

  const DeviceGraph& graph_;
  Parts parts_;
  size_t best_;
};

void expect_valid(const DeviceGraph& graph, const Partition& partition) {
  ASSERT_FALSE(partition.conflict);
  ASSERT_EQ(partition.part_of.size(), graph.devices.size());
  std::vector<std::set<size_t>> devices(partition.part_count);
  for (size_t i = 0; i < graph.devices.size(); ++i) {
    ASSERT_LT(partition.part_of[i], partition.part_count);
    devices[partition.part_of[i]].insert(graph.devices[i]);
    for (const size_t source : graph.sources[i]) {
      ASSERT_LE(partition.part_of[source], partition.part_of[i])
          << "of nodes " << source << ", " << i;
    }
  }
  for (const std::set<size_t>& set : devices) EXPECT_EQ(set.size(), 1u);
}

TEST(GraphPartition, NothingGivesNothing) {
  const Partition partition = partition_graph({});
  EXPECT_EQ(partition.part_count, 0u);
  EXPECT_FALSE(partition.conflict);
}

TEST(GraphPartition, RandomGraphsAreDividedWithoutCycles) {
  std::mt19937 random(1);
  size_t acyclic = 0;
  for (int run = 0; run < 1000; ++run) {
    SCOPED_TRACE(run);
    const size_t devices = 2 + run % 3;
    const DeviceGraph graph =
        random_graph(random, 5 + random() % 60, devices, 1 + random() % 20, random() % 4);
    const Partition partition = partition_graph(graph);
    expect_valid(graph, partition);
    Parts parts;
    const size_t sets = openvino_sets(graph, parts);
    if (!is_acyclic(graph, parts, sets)) continue;
    ++acyclic;
    EXPECT_LE(partition.part_count, sets) << "OpenVINO needs fewer";
  }
  EXPECT_GT(acyclic, 50u) << "too few cases have a bound";
}

TEST(GraphPartition, ThePartsAreAsFewAsPossibleOrNearlySo) {
  std::mt19937 random(2);
  size_t least = 0;
  size_t made = 0;
  for (int run = 0; run < 500; ++run) {
    SCOPED_TRACE(run);
    const DeviceGraph graph = random_graph(random, 3 + random() % 6, 2 + run % 2, 9, 0);
    const Partition partition = partition_graph(graph);
    expect_valid(graph, partition);
    const size_t best = BruteForce(graph).run();
    EXPECT_LE(partition.part_count, best + 1);
    least += best;
    made += partition.part_count;
  }
  EXPECT_LE(static_cast<double>(made), 1.005 * static_cast<double>(least));
}

TEST(GraphPartition, TenThousandNodesTakeMilliseconds) {
  std::mt19937 random(3);
  for (const size_t reach : {size_t{30}, size_t{10'000}}) {
    const DeviceGraph graph = random_graph(random, 10'000, 2, reach, 50);
    const auto start = std::chrono::steady_clock::now();
    const Partition partition = partition_graph(graph);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    expect_valid(graph, partition);
    // Some 50 ms when optimised; the limit only tells a quadratic algorithm from a linear one.
    EXPECT_LT(taken.count(), 5.0);
  }
}

TEST(GraphPartition, AllInputsOfManyNodesAndManyReadersOfOne) {
  for (const bool is_fan_out : {false, true}) {
    DeviceGraph graph;
    constexpr size_t kCount = 5'000;
    graph.devices.assign(kCount + 1, 0);
    graph.sources.resize(kCount + 1);
    for (size_t i = 1; i < kCount; ++i) {
      graph.devices[i] = i % 2;
      if (is_fan_out) graph.sources[i] = {0};
      if (!is_fan_out) graph.sources[kCount].push_back(i);
    }
    const Partition partition = partition_graph(graph);
    expect_valid(graph, partition);
    // Those on the hub's device belong to it; the others are connected to nothing else.
    EXPECT_GE(partition.part_count, 2'500u);
    EXPECT_LE(partition.part_count, 2'502u);
  }
}

TEST(GraphPartition, TiedNodesAndAllBetweenThemAreOnePart) {
  // 0 -> 1 -> 2 -> 3 and 4 alone; 0 and 3 are tied.
  DeviceGraph graph{{0, 0, 0, 0, 0}, {{}, {0}, {1}, {2}, {}}, {}, {{0, 3}}};
  EXPECT_EQ(partition_graph(graph).part_of, (Parts{0, 0, 0, 0, 1}));
  graph.ties = {{0, 4}};
  EXPECT_EQ(partition_graph(graph).part_of, (Parts{0, 0, 0, 0, 0}));
}

TEST(GraphPartition, ADeviceBetweenTiedNodesIsAConflict) {
  const DeviceGraph graph{{0, 1, 0}, {{}, {0}, {1}}, {}, {{0, 2}}};
  const Partition partition = partition_graph(graph);
  ASSERT_TRUE(partition.conflict);
  EXPECT_EQ(partition.conflict->tie, 0u);
  EXPECT_EQ(partition.conflict->node, 0u);
  EXPECT_EQ(partition.conflict->between, 1u);
  EXPECT_TRUE(partition.part_of.empty());
}

TEST(GraphPartition, TiesThatCrossAreOnePart) {
  // 0 -> 3 and 1 -> 2; the ties {0, 2} and {1, 3} need each other.
  const DeviceGraph graph{{0, 0, 0, 0}, {{}, {}, {1}, {0}}, {}, {{0, 2}, {1, 3}}};
  EXPECT_EQ(partition_graph(graph).part_count, 1u);
  DeviceGraph two_devices = graph;
  two_devices.devices = {0, 1, 0, 1};
  EXPECT_TRUE(partition_graph(two_devices).conflict);
}

}  // namespace
}  // namespace het::hetero
