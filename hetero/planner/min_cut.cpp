#include "hetero/planner/min_cut.h"

#include <algorithm>
#include <bit>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace het::hetero {
namespace {

constexpr size_t kSource = 0;  // the side of units on the second device
constexpr size_t kSink = 1;    // the side of units on the first device

struct Arc {
  size_t from, to;
  double forward,
      backward;  // seconds when `from` is on the source's side and `to` is not, reversed
};

/// The cut's graph, still in seconds. Terminals' arcs are kept apart, by vertex.
class CutGraph {
 public:
  CutGraph() : on_source_(2, 0.0), on_sink_(2, 0.0) {}

  size_t vertex() {
    on_source_.push_back(0);
    on_sink_.push_back(0);
    return on_source_.size() - 1;
  }
  /// Seconds when the vertex is on the source's side, and when it is on the sink's.
  void add_sides(size_t vertex, double on_source, double on_sink) {
    on_source_[vertex] += on_source;
    on_sink_[vertex] += on_sink;
  }
  void add_arc(size_t from, size_t to, double forward, double backward) {
    if (forward > 0 || backward > 0) arcs_.push_back({from, to, forward, backward});
  }
  /// True for every vertex on the source's side of the minimum cut with the fewest there.
  std::vector<bool> source_side() const;

