#include "serving/launch/plan/stream_dealing.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <tuple>

#include "serving/launch/plan/number_list.h"

namespace het::serving {
namespace {

constexpr double kMostCost = 1e6;
constexpr size_t kNamesShown = 4;

bool has_node(const StreamRoom& room, size_t node) {
  return std::ranges::find(room.numa_nodes, node) != room.numa_nodes.end();
}

std::vector<size_t> rooms_of_nodes(const std::vector<StreamRoom>& rooms,
                                   const std::vector<size_t>& nodes) {
  std::vector<size_t> found;
  for (size_t i = 0; i < rooms.size(); ++i) {
    if (std::ranges::any_of(nodes, [&](size_t node) { return has_node(rooms[i], node); })) {
      found.push_back(i);
    }
  }
  return found;
}

/// Rooms where a stream may go, and why.
struct Choice {
  std::vector<size_t> rooms;
  std::string reason;
  std::string note;  ///< behind the names of the streams
};

class StreamDealer {
 public:
  StreamDealer(const std::vector<StreamNeeds>& streams, const std::vector<double>& costs,
               const std::vector<StreamRoom>& rooms,
               const std::map<size_t, std::vector<size_t>>& nodes_by_distance)
      : streams_(streams), costs_(costs), rooms_(rooms), nodes_by_distance_(nodes_by_distance) {
    dealing_.rooms.resize(rooms.size());
  }

  Result<Dealing> run() {
    std::vector<size_t> order(streams_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [this](size_t i) {
      const bool is_bound = streams_[i].node || !streams_[i].near_nodes.empty();
      return std::make_tuple(!is_bound, -costs_[i]);
    });
    for (const size_t index : order) HET_TRY(deal(index));
    for (const auto& [note, names] : noted_) {
      dealing_.notes.push_back(some_names(names) + note);
    }
    for (DealtStreams& room : dealing_.rooms) put_in_order(room);
    return std::move(dealing_);
  }

 private:
  Status deal(size_t index) {
    const StreamNeeds& stream = streams_[index];
    HET_ASSIGN(Choice choice, choose(stream));
    if (!choice.note.empty()) noted_[choice.note].push_back(stream.name);
    Status too_many;
    std::vector<size_t> fitting;
    size_t widest = 0;
    for (const size_t room : choice.rooms) {
      const Status fits = check_threads(stream, rooms_[room]);
      if (fits.ok()) fitting.push_back(room);
      if (!fits.ok() && rooms_[room].max_threads > widest) {
        widest = rooms_[room].max_threads;
        too_many = fits;
      }
    }
    if (fitting.empty()) return too_many;
    const size_t best = std::ranges::min(fitting, {}, [&](size_t i) {
      const auto threads = static_cast<double>(rooms_[i].max_threads);
      const DealtStreams& room = dealing_.rooms[i];
      return std::make_tuple((room.load + costs_[index]) / threads,
                             static_cast<double>(room.streams.size()) / threads, i);
    });
    DealtStreams& room = dealing_.rooms[best];
    room.streams.push_back(index);
    room.reasons.push_back(choice.reason);
    room.load += costs_[index];
    return {};
  }

  Result<Choice> choose(const StreamNeeds& stream) const {
    if (stream.node) {
      Choice choice{rooms_of_nodes(rooms_, {*stream.node}), fmt::format("node {}", *stream.node),
                    ""};
      if (!choice.rooms.empty()) return choice;
      std::set<size_t> nodes;
      for (const StreamRoom& room : rooms_) {
        nodes.insert(room.numa_nodes.begin(), room.numa_nodes.end());
      }
      return error(StatusCode::InvalidArgument,
                   "stream '{}' must run on NUMA node {}, of which no processor can be used; there "
                   "are nodes {}: change its 'node' or the processors of the launch",
                   stream.name, *stream.node,
                   number_list(std::vector<size_t>(nodes.begin(), nodes.end())));
    }
    if (!stream.near_nodes.empty()) return choose_near(stream);
    return Choice{all_rooms(), rooms_.size() == 1 ? "the only instance" : "least load", ""};
  }

