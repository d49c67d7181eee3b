#include "devices/cpu/threads/pin_thread.h"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "devices/cpu/threads/parallel.h"
#include "inference/base/log.h"

namespace het::cpu {
namespace {

/// Null once the team is bound.
thread_local const TeamPlaces* places_to_take = nullptr;

}  // namespace

void pin_thread(const std::vector<int>& processors) {
  if (processors.empty()) return;
  const int count = *std::ranges::max_element(processors) + 1;
  cpu_set_t* const set = CPU_ALLOC(count);
  if (set == nullptr) return;
  const size_t size = CPU_ALLOC_SIZE(count);
  CPU_ZERO_S(size, set);
  for (const int processor : processors) CPU_SET_S(processor, size, set);
  if (sched_setaffinity(0, size, set) != 0) {
    log(LogLevel::Warning, "a thread of device CPU could not be bound to processor {}",
        processors.front());
  }
  CPU_FREE(set);
}

void set_team_places(const TeamPlaces& places) {
  const bool bound = std::ranges::any_of(places, [](const auto& place) { return !place.empty(); });
  places_to_take = bound ? &places : nullptr;
}

void pin_team() {
  if (places_to_take == nullptr) return;
  const TeamPlaces& places = *std::exchange(places_to_take, nullptr);
  parallel_for(static_cast<int64_t>(places.size()), 1, [&](int64_t begin, int64_t end) {
    for (int64_t t = begin; t < end; ++t) pin_thread(places[static_cast<size_t>(t)]);
  });
}

}  // namespace het::cpu
