#include "benchmarks/hetero/timing.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "inference/requests/infer_request.h"

namespace het::hetero {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

Result<double> measure_latency(CompiledModel& model, size_t times) {
  HET_ASSIGN(const auto request, model.create_infer_request());
  std::vector<double> samples;
  for (size_t i = 0; i <= times; ++i) {
    const auto start = Clock::now();
    HET_TRY(request->infer());
    if (i > 0) samples.push_back(since(start));
  }
  return median(std::move(samples));
}

Result<Rate> measure_throughput(CompiledModel& model, size_t requests_wanted,
                                const std::function<void()>& begins,
                                const std::function<void()>& ends) {
  HET_ASSIGN(const std::string text, model.get_property("OPTIMAL_NUMBER_OF_INFER_REQUESTS"));
  const size_t best = std::clamp<size_t>(std::strtoul(text.c_str(), nullptr, 10), 1, 64);
  const size_t count = requests_wanted > 0 ? requests_wanted : best;
  constexpr size_t kTurns = 64;  // a round of a mix, PlanMix::kTurns
  const size_t frames = (8 * count + kTurns - 1) / kTurns * kTurns;
  std::vector<std::unique_ptr<InferRequest>> requests(count);
  for (auto& request : requests) {
    HET_ASSIGN(request, model.create_infer_request());
    HET_TRY(request->start_async());
  }
  Clock::time_point start;
  for (size_t frame = 0; frame < frames + 2 * count; ++frame) {
    InferRequest& request = *requests[frame % count];
    HET_TRY(request.wait());
    if (frame == 2 * count - 1) {
      start = Clock::now();
      if (begins) begins();
    }
    if (frame + 1 < frames + 2 * count) HET_TRY(request.start_async());
  }
  const double seconds = since(start);
  if (ends) ends();
  for (const auto& request : requests) HET_TRY(request->wait());
  return Rate{frames, static_cast<double>(frames) / seconds};
}

}  // namespace het::hetero