  Choice choose_near(const StreamNeeds& stream) const {
    const std::string what = stream.near_what.empty() ? "its device" : stream.near_what;
    const std::string place = fmt::format("{} on node {}", what, number_list(stream.near_nodes));
    std::vector<size_t> near = rooms_of_nodes(rooms_, stream.near_nodes);
    if (!near.empty()) return {std::move(near), place, ""};
    for (const size_t node : stream.near_nodes) {
      const auto others = nodes_by_distance_.find(node);
      if (others == nodes_by_distance_.end()) continue;
      for (const size_t other : others->second) {
        near = rooms_of_nodes(rooms_, {other});
        if (near.empty()) continue;
        return {std::move(near), fmt::format("node {} is nearest to {}", other, place),
                fmt::format(": {}, which has no instance; node {} is the nearest", place, other)};
      }
    }
    return {all_rooms(), fmt::format("least load, far from {}", place),
            fmt::format(": {}, which has no instance; frames come from there to any", place)};
  }

  std::vector<size_t> all_rooms() const {
    std::vector<size_t> all(rooms_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return all;
  }

  static void put_in_order(DealtStreams& room) {
    std::vector<std::pair<size_t, std::string>> pairs;
    for (size_t i = 0; i < room.streams.size(); ++i) {
      pairs.emplace_back(room.streams[i], std::move(room.reasons[i]));
    }
    std::ranges::sort(pairs);
    for (size_t i = 0; i < pairs.size(); ++i) {
      room.streams[i] = pairs[i].first;
      room.reasons[i] = std::move(pairs[i].second);
    }
  }

  const std::vector<StreamNeeds>& streams_;
  const std::vector<double>& costs_;
  const std::vector<StreamRoom>& rooms_;
  const std::map<size_t, std::vector<size_t>>& nodes_by_distance_;
  std::map<std::string, std::vector<std::string>> noted_;  ///< names of streams by their note
  Dealing dealing_;
};

}  // namespace

Result<std::vector<double>> stream_costs(const std::vector<StreamNeeds>& streams) {
  double sum = 0;
  size_t known = 0;
  for (const StreamNeeds& stream : streams) {
    if (!stream.cost) continue;
    if (!std::isfinite(*stream.cost) || *stream.cost < 0 || *stream.cost > kMostCost) {
      return error(StatusCode::InvalidArgument,
                   "the cost of stream '{}' is {}; give the number of processors that it keeps "
                   "busy, as 0.8",
                   stream.name, *stream.cost);
    }
    sum += *stream.cost;
    ++known;
  }
  const double mean = known > 0 ? sum / static_cast<double>(known) : 1;
  std::vector<double> costs;
  for (const StreamNeeds& stream : streams) costs.push_back(stream.cost.value_or(mean));
  return costs;
}

Result<Dealing> deal_streams(const std::vector<StreamNeeds>& streams,
                             const std::vector<double>& costs, const std::vector<StreamRoom>& rooms,
                             const std::map<size_t, std::vector<size_t>>& nodes_by_distance) {
  return StreamDealer(streams, costs, rooms, nodes_by_distance).run();
}

Status check_threads(const StreamNeeds& stream, const StreamRoom& room) {
  const bool has_quota = room.max_threads < room.processors;
  const std::string has =
      has_quota ? fmt::format("may run {} at a time by the control groups' quota", room.max_threads)
                : fmt::format("has {} {}", room.processors,
                              room.processors == 1 ? "processor" : "processors");
  if (stream.decoder_threads > room.max_threads) {
    return error(StatusCode::InvalidArgument,
                 "stream '{}' asks for {} decoder threads, its instance {}: take its max-threads "
                 "(or decoder-threads) away, or ask for fewer instances",
                 stream.name, stream.decoder_threads, has);
  }
  if (stream.inference_threads > room.max_threads) {
    return error(StatusCode::InvalidArgument,
                 "stream '{}' asks for INFERENCE_NUM_THREADS={}, its instance {}: take it away, "
                 "each instance gets its share, or ask for fewer instances",
                 stream.name, stream.inference_threads, has);
  }
  return {};
}

std::string some_names(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kNamesShown); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  }
  if (names.size() > kNamesShown) text += fmt::format(" and {} more", names.size() - kNamesShown);
  return text;
}

}  // namespace het::serving
