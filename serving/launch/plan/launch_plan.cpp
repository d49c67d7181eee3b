#include "serving/launch/plan/launch_plan.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "serving/launch/plan/core_sharing.h"
#include "serving/launch/plan/number_list.h"
#include "serving/launch/plan/stream_dealing.h"

namespace het::serving {
namespace {

/// Decoders gain nothing from more; libavcodec warns above it.
constexpr size_t kMostDecoderThreads = 16;

std::string counted(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Result<std::vector<PhysicalCore>> usable(const PlanRequest& request) {
  std::vector<int> known;
  std::vector<PhysicalCore> cores;
  std::set<int> wanted(request.processors.begin(), request.processors.end());
  for (PhysicalCore core : request.topology.cores) {
    std::ranges::copy(core.processors, std::back_inserter(known));
    if (!request.processors.empty()) {
      std::erase_if(core.processors, [&](int processor) { return wanted.count(processor) == 0; });
    }
    if (!core.processors.empty()) cores.push_back(std::move(core));
  }
  for (const int processor : known) wanted.erase(processor);
  if (!wanted.empty()) {
    return error(StatusCode::InvalidArgument,
                 "processors {} cannot be used: this process may run on {}",
                 number_list(std::vector<int>(wanted.begin(), wanted.end())), number_list(known));
  }
  if (cores.empty()) {
    return error(StatusCode::InvalidArgument, "there is no processor that this process may use");
  }
  return cores;
}

class LaunchPlanner {
 public:
  LaunchPlanner(const PlanRequest& request, std::vector<double> costs,
                std::vector<PhysicalCore> cores)
      : request_(request), costs_(std::move(costs)), cores_(std::move(cores)) {
    processors_ = processor_count(cores_);
    plan_.max_threads = std::clamp<size_t>(request.topology.max_threads, 1, processors_);
  }

  Result<LaunchPlan> run() {
    if (plan_.max_threads < processors_) {
      note(fmt::format("the control groups' quota allows {} at a time on {}",
                       counted(plan_.max_threads, "thread"), counted(processors_, "processor")));
    }
    HET_TRY(check_count());
    std::vector<CoreGroup> nodes = cores_by_node(cores_);
    if (request_.instances == 0) leave_nodes(nodes);
    const size_t wanted = request_.instances == 0 ? nodes.size() : request_.instances;
    groups_ = group_nodes(std::move(nodes), wanted);
    HET_TRY(fill_groups(wanted));
    for (size_t i = 0; i < plan_.instances.size(); ++i) plan_.instances[i].index = i;
    note_costs();
    note_sizes();
    for (const InstancePlan& instance : plan_.instances) note_instance(instance);
    return std::move(plan_);
  }

 private:
  void note(std::string text) { plan_.notes.push_back(std::move(text)); }

  Status check_count() const {
    const size_t wanted = request_.instances;
    if (wanted > processors_) {
      return error(StatusCode::InvalidArgument,
                   "{} on {}: each needs one of its own; ask for at most {}",
                   counted(wanted, "instance"), counted(processors_, "processor"), processors_);
    }
    if (wanted > plan_.max_threads) {
      return error(StatusCode::InvalidArgument,
                   "{} on {} of which the control groups' quota allows {} at a time: each instance "
                   "needs one; ask for at most {}, or for a higher quota",
                   counted(wanted, "instance"), counted(processors_, "processor"),
                   counted(plan_.max_threads, "thread"), plan_.max_threads);
    }
    return {};
  }

  /// A quota below the number of nodes is used up by that many of them.
  void leave_nodes(std::vector<CoreGroup>& nodes) {
    if (nodes.size() <= plan_.max_threads) return;
    const auto is_wanted = [this](const CoreGroup& group) {
      const size_t node = group.numa_nodes.front();
      size_t must = 0;
      size_t near = 0;
      for (const StreamNeeds& stream : request_.streams) {
        must += stream.node == node ? 1 : 0;
        near += std::ranges::count(stream.near_nodes, node) > 0 ? 1 : 0;
      }
      return std::make_tuple(must, near, processor_count(group.cores));
    };
    std::ranges::stable_sort(nodes, std::ranges::greater{}, is_wanted);
    std::vector<size_t> left;
    for (size_t i = plan_.max_threads; i < nodes.size(); ++i) {
      left.push_back(nodes[i].numa_nodes.front());
    }
    nodes.resize(plan_.max_threads);
    std::ranges::sort(nodes, {}, &CoreGroup::numa_nodes);
    note(fmt::format("NUMA {} {} stays unused: the quota has a thread for {} only",
                     left.size() == 1 ? "node" : "nodes", number_list(left),
                     counted(nodes.size(), "instance")));
  }

  /// Lays instances on the groups and deals streams out to them, until none is without.
  Status fill_groups(size_t wanted) {
    std::vector<size_t> unused;
    while (true) {
      lay_instances();
      HET_ASSIGN(Dealing dealing, request_.replicate ? all_to_each() : deal());
      std::vector<size_t> empty;
      for (size_t i = 0; i < dealing.rooms.size(); ++i) {
        if (dealing.rooms[i].streams.empty()) empty.push_back(i);
      }
      if (empty.empty()) {
        take(std::move(dealing));
        break;
      }
      for (const size_t i : empty) --groups_[group_of_[i]].instances;
      for (const CoreGroup& group : groups_) {
        if (group.instances == 0) std::ranges::copy(group.numa_nodes, std::back_inserter(unused));
      }
      std::erase_if(groups_, [](const CoreGroup& group) { return group.instances == 0; });
    }
    const size_t left = wanted - plan_.instances.size();
    if (left > 0) {
      note(fmt::format("{} would get no stream and {} left out", counted(left, "instance"),
                       left == 1 ? "is" : "are"));
    }
    if (!unused.empty()) {
      note(
          fmt::format("NUMA {} {} {} unused: too few streams; fewer instances than nodes span them",
                      unused.size() == 1 ? "node" : "nodes", number_list(unused),
                      unused.size() == 1 ? "stays" : "stay"));
    }
    return {};
  }

  void lay_instances() {
    plan_.instances.clear();
    group_of_.clear();
    std::vector<size_t> processors;
    std::vector<size_t> fast_cores;
    for (size_t i = 0; i < groups_.size(); ++i) {
      for (const std::vector<PhysicalCore>& cores : share_cores(groups_[i])) {
        InstancePlan& instance = plan_.instances.emplace_back();
        std::set<size_t> nodes;
        for (const PhysicalCore& core : cores) {
          nodes.insert(core.numa_node);
          std::ranges::copy(core.processors, std::back_inserter(instance.processors));
        }
        std::ranges::sort(instance.processors);
        instance.numa_nodes.assign(nodes.begin(), nodes.end());
        const auto fast = static_cast<size_t>(
            std::ranges::count(cores, CoreKind::Performance, &PhysicalCore::kind));
        fast_cores.push_back(fast > 0 ? fast : cores.size());
        processors.push_back(instance.processors.size());
        group_of_.push_back(i);
      }
    }
    size_t sum = 0;
    for (const size_t count : processors) sum += count;
    const std::vector<size_t> threads = deal_threads(std::min(plan_.max_threads, sum), processors);
    for (size_t i = 0; i < plan_.instances.size(); ++i) {
      plan_.instances[i].max_threads = threads[i];
      plan_.instances[i].inference_threads = std::min(fast_cores[i], threads[i]);
    }
  }

  std::vector<StreamRoom> rooms() const {
    std::vector<StreamRoom> rooms;
    for (const InstancePlan& instance : plan_.instances) {
      rooms.push_back({instance.numa_nodes, instance.processors.size(), instance.max_threads});
    }
    return rooms;
  }

  Result<Dealing> deal() const {
    return deal_streams(request_.streams, costs_, rooms(), request_.nodes_by_distance);
  }

  Result<Dealing> all_to_each() const {
    Dealing dealing;
    for (const StreamRoom& room : rooms()) {
      DealtStreams& dealt = dealing.rooms.emplace_back();
      for (size_t i = 0; i < request_.streams.size(); ++i) {
        HET_TRY(check_threads(request_.streams[i], room));
        dealt.streams.push_back(i);
        dealt.reasons.emplace_back("every instance runs it");
        dealt.load += request_.streams[i].cost.value_or(0);
      }
    }
    return dealing;
  }

  void take(Dealing dealing) {
    std::ranges::move(dealing.notes, std::back_inserter(plan_.notes));
    for (size_t i = 0; i < plan_.instances.size(); ++i) {
      InstancePlan& instance = plan_.instances[i];
      instance.streams = std::move(dealing.rooms[i].streams);
      instance.reasons = std::move(dealing.rooms[i].reasons);
      instance.load = dealing.rooms[i].load;
      size_t said = 0;
      size_t open = 0;
      for (const size_t stream : instance.streams) {
        said += request_.streams[stream].decoder_threads;
        open += request_.streams[stream].decoder_threads == 0 ? 1 : 0;
      }
      const size_t left = instance.max_threads - std::min(said, instance.max_threads);
      instance.decoder_threads =
          std::clamp<size_t>(left / std::max<size_t>(open, 1), 1, kMostDecoderThreads);
    }
  }

  void note_costs() {
    if (request_.replicate || plan_.instances.size() == 1) return;
    std::vector<std::string> unknown;
    double each = 1;
    for (size_t i = 0; i < costs_.size(); ++i) {
      if (request_.streams[i].cost) continue;
      unknown.push_back(request_.streams[i].name);
      each = costs_[i];
    }
    if (unknown.empty()) return;
    const bool is_mean = unknown.size() < costs_.size();
    note(fmt::format("nothing is known of the cost of {}: {}", some_names(unknown),
                     is_mean ? fmt::format("counted as {:.2f}, the mean of the others", each)
                             : "all count the same"));
  }

  void note_sizes() {
    const auto size = [](const InstancePlan& instance) { return instance.processors.size(); };
    const auto [least, most] = std::ranges::minmax(plan_.instances, {}, size);
    if (size(least) != size(most)) {
      note(fmt::format("instances differ: the smallest has {}, the largest {}",
                       counted(size(least), "processor"), size(most)));
    }
    for (const CoreGroup& group : groups_) {
      if (group.instances > group.cores.size()) {
        note(fmt::format("{} of NUMA node {} share {}: fewer instances would have whole ones",
                         counted(group.instances, "instance"), number_list(group.numa_nodes),
                         counted(group.cores.size(), "physical core")));
      }
    }
  }

  void note_instance(const InstancePlan& instance) {
    const auto threads = static_cast<double>(instance.max_threads);
    if (instance.load > threads + 1e-9) {
      note(
          fmt::format("instance {} gets streams that need {:.1f} processors and has {}: frames "
                      "will be late or left out",
                      instance.index, instance.load, instance.max_threads));
    }
    size_t said = 0;
    for (const size_t index : instance.streams) {
      const StreamNeeds& stream = request_.streams[index];
      said += stream.decoder_threads;
      const bool is_far = std::ranges::find_first_of(stream.near_nodes, instance.numa_nodes) ==
                          stream.near_nodes.end();
      if (request_.replicate && !stream.near_nodes.empty() && is_far) {
        note(fmt::format("instance {} on node {} is far from {} on node {}", instance.index,
                         number_list(instance.numa_nodes),
                         stream.near_what.empty() ? "a device" : stream.near_what,
                         number_list(stream.near_nodes)));
      }
    }
    if (said > std::max(instance.max_threads, instance.streams.size())) {
      note(fmt::format("streams of instance {} ask for {} decoder threads together, it has {}",
                       instance.index, said, counted(instance.max_threads, "processor")));
    }
  }

  const PlanRequest& request_;
  std::vector<double> costs_;
  std::vector<PhysicalCore> cores_;
  size_t processors_ = 0;
  std::vector<CoreGroup> groups_;
  std::vector<size_t> group_of_;  ///< of each instance
  LaunchPlan plan_;
};

}  // namespace

Result<LaunchPlan> plan_instances(const PlanRequest& request) {
  if (request.streams.empty()) {
    return error(StatusCode::InvalidArgument, "there are no streams to run");
  }
  HET_ASSIGN(std::vector<double> costs, stream_costs(request.streams));
  HET_ASSIGN(std::vector<PhysicalCore> cores, usable(request));
  return LaunchPlanner(request, std::move(costs), std::move(cores)).run();
}

std::vector<size_t> instance_counts_to_try(const PlanRequest& request) {
  const Result<std::vector<PhysicalCore>> cores = usable(request);
  if (!cores) return {1};
  size_t most = std::min(cores->size(), std::max<size_t>(request.topology.max_threads, 1));
  if (!request.replicate) most = std::min(most, std::max<size_t>(request.streams.size(), 1));
  std::set<size_t> counts = {1};
  for (const size_t first : {size_t{1}, cores_by_node(*cores).size()}) {
    for (size_t count = first; count <= most; count *= 2) counts.insert(count);
  }
  return {counts.begin(), counts.end()};
}

}  // namespace het::serving
