#include "devices/cpu/pin_thread.h"

#include <sched.h>

#include <algorithm>

#include "inference/log.h"

namespace het::cpu {

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

}  // namespace het::cpu
