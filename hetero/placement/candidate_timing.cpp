#include "hetero/placement/candidate_timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "hetero/members/optimal_requests.h"
#include "hetero/members/zero_request.h"
#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMostRequests = 64;
constexpr size_t kLeastRounds = 3;
constexpr size_t kUsualRounds = 5;  ///< where they are short
constexpr size_t kMostRounds = 100;
constexpr double kLeastTurns = 3;  ///< of each way of a mix, in a round
/// Of the median: two standard errors that are little enough.
constexpr double kCertain = 0.005;
/// A median behind the least by this is not looked at any more after the usual rounds.
constexpr double kFarBehind = 1.3;
/// Nor is one whose best sample is behind the least median by this.
constexpr double kHopeless = 1.5;
/// What disturbs makes a time longer, so a single one that is hopeless is enough only where the
/// costs say so too.
constexpr size_t kSurpriseSamples = 2;
/// What the best throughput may lose for less requests.
constexpr double kRequestSlack = 0.01;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Requests of a model that follow each other: the oldest is waited for and begins again, as the
/// frames of a stream, which leave in their order.
class Timing {
 public:
  static Result<Timing> create(const PlanCandidate& candidate, CompiledModel& model, size_t count) {
    Timing timing;
    for (const CandidateWay& way : candidate.ways) {
      timing.least_share_ = std::min(timing.least_share_, way.share);
    }
    for (size_t i = 0; i < count; ++i) {
      HET_ASSIGN(timing.requests_.emplace_back(), zero_request(model));
    }
    return timing;
  }

  Status warm_up() {
    if (requests_.size() == 1) return requests_[0]->infer();
    HET_TRY(fill(requests_.size()));
    return end();
  }

  /// Seconds a request takes or, with several, from one result to the next while the devices are
  /// busy.
  Result<double> run() {
    if (requests_.size() == 1) {
      const auto start = Clock::now();
      HET_TRY(requests_[0]->infer());
      return since(start);
    }
    HET_ASSIGN(const double seconds, run_with(requests_.size()));
    HET_TRY(end());
    return seconds;
  }

  /// The same for fewer requests than there are, then for more and more.
  Result<std::vector<double>> run_with_all(const std::vector<size_t>& counts) {
    std::vector<double> samples;
    for (const size_t count : counts) {
      HET_ASSIGN(samples.emplace_back(), run_with(count));
    }
    HET_TRY(end());
    return samples;
  }

 private:
  /// Until so many are in flight and spread over their way.
  Status fill(size_t count) {
    std::rotate(requests_.begin(), requests_.begin() + static_cast<ptrdiff_t>(oldest_),
                requests_.begin() + static_cast<ptrdiff_t>(running_));
    oldest_ = 0;
    for (; running_ < count; ++running_) HET_TRY(requests_[running_]->start_async());
    return take_results(count);
  }

  /// Results come in bursts, which the mean of more than one round, and of whole rounds of the
  /// ways, has to cover.
  Result<double> run_with(size_t count) {
    HET_TRY(fill(count));
    const double least = static_cast<double>(std::max<size_t>(8, count * 3 / 2));
    // Of the way that comes least often.
    const double turns = std::max(kLeastTurns, std::ceil(least * least_share_));
    const auto results = static_cast<size_t>(std::round(turns / least_share_));
    const auto start = Clock::now();
    HET_TRY(take_results(results));
    return since(start) / static_cast<double>(results);
  }

  Status take_results(size_t results) {
    for (size_t i = 0; i < results; ++i) {
      HET_TRY(requests_[oldest_]->wait());
      HET_TRY(requests_[oldest_]->start_async());
      oldest_ = (oldest_ + 1) % running_;
    }
    return {};
  }

  Status end() {
    for (size_t i = 0; i < running_; ++i) HET_TRY(requests_[i]->wait());
    running_ = oldest_ = 0;
    return {};
  }

  std::vector<std::unique_ptr<InferRequest>> requests_;
  double least_share_ = 1;  ///< of the ways
  size_t running_ = 0;      ///< the first so many, which follow each other in a ring
  size_t oldest_ = 0;       ///< of them
};

/// What a timing gave so far.
class Samples {
 public:
  void add(double seconds) { values_.insert(std::ranges::upper_bound(values_, seconds), seconds); }
  size_t count() const { return values_.size(); }
  double quantile(double share) const {
    return values_[static_cast<size_t>(share * static_cast<double>(count()))];
  }
  double least() const { return values_.front(); }
  double median() const { return quantile(0.5); }
  /// The quartiles' distance over the median.
  double spread() const { return (quantile(0.75) - quantile(0.25)) / median(); }
  /// Whether the median would hardly change: its standard error, were the samples normal
  /// (Kendall and Stuart, "The advanced theory of statistics", vol. 1: 1.253 sigma / sqrt(n), and
  /// sigma is 0.741 times the quartiles' distance).
  bool is_certain() const {
    return 2 * 1.253 * 0.741 * spread() / std::sqrt(static_cast<double>(count())) < kCertain;
  }

