#include "inference/devices/stopwatch.h"

#include <ctime>

namespace het {
namespace {

int64_t thread_cpu_us() {
  timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1'000;
}

}  // namespace

Stopwatch::Stopwatch() : real_(std::chrono::steady_clock::now()), cpu_us_(thread_cpu_us()) {}

void Stopwatch::stop(ProfileRow& row) const {
  using std::chrono::duration_cast;
  using std::chrono::microseconds;
  const auto real = std::chrono::steady_clock::now() - real_;
  if (row.status != ProfileStatus::Executed) {
    row.start_us = duration_cast<microseconds>(real_.time_since_epoch()).count();
  }
  row.status = ProfileStatus::Executed;
  row.real_us += duration_cast<microseconds>(real).count();
  row.cpu_us += thread_cpu_us() - cpu_us_;
}

}  // namespace het
