#include "inference/passes/fold_budget.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "inference/base/log.h"

namespace het {
namespace {

constexpr size_t kBytes = size_t{128} << 20;
constexpr int64_t kSteps = int64_t{1} << 25;
constexpr size_t kBytesPerByte = 8;
constexpr int64_t kStepsPerByte = 16;

/// The budget that is open on this thread; bodies are inferred while their node is.
thread_local FoldBudget* open_budget = nullptr;

using Range = std::pair<const std::byte*, const std::byte*>;

void add_constants(const Model& model, std::vector<Range>& ranges) {
  for (const auto& value : model.values()) {
    if (!value->is_constant()) continue;
    const std::byte* first = value->constant().bytes();
    if (first != nullptr) ranges.emplace_back(first, first + value->constant().size_bytes());
  }
  for (const auto& node : model.nodes()) {
    for (const auto& [name, attribute] : node->attributes()) {
      const auto* body = std::get_if<std::shared_ptr<Model>>(&attribute);
      if (body != nullptr && *body != nullptr) add_constants(**body, ranges);
    }
  }
}

/// Memory that the constants refer to: several may lie on the same bytes of a file.
size_t constant_bytes(const Model& model) {
  std::vector<Range> ranges;
  add_constants(model, ranges);
  std::sort(ranges.begin(), ranges.end());
  size_t bytes = 0;
  const std::byte* counted = nullptr;
  for (const auto& [first, last] : ranges) {
    const std::byte* from = std::max(first, counted);
    if (last <= from) continue;
    bytes += static_cast<size_t>(last - from);
    counted = last;
  }
  return bytes;
}

}  // namespace

FoldBudget::FoldBudget(const Model& model) {
  if (open_budget != nullptr) return;
  const size_t bytes = constant_bytes(model);
  bytes_ = kBytes + kBytesPerByte * bytes;
  steps_ = kSteps + kStepsPerByte * static_cast<int64_t>(bytes);
  opened_ = open_budget = this;
}

FoldBudget::~FoldBudget() {
  if (opened_ != nullptr) open_budget = nullptr;
}

bool FoldBudget::take(const Node& node, size_t bytes, int64_t steps) {
  FoldBudget* budget = open_budget;
  if (budget == nullptr) return true;
  if (bytes <= budget->bytes_ && steps <= budget->steps_) {
    budget->bytes_ -= bytes;
    budget->steps_ -= steps;
    return true;
  }
  if (!std::exchange(budget->warned_, true)) {
    log(LogLevel::Info,
        "node '{}' ({}) and perhaps others are computed with each request, though their inputs are "
        "constants: computing them at load would take {} bytes and {} steps, {} and {} are left",
        node.name(), node.qualified_type(), bytes, steps, budget->bytes_, budget->steps_);
  }
  return false;
}

}  // namespace het
