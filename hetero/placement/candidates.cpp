#include "hetero/placement/candidates.h"

#include <algorithm>
#include <utility>

namespace het::hetero {
namespace {

/// Of two as fast as each other but for this the one with fewer subgraphs is better: they need
/// memory and threads, and which is a little faster changes from measurement to measurement.
constexpr double kAlike = 0.02;

}  // namespace

bool is_same_way(const CandidateWay& a, const CandidateWay& b) {
  return a.placement.devices == b.placement.devices &&
         a.placement.split.subgraphs.size() == b.placement.split.subgraphs.size();
}

void add_way(std::vector<CandidateWay>& ways, CandidateWay way) {
  const auto same = std::ranges::find_if(
      ways, [&](const CandidateWay& known) { return is_same_way(known, way); });
  if (same == ways.end()) {
    ways.push_back(std::move(way));
  } else {
    same->share += way.share;
  }
}

const PlanCandidate* find_same(const std::vector<PlanCandidate>& candidates,
                               const PlanCandidate& wanted) {
  const auto found = std::ranges::find_if(candidates, [&](const PlanCandidate& candidate) {
    return std::ranges::equal(candidate.ways, wanted.ways, is_same_way);
  });
  return found == candidates.end() ? nullptr : &*found;
}

bool uses_one_device(const PlanCandidate& candidate) {
  if (candidate.ways[0].placement.devices.empty()) return true;
  const size_t first = candidate.ways[0].placement.devices[0];
  return std::ranges::all_of(candidate.ways, [&](const CandidateWay& way) {
    return std::ranges::count(way.placement.devices, first) == std::ssize(way.placement.devices);
  });
}

double milliseconds_of(const PlanCandidate& candidate) {
  return candidate.measured_ms > 0 ? candidate.measured_ms : candidate.predicted_ms;
}

size_t subgraph_count(const PlanCandidate& candidate) {
  size_t count = 0;
  for (const CandidateWay& way : candidate.ways) count += way.placement.split.subgraphs.size();
  return count;
}

size_t best_candidate(const std::vector<PlanCandidate>& candidates, double least_gain) {
  const auto best = [&](bool is_single) {
    size_t found = candidates.size();
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].is_single != is_single) continue;
      if (found == candidates.size() ||
          milliseconds_of(candidates[i]) < milliseconds_of(candidates[found])) {
        found = i;
      }
    }
    const size_t fastest = found;
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (candidates[i].is_single != is_single ||
          milliseconds_of(candidates[i]) > milliseconds_of(candidates[fastest]) * (1.0 + kAlike)) {
        continue;
      }
      if (subgraph_count(candidates[i]) < subgraph_count(candidates[found])) found = i;
    }
    return found;
  };
  const size_t single = best(true);
  const size_t several = best(false);
  if (single == candidates.size()) return several;
  const bool pays =
      several < candidates.size() && milliseconds_of(candidates[several]) * (1.0 + least_gain) <
                                         milliseconds_of(candidates[single]);
  return pays ? several : single;
}

bool is_certainly_better(const PlanCandidate& several, const PlanCandidate& single,
                         double least_gain) {
  return several.most_ms * (1.0 + least_gain) < single.undisturbed_ms;
}

double usual_bias(const std::vector<PlanCandidate>& candidates, bool is_single) {
  std::vector<double> biases;
  for (const PlanCandidate& candidate : candidates) {
    if (candidate.is_single == is_single) biases.push_back(candidate.bias);
  }
  std::ranges::sort(biases);
  return biases.empty() ? 1.0 : biases[biases.size() / 2];
}

void normalise(std::vector<PlanShare>& shares) {
  double sum = 0;
  for (const PlanShare& part : shares) sum += part.share;
  for (PlanShare& part : shares) part.share /= sum;
}

}  // namespace het::hetero
