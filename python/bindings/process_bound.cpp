#include "python/bindings/process_bound.h"

#include <pthread.h>

#include <atomic>

namespace het::python {
namespace {
std::atomic<unsigned> forks{0};
}  // namespace

unsigned fork_count() {
  return forks.load(std::memory_order_relaxed);
}

void note_forks() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  (void)registered;
}

}  // namespace het::python
