#include "hetero/placement/candidate_timing.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <utility>

#include "hetero/members/optimal_requests.h"
#include "hetero/members/zero_request.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostRequests = 64;
constexpr int kLeastRounds = 3;
constexpr int kMostRounds = 25;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One way to run a compiled model that a policy is about.
class Timing {
 public:
  static Result<Timing> create(Policy policy, CompiledModel& model) {
    Timing timing;
    const size_t count =
        policy == Policy::Throughput ? std::min(optimal_requests(model), kMostRequests) : 1;
    for (size_t i = 0; i < count; ++i) {
      HET_ASSIGN(timing.requests_.emplace_back(), zero_request(model));
    }
    return timing;
  }

  /// Seconds a request takes or, with several in flight, from one result to the next while the
  /// devices are busy.
  Result<double> run() {
    if (requests_.size() == 1) {
      const auto start = Clock::now();
      HET_TRY(requests_[0]->infer());
      return since(start);
    }
    for (const auto& request : requests_) HET_TRY(request->start_async());
    HET_TRY(next_results());
    constexpr size_t kTimes = 2;
    const auto start = Clock::now();
    for (size_t i = 0; i < kTimes; ++i) HET_TRY(next_results());
    const double seconds = since(start);
    for (const auto& request : requests_) HET_TRY(request->wait());
    return seconds / static_cast<double>(kTimes * requests_.size());
  }

 private:
  /// Every request ends once and begins again.
  Status next_results() {
    for (const auto& request : requests_) {
      HET_TRY(request->wait());
      HET_TRY(request->start_async());
    }
    return {};
  }

  std::vector<std::unique_ptr<InferRequest>> requests_;
};

}  // namespace

Status time_candidates(Policy policy, std::vector<PlanCandidate>& candidates,
                       const PlanFactory& factory, double budget_seconds) {
  if (candidates.size() == 1) return {};
  std::vector<Timing> timings;
  for (const PlanCandidate& candidate : candidates) {
    HET_ASSIGN(const auto model, factory.model_of(mix_of(candidate)));
    HET_ASSIGN(Timing timing, Timing::create(policy, *model));
    HET_ASSIGN(const double first, timing.run());
    (void)first;  // warms up
    timings.push_back(std::move(timing));
  }
  std::vector<std::vector<double>> samples(candidates.size());
  const auto start = Clock::now();
  for (int round = 0;
       round < kLeastRounds || (round < kMostRounds && since(start) < budget_seconds); ++round) {
    for (size_t i = 0; i < timings.size(); ++i) {
      HET_ASSIGN(const double seconds, timings[i].run());
      samples[i].push_back(seconds);
    }
  }
  for (size_t i = 0; i < candidates.size(); ++i) {
    std::ranges::sort(samples[i]);
    const size_t count = samples[i].size();
    candidates[i].measured_ms = 1e3 * samples[i][count / 2];
    candidates[i].measured_spread =
        (samples[i][count * 3 / 4] - samples[i][count / 4]) / samples[i][count / 2];
  }
  return {};
}

std::shared_ptr<const PlanMix> mix_of(const PlanCandidate& candidate, std::string explanation) {
  std::vector<PlanWay> ways;
  for (const CandidateWay& way : candidate.ways) ways.push_back({way.compiled, way.share});
  return std::make_shared<PlanMix>(std::move(ways), candidate.requests, std::move(explanation));
}

}  // namespace het::hetero
