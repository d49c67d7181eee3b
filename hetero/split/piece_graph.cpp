#include "hetero/split/piece_graph.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

namespace het::hetero {
namespace {

/// Steps of all merges together: this many for every piece and edge, and some for small graphs.
constexpr size_t kStepsPerPiece = 1024;
constexpr size_t kMinSteps = 1'000'000;

/// Appends the shorter list to the longer one.
void join(std::vector<size_t>& into, std::vector<size_t>& from) {
  if (into.size() < from.size()) into.swap(from);
  into.insert(into.end(), from.begin(), from.end());
  from = {};
}

}  // namespace

PieceGraph::PieceGraph(size_t count)
    : parents_(count),
      ranks_(count),
      successors_(count),
      predecessors_(count),
      visited_(count),
      steps_left_(kMinSteps + kStepsPerPiece * count) {
  std::iota(parents_.begin(), parents_.end(), size_t{0});
  std::iota(ranks_.begin(), ranks_.end(), size_t{0});
}

void PieceGraph::add_edge(size_t from, size_t to) {
  successors_[from].push_back(to);
  predecessors_[to].push_back(from);
  steps_left_ += kStepsPerPiece;
}

size_t PieceGraph::find(size_t piece) const {
  while (parents_[piece] != piece) {
    parents_[piece] = parents_[parents_[piece]];
    piece = parents_[piece];
  }
  return piece;
}

bool PieceGraph::is_first_visit(size_t piece) const {
  return std::exchange(visited_[piece], visit_) != visit_;
}

std::vector<size_t> PieceGraph::successors(size_t piece) const {
  begin_visits();
  std::vector<size_t> result;
  for (const size_t part : successors_[piece]) {
    const size_t other = find(part);
    if (other != piece && is_first_visit(other)) result.push_back(other);
  }
  return result;
}

bool PieceGraph::search(size_t start, size_t end, Direction direction, std::vector<size_t>& found) {
  const auto is_beyond = [&](size_t piece) {
    return direction == Direction::Forward ? ranks_[piece] > ranks_[end]
                                           : ranks_[piece] < ranks_[end];
  };
  begin_visits();
  is_first_visit(start);
  std::vector<size_t> pending{start};
  while (!pending.empty()) {
    const size_t piece = pending.back();
    pending.pop_back();
    const std::vector<size_t>& list = edges(piece, direction);
    if (list.size() > steps_left_) {
      steps_left_ = 0;
      return false;
    }
    steps_left_ -= list.size();
    for (const size_t part : list) {
      const size_t other = find(part);
      if (other == end) {
        if (piece != start) return false;
      } else if (!is_beyond(other) && is_first_visit(other)) {
        found.push_back(other);
        pending.push_back(other);
      }
    }
  }
  return true;
}

bool PieceGraph::merge(size_t a, size_t b) {
  a = find(a);
  b = find(b);
  if (a == b) return true;
  if (ranks_[a] > ranks_[b]) std::swap(a, b);
  // One side tells whether there is a path: the one with fewer edges.
  const bool is_forward_first = successors_[a].size() <= predecessors_[b].size();
  std::vector<size_t> behind_a;
  std::vector<size_t> before_b;
  if (is_forward_first) {
    if (!search(a, b, Direction::Forward, behind_a)) return false;
    if (behind_a.empty()) {
      ranks_[a] = ranks_[b];  // nothing in between needs a
    } else {
      if (!search(b, a, Direction::Backward, before_b)) return false;
      reorder(a, b, std::move(before_b), std::move(behind_a));
    }
  } else {
    if (!search(b, a, Direction::Backward, before_b)) return false;
    if (!before_b.empty()) {  // otherwise the place of a is good for both
      if (!search(a, b, Direction::Forward, behind_a)) return false;
      reorder(a, b, std::move(before_b), std::move(behind_a));
    }
  }
  parents_[b] = a;
  join(successors_[a], successors_[b]);
  join(predecessors_[a], predecessors_[b]);
  return true;
}

void PieceGraph::reorder(size_t a, size_t b, std::vector<size_t> before_b,
                         std::vector<size_t> behind_a) {
  const auto by_rank = [&](size_t x, size_t y) { return ranks_[x] < ranks_[y]; };
  std::sort(before_b.begin(), before_b.end(), by_rank);
  std::sort(behind_a.begin(), behind_a.end(), by_rank);
  std::vector<size_t> ranks{ranks_[a], ranks_[b]};
  for (const auto* list : {&before_b, &behind_a}) {
    std::transform(list->begin(), list->end(), std::back_inserter(ranks),
                   [&](size_t piece) { return ranks_[piece]; });
  }
  std::sort(ranks.begin(), ranks.end());
  auto rank = ranks.begin();
  for (const size_t piece : before_b) ranks_[piece] = *rank++;
  ranks_[a] = *rank++;
  ++rank;
  for (const size_t piece : behind_a) ranks_[piece] = *rank++;
}

}  // namespace het::hetero
