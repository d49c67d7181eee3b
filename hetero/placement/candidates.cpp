#include "hetero/placement/candidates.h"

#include <algorithm>

#include "hetero/planner/simulator.h"

namespace het::hetero {

bool is_same_way(const CandidateWay& a, const CandidateWay& b) {
  return a.placement.devices == b.placement.devices &&
         a.placement.split.subgraphs.size() == b.placement.split.subgraphs.size();
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

double usual_bias(const std::vector<PlanCandidate>& candidates, bool is_single) {
  std::vector<double> biases;
  for (const PlanCandidate& candidate : candidates) {
    if (candidate.is_single == is_single) biases.push_back(candidate.bias);
  }
  std::ranges::sort(biases);
  return biases.empty() ? 1.0 : biases[biases.size() / 2];
}

double mix_period(const PlanProblem& problem, const std::vector<PlanShare>& shares) {
  Loads sum;
  for (const PlanShare& part : shares) {
    const Loads one = loads(problem, part.assignment, LinkUse::OnePerPair);
    sum.devices.resize(one.devices.size());
    sum.links.resize(one.links.size());
    for (size_t i = 0; i < one.devices.size(); ++i) sum.devices[i] += part.share * one.devices[i];
    for (size_t i = 0; i < one.links.size(); ++i) sum.links[i] += part.share * one.links[i];
  }
  return std::max(std::ranges::max(sum.devices), std::ranges::max(sum.links));
}

void normalise(std::vector<PlanShare>& shares) {
  double sum = 0;
  for (const PlanShare& part : shares) sum += part.share;
  for (PlanShare& part : shares) part.share /= sum;
}

}  // namespace het::hetero