 private:
  std::vector<double> values_;  ///< sorted
};

bool is_hopeless(const PlanCandidate& candidate, const Samples& samples, double least) {
  const double most = least * kHopeless;
  const bool was_expected = 1e-3 * candidate.predicted_ms > most;
  return samples.count() >= (was_expected ? 1 : kSurpriseSamples) && samples.least() > most;
}

/// In turn, so that what disturbs disturbs all.
Result<std::vector<Samples>> sample(const std::vector<PlanCandidate*>& candidates,
                                    std::vector<Timing>& timings, double budget_seconds) {
  std::vector<Samples> samples(timings.size());
  for (Timing& timing : timings) HET_TRY(timing.warm_up());
  const auto start = Clock::now();
  double least = std::numeric_limits<double>::infinity();
  for (size_t round = 0; round < kMostRounds; ++round) {
    const bool is_over = since(start) >= budget_seconds;
    if (round >= (is_over ? kLeastRounds : kMostRounds)) break;
    const bool may_end = round >= kUsualRounds;
    bool is_certain = true;
    for (size_t i = 0; i < timings.size(); ++i) {
      if (is_hopeless(*candidates[i], samples[i], least)) continue;
      if (may_end && (samples[i].median() > least * kFarBehind || samples[i].is_certain())) {
        continue;
      }
      is_certain = false;
      HET_ASSIGN(const double seconds, timings[i].run());
      samples[i].add(seconds);
    }
    if (is_certain) break;
    least = std::numeric_limits<double>::infinity();
    for (const Samples& one : samples) least = std::min(least, one.median());
  }
  return samples;
}

}  // namespace

Status time_candidates(Policy policy, const std::vector<PlanCandidate*>& candidates,
                       const PlanFactory& factory, double budget_seconds) {
  if (candidates.size() == 1) return {};
  std::vector<Timing> timings;
  for (const PlanCandidate* candidate : candidates) {
    HET_ASSIGN(const auto model, factory.model_of(mix_of(*candidate)));
    const size_t count =
        policy == Policy::Throughput ? std::min(optimal_requests(*model), kMostRequests) : 1;
    HET_ASSIGN(timings.emplace_back(), Timing::create(*candidate, *model, count));
  }
  HET_ASSIGN(const std::vector<Samples> samples, sample(candidates, timings, budget_seconds));
  for (size_t i = 0; i < candidates.size(); ++i) {
    PlanCandidate& candidate = *candidates[i];
    candidate.measured_ms = 1e3 * samples[i].median();
    const double first_quartile_ms = 1e3 * samples[i].quantile(0.25);
    candidate.undisturbed_ms = candidate.undisturbed_ms == 0
                                   ? first_quartile_ms
                                   : std::min(candidate.undisturbed_ms, first_quartile_ms);
    candidate.most_ms = std::max(candidate.most_ms, candidate.measured_ms);
    candidate.measured_spread = samples[i].spread();
  }
  return {};
}

Result<size_t> measure_requests(const PlanCandidate& candidate, const PlanFactory& factory,
                                double budget_seconds) {
  HET_ASSIGN(const auto model, factory.model_of(mix_of(candidate)));
  const size_t advised = std::min(optimal_requests(*model), kMostRequests);
  std::vector<size_t> counts;
  for (const size_t count : {advised / 2, advised * 3 / 4, advised, advised * 3 / 2, advised * 2}) {
    if (count >= 2 && (counts.empty() || counts.back() < count)) counts.push_back(count);
  }
  if (counts.size() < 2) return advised;
  HET_ASSIGN(Timing timing, Timing::create(candidate, *model, counts.back()));
  std::vector<Samples> samples(counts.size());
  const auto start = Clock::now();
  do {
    HET_ASSIGN(const std::vector<double> seconds, timing.run_with_all(counts));
    for (size_t i = 0; i < counts.size(); ++i) samples[i].add(seconds[i]);
  } while (samples[0].count() < kMostRounds && since(start) < budget_seconds);
  double least = samples[0].median();
  for (const Samples& one : samples) least = std::min(least, one.median());
  size_t found = 0;
  while (samples[found].median() > least * (1 + kRequestSlack)) ++found;
  return counts[found];
}

std::shared_ptr<const PlanMix> mix_of(const PlanCandidate& candidate, std::string explanation) {
  std::vector<PlanWay> ways;
  for (const CandidateWay& way : candidate.ways) ways.push_back({way.compiled, way.share});
  return std::make_shared<PlanMix>(std::move(ways), candidate.requests, std::move(explanation));
}

}  // namespace het::hetero
