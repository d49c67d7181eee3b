#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace het::hetero {

/// An acyclic graph whose vertices ("pieces") can be merged as long as it stays acyclic. It keeps a
/// topological order, so that a merge only looks at pieces that lie between the two in that order
/// (the method of Pearce and Kelly, "A dynamic topological sort algorithm for directed acyclic
/// graphs", 2006). A merged piece has the number of either part; find() tells which.
/// Thread-compatible.
class PieceGraph {
 public:
  /// Pieces 0 to `count` - 1. Edges may only be added before the first merge and from a lower to a
  /// higher number.
  explicit PieceGraph(size_t count);
  void add_edge(size_t from, size_t to);

  /// The piece that `piece` is a part of by now.
  size_t find(size_t piece) const;
  /// Place in the topological order; grows along every edge. For results of find().
  size_t rank(size_t piece) const { return ranks_[piece]; }
  /// Pieces that read from this one, for results of find(); without repetitions or order.
  std::vector<size_t> successors(size_t piece) const;

  /// Makes two pieces one. False, and nothing changes, when a path through other pieces leads from
  /// one to the other, or when the steps that all merges together may take are used up (in
  /// proportion to the graph's size, so that hostile graphs cost quality and not time).
  bool merge(size_t a, size_t b);

 private:
  enum class Direction { Forward, Backward };

  /// Pieces between `start` and `end` in the order that are reached from `start`, whose direct edge
  /// to `end` does not count; false when `end` is one of them.
  bool search(size_t start, size_t end, Direction direction, std::vector<size_t>& found);
  /// Puts what b needs first, then `a` (merged with `b`), then what needs a; on the ranks that they
  /// had together.
  void reorder(size_t a, size_t b, std::vector<size_t> before_b, std::vector<size_t> behind_a);
  const std::vector<size_t>& edges(size_t piece, Direction direction) const {
    return direction == Direction::Forward ? successors_[piece] : predecessors_[piece];
  }
  bool is_first_visit(size_t piece) const;
  void begin_visits() const { ++visit_; }

  mutable std::vector<size_t> parents_;  ///< find() shortens the paths
  std::vector<size_t> ranks_;
  // Entries may name parts of merged pieces.
  std::vector<std::vector<size_t>> successors_;
  std::vector<std::vector<size_t>> predecessors_;
  mutable std::vector<uint64_t> visited_;
  mutable uint64_t visit_ = 0;
  size_t steps_left_;
};

}  // namespace het::hetero
