#include "hetero/execution/plan_times.h"

#include <algorithm>
#include <utility>

namespace het::hetero {
namespace {

/// Enough to be settled by; the first execution of a request takes longer.
constexpr size_t kLeastSettled = 3;

/// The value that this part of the first `count` is below.
PlanTimes::Duration quantile(std::array<PlanTimes::Duration, PlanTimes::kSamples> times,
                             size_t count, size_t quarters) {
  const auto place = times.begin() + static_cast<ptrdiff_t>(count * quarters / 4);
  std::nth_element(times.begin(), place, times.begin() + static_cast<ptrdiff_t>(count));
  return std::max(*place, PlanTimes::Duration(1));
}

PlanTimes::Duration median_of(const std::array<PlanTimes::Duration, PlanTimes::kSamples>& times,
                              size_t count) {
  return quantile(times, count, 2);
}

}  // namespace

DeviceLoads::Count DeviceLoads::count(const std::string& device) {
  std::lock_guard lock(mutex_);
  Count& count = counts_[device];
  if (count == nullptr) count = std::make_shared<std::atomic<size_t>>(0);
  return count;
}

PlanTimes::PlanTimes(std::vector<DeviceLoads::Count> loads) {
  for (DeviceLoads::Count& load : loads) subgraphs_.push_back({std::move(load), {}});
}

PlanTimes::Run PlanTimes::begin(size_t subgraph) {
  const size_t others = subgraphs_[subgraph].load->fetch_add(1);
  return {Clock::now(), std::min(others, kMostOthers)};
}

void PlanTimes::end(size_t subgraph, const Run& run, bool is_good) {
  const Duration time = Clock::now() - run.begun;
  --*subgraphs_[subgraph].load;
  if (!is_good) return;
  std::lock_guard lock(mutex_);
  Subgraph& added = subgraphs_[subgraph];
  Beside& beside = added.beside[run.others];
  added.last = run.others;
  Samples& samples = beside.recent;
  samples.times[samples.count++ % kSamples] = time;
  if (beside.planned || samples.count < kSamples) return;
  beside.planned = median_of(samples.times, kSamples);
  samples.count = 0;
}

std::optional<PlanTimes::Change> PlanTimes::change(size_t subgraph) const {
  std::lock_guard lock(mutex_);
  const Beside& beside = subgraphs_[subgraph].beside[subgraphs_[subgraph].last];
  if (!beside.planned || beside.recent.count < kSamples) return std::nullopt;
  const auto& times = beside.recent.times;
  return Change{*beside.planned, median_of(times, kSamples), quantile(times, kSamples, 1),
                quantile(times, kSamples, 3)};
}

void PlanTimes::expect(size_t subgraph, Duration alone) {
  std::lock_guard lock(mutex_);
  Beside& beside = subgraphs_[subgraph].beside[0];
  if (!beside.planned && alone.count() > 0) beside.planned = alone;
}

void PlanTimes::settle() {
  std::lock_guard lock(mutex_);
  for (Subgraph& subgraph : subgraphs_) {
    for (Beside& beside : subgraph.beside) {
      if (!beside.planned && beside.recent.count >= kLeastSettled) {
        beside.planned = median_of(beside.recent.times, beside.recent.count);
      }
      beside.recent.count = 0;
    }
  }
}

void PlanTimes::accept() {
  std::lock_guard lock(mutex_);
  for (Subgraph& subgraph : subgraphs_) {
    for (Beside& beside : subgraph.beside) {
      beside.planned.reset();
      beside.recent.count = 0;
    }
  }
}

}  // namespace het::hetero