 private:
  std::vector<double> on_source_;
  std::vector<double> on_sink_;
  std::vector<Arc> arcs_;
};

/// All arcs of a vertex lie side by side; an arc's number is its place among them.
struct FlowArc {
  int64_t capacity = 0;
  int64_t residual = 0;
};
using FlowGraph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, FlowArc>;
using FlowArcName = boost::graph_traits<FlowGraph>::edge_descriptor;

std::vector<bool> CutGraph::source_side() const {
  // 1. Seconds become whole numbers: a flow of those ends, and what is saturated is exactly zero.
  // An impossible arc has more than all others together, and no sum of them overflows.
  double total = 0;
  const auto count = [&](double seconds) { total += seconds < kImpossible ? seconds : 0; };
  for (const Arc& arc : arcs_) count(arc.forward), count(arc.backward);
  for (const double seconds : on_source_) count(seconds);
  for (const double seconds : on_sink_) count(seconds);
  const int bits = 61 - std::bit_width(on_source_.size() + arcs_.size());
  const auto impossible = int64_t{1} << bits;
  const double scale = total > 0 ? std::ldexp(1.0, bits - 1) / total : 0.0;
  const auto whole = [&](double seconds) {
    return seconds < kImpossible ? static_cast<int64_t>(std::llround(seconds * scale)) : impossible;
  };
  // 2. Every arc and its reverse, twins that lie side by side.
  std::vector<std::pair<size_t, size_t>> ends;
  std::vector<int64_t> capacities;
  const auto add = [&](size_t from, size_t to, int64_t forward, int64_t backward) {
    ends.emplace_back(from, to);
    ends.emplace_back(to, from);
    capacities.push_back(forward);
    capacities.push_back(backward);
  };
  for (size_t v = 2; v < on_source_.size(); ++v) {
    const int64_t source = whole(on_sink_[v]);
    const int64_t sink = whole(on_source_[v]);
    const int64_t both = std::min(source, sink);
    if (source > both) add(kSource, v, source - both, 0);
    if (sink > both) add(v, kSink, sink - both, 0);
  }
  for (const Arc& arc : arcs_) add(arc.from, arc.to, whole(arc.forward), whole(arc.backward));
  // 3. Sorted by where they begin.
  const size_t vertices = on_source_.size();
  std::vector<size_t> next(vertices + 1, 0);
  for (const auto& [from, to] : ends) ++next[from + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<size_t> position(ends.size());
  std::vector<std::pair<size_t, size_t>> sorted(ends.size());
  for (size_t i = 0; i < ends.size(); ++i) {
    position[i] = next[ends[i].first]++;
    sorted[position[i]] = ends[i];
  }
  FlowGraph graph(boost::edges_are_sorted, sorted.begin(), sorted.end(), vertices);
  std::vector<FlowArcName> reverse(ends.size());
  for (size_t i = 0; i < ends.size(); ++i) {
    const FlowArcName name(ends[i].first, position[i]);
    graph[name].capacity = capacities[i];
    reverse[position[i ^ 1]] = name;
  }
  // 4. The maximum flow leaves the source's tree: what can still be reached from it.
  std::vector<boost::default_color_type> colors(vertices);
  std::vector<FlowArcName> predecessors(vertices);
  std::vector<long> distances(vertices);
  const auto numbers = boost::get(boost::vertex_index, graph);
  const auto arc_numbers = boost::get(boost::edge_index, graph);
  boost::boykov_kolmogorov_max_flow(
      graph, boost::get(&FlowArc::capacity, graph), boost::get(&FlowArc::residual, graph),
      boost::make_iterator_property_map(reverse.begin(), arc_numbers),
      boost::make_iterator_property_map(predecessors.begin(), numbers),
      boost::make_iterator_property_map(colors.begin(), numbers),
      boost::make_iterator_property_map(distances.begin(), numbers), numbers, kSource, kSink);
  std::vector<bool> side(vertices);
  for (size_t v = 0; v < vertices; ++v) side[v] = colors[v] == boost::black_color;
  return side;
}

/// Builds the graph of a move between two devices.
class PairMove {
 public:
  PairMove(const PlanProblem& problem, const Assignment& assignment, size_t first, size_t second)
      : problem_(problem), assignment_(assignment), first_(first), second_(second) {}

  Assignment best() {
    for (size_t unit = 0; unit < assignment_.size(); ++unit) {
      if (!is_free(unit)) {
        vertices_.push_back(kSource);
        continue;
      }
      const std::vector<double>& seconds = problem_.units[unit].seconds;
      vertices_.push_back(graph_.vertex());
      graph_.add_sides(vertices_.back(), seconds[second_], seconds[first_]);
    }
    for (const PlanTensor& tensor : problem_.tensors) add_tensor(tensor);
    const std::vector<bool> is_second = graph_.source_side();
    Assignment moved = assignment_;
    for (size_t unit = 0; unit < moved.size(); ++unit) {
      if (is_free(unit)) moved[unit] = is_second[vertices_[unit]] ? second_ : first_;
    }
    return moved;
  }

 private:
  bool is_free(size_t unit) const {
    return assignment_[unit] == first_ || assignment_[unit] == second_;
  }
  void add_tensor(const PlanTensor& tensor);

  const PlanProblem& problem_;
  const Assignment& assignment_;
  size_t first_;
  size_t second_;
  CutGraph graph_;
  std::vector<size_t> vertices_;   // of units
  std::vector<size_t> consumers_;  // vertices of the current tensor's free consumers
};

void PairMove::add_tensor(const PlanTensor& tensor) {
  const auto seconds = [&](size_t from, size_t to) {
    return tensor.transfer_seconds[from * problem_.places() + to];
  };
  // Places where it is needed whatever is chosen, and consumers that choose.
  std::vector<bool> is_needed(problem_.places(), false);
  consumers_.clear();
  if (tensor.leaves) is_needed[problem_.home] = true;
  for (const size_t consumer : tensor.consumers) {
    if (is_free(consumer)) {
      consumers_.push_back(vertices_[consumer]);
    } else {
      is_needed[assignment_[consumer]] = true;
    }
  }
  std::ranges::sort(consumers_);
  const auto repeated = std::ranges::unique(consumers_);
  consumers_.erase(repeated.begin(), repeated.end());
  const bool to_first = !consumers_.empty() && !is_needed[first_];
  const bool to_second = !consumers_.empty() && !is_needed[second_];
  const bool chooses = tensor.producer != kOutside && is_free(tensor.producer);
  if (!chooses) {
    // An auxiliary vertex per place: it goes where any consumer is, and pays the copy once.
    const size_t from = source_place(problem_, tensor, assignment_);
    if (to_first) {
      const size_t copy = consumers_.size() == 1 ? consumers_[0] : graph_.vertex();
      graph_.add_sides(copy, 0, seconds(from, first_));
      for (const size_t c : consumers_) {
        if (c != copy) graph_.add_arc(copy, c, kImpossible, 0);
      }
    }
    if (to_second) {
      const size_t copy = consumers_.size() == 1 ? consumers_[0] : graph_.vertex();
      graph_.add_sides(copy, seconds(from, second_), 0);
      for (const size_t c : consumers_) {
        if (c != copy) graph_.add_arc(c, copy, kImpossible, 0);
      }
    }
    return;
  }
  const size_t producer = vertices_[tensor.producer];
  for (size_t place = 0; place < is_needed.size(); ++place) {
    if (is_needed[place])
      graph_.add_sides(producer, seconds(second_, place), seconds(first_, place));
  }
  if (consumers_.size() == 1) {
    graph_.add_arc(producer, consumers_[0], to_first ? seconds(second_, first_) : 0,
                   to_second ? seconds(first_, second_) : 0);
    return;
  }
  if (to_first) {
    const size_t copy = graph_.vertex();
    graph_.add_arc(producer, copy, seconds(second_, first_), 0);
    for (const size_t c : consumers_) graph_.add_arc(copy, c, kImpossible, 0);
  }
  if (to_second) {
    const size_t copy = graph_.vertex();
    graph_.add_arc(copy, producer, seconds(first_, second_), 0);
    for (const size_t c : consumers_) graph_.add_arc(c, copy, kImpossible, 0);
  }
}

}  // namespace

Assignment best_pair_move(const PlanProblem& problem, const Assignment& assignment, size_t first,
                          size_t second) {
  return PairMove(problem, assignment, first, second).best();
}

Assignment min_cut(const PlanProblem& problem) {
  Assignment assignment = best_pair_move(problem, Assignment(problem.units.size(), 0), 0, 1);
  if (latency(problem, assignment) == kImpossible) assignment.clear();
  return assignment;
}

}  // namespace het::hetero
