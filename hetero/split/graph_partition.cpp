#include "hetero/split/graph_partition.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <queue>

#include "hetero/split/piece_graph.h"

namespace het::hetero {
namespace {

using Lists = std::vector<std::vector<size_t>>;

constexpr size_t kNone = std::numeric_limits<size_t>::max();
/// A reader of a model input or constant is tried with this many parts that read it too.
constexpr size_t kMaxTriesPerReader = 4;

/// Nodes that cannot be apart: single ones, and all that lie between tied ones. In topological
/// order, with devices; `sources` name units.
struct Units {
  std::vector<size_t> unit_of;  ///< per node
  std::vector<size_t> devices;
  Lists sources;
};

/// Strongly connected components by Tarjan's algorithm, without recursion. Components are numbered
/// against the direction of edges.
std::vector<size_t> find_components(const Lists& successors) {
  const size_t count = successors.size();
  std::vector<size_t> component(count, kNone);
  std::vector<size_t> index(count, kNone);
  std::vector<size_t> low(count);
  std::vector<size_t> open;
  std::vector<std::pair<size_t, size_t>> calls;  // a node and which successor comes next
  size_t indices = 0;
  size_t components = 0;
  for (size_t root = 0; root < count; ++root) {
    if (index[root] != kNone) continue;
    calls.emplace_back(root, 0);
    while (!calls.empty()) {
      auto& [node, next] = calls.back();
      if (next == 0) {
        index[node] = low[node] = indices++;
        open.push_back(node);
      }
      if (next < successors[node].size()) {
        const size_t other = successors[node][next++];
        if (index[other] == kNone) {
          calls.emplace_back(other, 0);
        } else if (component[other] == kNone) {
          low[node] = std::min(low[node], index[other]);
        }
        continue;
      }
      if (low[node] == index[node]) {
        size_t member = kNone;
        do {
          member = open.back();
          open.pop_back();
          component[member] = components;
        } while (member != node);
        ++components;
      }
      const size_t done = node;
      calls.pop_back();
      if (!calls.empty()) low[calls.back().first] = std::min(low[calls.back().first], low[done]);
    }
  }
  return component;
}

/// Pass 1. A tie is a ring of edges among its nodes; what is strongly connected then is a unit.
std::optional<TieConflict> make_units(const DeviceGraph& graph, Units& units) {
  const size_t count = graph.devices.size();
  if (graph.ties.empty()) {
    units.unit_of.resize(count);
    std::iota(units.unit_of.begin(), units.unit_of.end(), size_t{0});
    units.devices = graph.devices;
    units.sources = graph.sources;
    return std::nullopt;
  }
  Lists successors(count);
  for (size_t node = 0; node < count; ++node) {
    for (const size_t source : graph.sources[node]) successors[source].push_back(node);
  }
  for (const std::vector<size_t>& tie : graph.ties) {
    for (size_t i = 0; i < tie.size(); ++i) {
      successors[tie[i]].push_back(tie[(i + 1) % tie.size()]);
    }
  }
  units.unit_of = find_components(successors);
  const size_t unit_count = count == 0 ? 0 : 1 + std::ranges::max(units.unit_of);
  for (size_t& unit : units.unit_of) unit = unit_count - 1 - unit;
  units.sources.resize(unit_count);
  units.devices.assign(unit_count, kNone);
  for (size_t node = 0; node < count; ++node) {
    const size_t unit = units.unit_of[node];
    if (units.devices[unit] == kNone) units.devices[unit] = graph.devices[node];
    for (const size_t source : graph.sources[node]) {
      if (units.unit_of[source] != unit) units.sources[unit].push_back(units.unit_of[source]);
    }
  }
  for (size_t tie = 0; tie < graph.ties.size(); ++tie) {
    const size_t first = graph.ties[tie].front();
    for (size_t node = 0; node < count; ++node) {
      const bool is_other = graph.devices[node] != graph.devices[first];
      if (is_other && units.unit_of[node] == units.unit_of[first]) {
        return TieConflict{tie, first, node};
      }
    }
  }
  return std::nullopt;
}

/// Pass 2. The number of device changes on the longest way to a unit.
std::vector<size_t> find_levels(const Units& units) {
  std::vector<size_t> levels(units.devices.size());
  for (size_t unit = 0; unit < levels.size(); ++unit) {
    for (const size_t source : units.sources[unit]) {
      const size_t change = units.devices[source] != units.devices[unit] ? 1 : 0;
      levels[unit] = std::max(levels[unit], levels[source] + change);
    }
  }
  return levels;
}

/// Pass 3. Pieces: what is connected within one device and level. An edge between two pieces always
/// goes to a higher level, so numbers by level are a topological order.
std::vector<size_t> find_pieces(const Units& units, const std::vector<size_t>& levels) {
  std::vector<size_t> parents(levels.size());
  std::iota(parents.begin(), parents.end(), size_t{0});
  const auto find = [&](size_t unit) {
    while (parents[unit] != unit) unit = parents[unit] = parents[parents[unit]];
    return unit;
  };
  for (size_t unit = 0; unit < levels.size(); ++unit) {
    for (const size_t source : units.sources[unit]) {
      if (units.devices[source] != units.devices[unit] || levels[source] != levels[unit]) continue;
      // The lowest unit stands for the piece.
      const auto [low, high] = std::minmax({find(source), find(unit)});
      parents[high] = low;
    }
  }
  std::vector<size_t> roots;
  for (size_t unit = 0; unit < levels.size(); ++unit) {
    if (parents[unit] == unit) roots.push_back(unit);
  }
  std::ranges::stable_sort(roots, std::less<>(), [&](size_t unit) { return levels[unit]; });
  std::vector<size_t> piece_of(levels.size());
  for (size_t piece = 0; piece < roots.size(); ++piece) piece_of[roots[piece]] = piece;
  for (size_t unit = 0; unit < levels.size(); ++unit) piece_of[unit] = piece_of[find(unit)];
  return piece_of;
}

/// Pass 4. A piece and one that reads from it become one unless a path leaves the first and comes
/// back in the second. Near ones are tried before far ones: a path through pieces of the same
/// device is then gone, and one through another device stays whatever is merged.
void merge_neighbours(PieceGraph& pieces, const std::vector<size_t>& devices) {
  std::vector<bool> is_done(devices.size());
  using Candidate = std::pair<size_t, size_t>;  // rank, piece
  for (size_t start = 0; start < devices.size(); ++start) {
    if (is_done[pieces.find(start)]) continue;
    std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> candidates;
    const auto add_candidates = [&](size_t piece) {
      for (const size_t next : pieces.successors(piece)) {
        if (devices[next] == devices[start]) candidates.emplace(pieces.rank(next), next);
      }
    };
    add_candidates(pieces.find(start));
    while (!candidates.empty()) {
      const size_t piece = pieces.find(start);
      const size_t next = pieces.find(candidates.top().second);
      candidates.pop();
      if (next == piece) continue;
      const std::vector<size_t> successors = pieces.successors(next);
      if (!pieces.merge(piece, next)) continue;
      for (const size_t more : successors) {
        if (devices[more] == devices[start]) candidates.emplace(pieces.rank(more), more);
      }
    }
    is_done[pieces.find(start)] = true;
  }
}

/// Pass 5. The same for pieces that read a model input or a constant together.
void merge_readers(PieceGraph& pieces, const std::vector<size_t>& devices,
                   const std::vector<size_t>& piece_of_node, const Lists& readers) {
  for (const std::vector<size_t>& nodes : readers) {
    std::vector<size_t> together;
    for (const size_t node : nodes) together.push_back(pieces.find(piece_of_node[node]));
    std::ranges::sort(together, std::less<>(), [&](size_t p) { return pieces.rank(p); });
    together.erase(std::ranges::unique(together).begin(), together.end());
    for (size_t i = 1; i < together.size(); ++i) {
      size_t tries = 0;
      for (size_t k = i; k-- > 0 && tries < kMaxTriesPerReader;) {
        if (devices[together[k]] != devices[together[i]]) continue;
        ++tries;
        if (pieces.find(together[k]) == pieces.find(together[i])) break;
        if (pieces.merge(together[k], together[i])) break;
      }
    }
  }
}

/// Pass 6. Numbers parts in an order in which they can run: of those that are ready, the one whose
/// first node comes first.
Partition number_parts(const DeviceGraph& graph, const std::vector<size_t>& piece_of_node) {
  const size_t count = graph.devices.size();
  Partition partition;
  std::vector<size_t> part_of_piece(count, kNone);
  std::vector<size_t> parts(count);  // by their first nodes for now
  for (size_t node = 0; node < count; ++node) {
    size_t& part = part_of_piece[piece_of_node[node]];
    if (part == kNone) part = partition.part_count++;
    parts[node] = part;
  }
  Lists successors(partition.part_count);
  std::vector<size_t> waiting(partition.part_count);
  for (size_t node = 0; node < count; ++node) {
    for (const size_t source : graph.sources[node]) {
      if (parts[source] == parts[node]) continue;
      successors[parts[source]].push_back(parts[node]);
      ++waiting[parts[node]];
    }
  }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t part = 0; part < partition.part_count; ++part) {
    if (waiting[part] == 0) ready.push(part);
  }
  std::vector<size_t> number(partition.part_count);
  for (size_t i = 0; !ready.empty(); ++i) {
    const size_t part = ready.top();
    ready.pop();
    number[part] = i;
    for (const size_t next : successors[part]) {
      if (--waiting[next] == 0) ready.push(next);
    }
  }
  for (const size_t part : parts) partition.part_of.push_back(number[part]);
  return partition;
}

}  // namespace

Partition partition_graph(const DeviceGraph& graph) {
  Units units;
  if (const auto conflict = make_units(graph, units)) return {{}, 0, conflict};
  const std::vector<size_t> piece_of_unit = find_pieces(units, find_levels(units));
  const size_t piece_count = piece_of_unit.empty() ? 0 : 1 + std::ranges::max(piece_of_unit);
  PieceGraph pieces(piece_count);
  std::vector<size_t> devices(piece_count);
  for (size_t unit = 0; unit < piece_of_unit.size(); ++unit) {
    devices[piece_of_unit[unit]] = units.devices[unit];
    for (const size_t source : units.sources[unit]) {
      const size_t from = piece_of_unit[source];
      if (from != piece_of_unit[unit]) pieces.add_edge(from, piece_of_unit[unit]);
    }
  }
  std::vector<size_t> piece_of_node;
  for (const size_t unit : units.unit_of) piece_of_node.push_back(piece_of_unit[unit]);
  merge_neighbours(pieces, devices);
  merge_readers(pieces, devices, piece_of_node, graph.readers);
  for (size_t& piece : piece_of_node) piece = pieces.find(piece);
  return number_parts(graph, piece_of_node);
}

}  // namespace het::hetero
