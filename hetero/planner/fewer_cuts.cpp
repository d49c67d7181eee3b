#include "hetero/planner/fewer_cuts.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace het::hetero {
namespace {

/// Connected units of a device, and the devices of their neighbours.
struct Piece {
  std::vector<size_t> units;
  std::set<size_t> neighbours;
  double seconds = 0;
};

/// Pieces by their seconds.
std::vector<Piece> find_pieces(const PlanProblem& problem, const Assignment& assignment) {
  std::vector<size_t> parent(assignment.size());
  std::iota(parent.begin(), parent.end(), size_t{0});
  const auto find = [&](size_t unit) {
    while (parent[unit] != unit) unit = parent[unit] = parent[parent[unit]];
    return unit;
  };
  const auto for_each_edge = [&](const auto& visit) {
    for (const PlanTensor& tensor : problem.tensors) {
      if (tensor.producer == kOutside) continue;
      for (const size_t consumer : tensor.consumers) visit(tensor.producer, consumer);
    }
  };
  for_each_edge([&](size_t a, size_t b) {
    if (assignment[a] == assignment[b]) parent[find(a)] = find(b);
  });
  std::vector<Piece> pieces(assignment.size());
  for (size_t unit = 0; unit < assignment.size(); ++unit) {
    Piece& piece = pieces[find(unit)];
    piece.units.push_back(unit);
    piece.seconds += problem.units[unit].seconds[assignment[unit]];
  }
  for_each_edge([&](size_t a, size_t b) {
    if (assignment[a] == assignment[b]) return;
    pieces[find(a)].neighbours.insert(assignment[b]);
    pieces[find(b)].neighbours.insert(assignment[a]);
  });
  std::erase_if(pieces, [](const Piece& piece) { return piece.units.empty(); });
  std::ranges::stable_sort(pieces, {}, &Piece::seconds);
  return pieces;
}

}  // namespace

size_t count_transfers(const PlanProblem& problem, const Assignment& assignment) {
  size_t count = 0;
  for (const PlanTensor& tensor : problem.tensors) {
    const size_t from = tensor.producer == kOutside ? problem.home : assignment[tensor.producer];
    std::vector<bool> has(problem.places());
    has[from] = true;
    const auto send = [&](size_t to) {
      if (!has[to]) ++count;
      has[to] = true;
    };
    for (const size_t consumer : tensor.consumers) send(assignment[consumer]);
    if (tensor.leaves) send(problem.home);
  }
  return count;
}

Assignment with_fewer_cuts(const PlanProblem& problem, const Assignment& assignment, LinkUse links,
                           double slack) {
  const double limit = period(problem, assignment, links) * (1 + slack);
  Assignment best = assignment;
  size_t transfers = count_transfers(problem, best);
  const auto moves = [&](const Piece& piece, size_t device) {
    Assignment moved = best;
    for (const size_t unit : piece.units) {
      if (problem.units[unit].seconds[device] == kImpossible) return false;
      moved[unit] = device;
    }
    const size_t count = count_transfers(problem, moved);
    if (count >= transfers || !(period(problem, moved, links) <= limit)) return false;
    best = std::move(moved);
    transfers = count;
    return true;
  };
  // Every move leaves fewer transfers, so this ends.
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (const Piece& piece : find_pieces(problem, best)) {
      has_moved = std::ranges::any_of(piece.neighbours,
                                      [&](size_t device) { return moves(piece, device); });
      if (has_moved) break;
    }
  }
  return best;
}

}  // namespace het::hetero
