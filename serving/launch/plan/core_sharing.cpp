#include "serving/launch/plan/core_sharing.h"

#include <algorithm>
#include <iterator>

namespace het::serving {
namespace {

/// The most processors of a group when `nodes` are cut into this many, the largest as small as can
/// be; every node counts.
size_t smallest_largest(const std::vector<CoreGroup>& nodes, size_t groups) {
  size_t low = 0;
  size_t high = 0;
  for (const CoreGroup& node : nodes) {
    low = std::max(low, processor_count(node.cores));
    high += processor_count(node.cores);
  }
  while (low < high) {
    const size_t middle = (low + high) / 2;
    size_t needed = 1;
    size_t filled = 0;
    for (const CoreGroup& node : nodes) {
      const size_t count = processor_count(node.cores);
      if (filled + count > middle) {
        ++needed;
        filled = 0;
      }
      filled += count;
    }
    if (needed <= groups) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

std::vector<CoreGroup> join_nodes(const std::vector<CoreGroup>& nodes, size_t groups) {
  const size_t most = smallest_largest(nodes, groups);
  std::vector<CoreGroup> joined;
  size_t filled = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const size_t count = processor_count(nodes[i].cores);
    const bool each_needs_one = nodes.size() - i <= groups - joined.size();
    if (joined.empty() || each_needs_one || filled + count > most) {
      joined.emplace_back();
      filled = 0;
    }
    filled += count;
    std::ranges::copy(nodes[i].numa_nodes, std::back_inserter(joined.back().numa_nodes));
    std::ranges::copy(nodes[i].cores, std::back_inserter(joined.back().cores));
  }
  return joined;
}

std::vector<PhysicalCore> of_kind(const std::vector<PhysicalCore>& cores, CoreKind kind) {
  std::vector<PhysicalCore> result;
  std::ranges::copy_if(cores, std::back_inserter(result),
                       [kind](const PhysicalCore& core) { return core.kind == kind; });
  return result;
}

std::vector<PhysicalCore> hardware_threads(const std::vector<PhysicalCore>& cores) {
  std::vector<PhysicalCore> threads;
  for (const PhysicalCore& core : cores) {
    for (const int processor : core.processors) {
      threads.push_back({core.numa_node, core.kind, {processor}});
    }
  }
  return threads;
}

/// The cores that single hardware threads are of.
std::vector<PhysicalCore> cores_of(const std::vector<PhysicalCore>& threads,
                                   const std::vector<PhysicalCore>& cores) {
  std::vector<PhysicalCore> result;
  for (PhysicalCore core : cores) {
    std::erase_if(core.processors, [&](int processor) {
      return std::ranges::none_of(threads, [processor](const PhysicalCore& thread) {
        return thread.processors.front() == processor;
      });
    });
    if (!core.processors.empty()) result.push_back(std::move(core));
  }
  return result;
}

/// Cuts `cores` into runs, one behind each part; those left over go to the first or last parts.
void deal_runs(const std::vector<PhysicalCore>& cores, bool last_get_more,
               std::vector<std::vector<PhysicalCore>>& parts) {
  const size_t each = cores.size() / parts.size();
  const size_t more = cores.size() % parts.size();
  auto next = cores.begin();
  for (size_t i = 0; i < parts.size(); ++i) {
    const bool has_more = last_get_more ? i + more >= parts.size() : i < more;
    const auto end = next + static_cast<std::ptrdiff_t>(each + (has_more ? 1 : 0));
    parts[i].insert(parts[i].end(), next, end);
    next = end;
  }
}

}  // namespace

size_t processor_count(const std::vector<PhysicalCore>& cores) {
  size_t count = 0;
  for (const PhysicalCore& core : cores) count += core.processors.size();
  return count;
}

std::vector<CoreGroup> cores_by_node(const std::vector<PhysicalCore>& cores) {
  std::vector<PhysicalCore> sorted = cores;
  std::ranges::stable_sort(sorted, {}, &PhysicalCore::numa_node);
  std::vector<CoreGroup> nodes;
  for (PhysicalCore& core : sorted) {
    if (nodes.empty() || nodes.back().numa_nodes.front() != core.numa_node) {
      nodes.push_back({.numa_nodes = {core.numa_node}, .cores = {}});
    }
    nodes.back().cores.push_back(std::move(core));
  }
  return nodes;
}

std::vector<CoreGroup> group_nodes(std::vector<CoreGroup> nodes, size_t instances) {
  if (instances < nodes.size()) return join_nodes(nodes, instances);
  std::vector<size_t> processors;
  for (const CoreGroup& node : nodes) processors.push_back(processor_count(node.cores));
  const std::vector<size_t> counts = deal_threads(instances, processors);
  for (size_t i = 0; i < nodes.size(); ++i) nodes[i].instances = counts[i];
  return nodes;
}

std::vector<std::vector<PhysicalCore>> share_cores(const CoreGroup& group) {
  std::vector<std::vector<PhysicalCore>> parts(group.instances);
  const bool are_split = group.instances > group.cores.size();
  const std::vector<PhysicalCore> pieces = are_split ? hardware_threads(group.cores) : group.cores;
  deal_runs(of_kind(pieces, CoreKind::Performance), false, parts);
  deal_runs(of_kind(pieces, CoreKind::Efficiency), true, parts);
  if (are_split) {
    for (std::vector<PhysicalCore>& part : parts) part = cores_of(part, group.cores);
  }
  return parts;
}

std::vector<size_t> deal_threads(size_t threads, const std::vector<size_t>& processors) {
  size_t sum = 0;
  for (const size_t count : processors) sum += count;
  std::vector<size_t> shares(processors.size(), 1);
  for (size_t left = threads - shares.size(); left > 0; --left) {
    // What is missing to a part's exact share, times `sum`.
    size_t neediest = shares.size();
    long long most = 0;
    for (size_t i = 0; i < shares.size(); ++i) {
      const auto missing =
          static_cast<long long>(processors[i] * threads) - static_cast<long long>(shares[i] * sum);
      if (shares[i] < processors[i] && (neediest == shares.size() || missing > most)) {
        neediest = i;
        most = missing;
      }
    }
    if (neediest == shares.size()) break;
    ++shares[neediest];
  }
  return shares;
}

}  // namespace het::serving
