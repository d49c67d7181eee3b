#include "hetero/members/zero_request.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

namespace het::hetero {

Result<std::unique_ptr<InferRequest>> zero_request(CompiledModel& model) {
  HET_ASSIGN(std::unique_ptr<InferRequest> request, model.create_infer_request());
  for (size_t i = 0; i < model.inputs().size(); ++i) {
    const Tensor& input = request->input(i);
    if (input.bytes() != nullptr) std::memset(input.bytes(), 0, input.size_bytes());
  }
  return request;
}

Result<double> median_seconds(std::span<const std::unique_ptr<InferRequest>> requests,
                              size_t runs) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> samples;
  for (size_t run = 0; run <= runs; ++run) {
    const auto start = Clock::now();
    for (const auto& request : requests) HET_TRY(request->infer());
    if (run > 0) samples.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

}  // namespace het::hetero
