#include <omp.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <string>
#include <thread>

#include "devices/cpu/threads/parallel.h"
#include "devices/cpu/threads/spin_limit.h"
#include "tests/devices/cpu/cpu_testing.h"

/// Teams of threads beside other programs (devices/cpu/threads/spin_limit.h).
namespace het::cpu_testing {
namespace {

using Clock = std::chrono::steady_clock;

/// Work for the whole team until `done` says so or ten seconds are over.
template <class Done>
void work_until(cpu::SpinLimit& limit, const Done& done) {
  const Clock::time_point end = Clock::now() + std::chrono::seconds(10);
  while (Clock::now() < end && !done()) {
    cpu::parallel_for(omp_get_max_threads(), 1, [](int64_t, int64_t) {
      const Clock::time_point part = Clock::now() + std::chrono::microseconds(200);
      while (Clock::now() < part) {
      }
    });
    limit.observe_team();
  }
}

/// Threads that take every processor for themselves.
class Crowd {
 public:
  Crowd() {
    for (long k = 0; k < ::sysconf(_SC_NPROCESSORS_ONLN); ++k) {
      threads_.emplace_back([this] {
        while (!ends_.load(std::memory_order_relaxed)) {
        }
      });
    }
  }
  ~Crowd() {
    ends_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> ends_{false};
  std::vector<std::thread> threads_;
};

TEST(CpuSpinLimit, TeamsThatAreInterruptedWaitAsleep) {
  if (std::string turns; !(std::ifstream("/proc/thread-self/schedstat") >> turns)) {
    GTEST_SKIP() << "this kernel does not count how long threads wait for a processor";
  }
  std::thread stream([] {
    omp_set_num_threads(2);
    cpu::SpinLimit limit;
    EXPECT_FALSE(limit.is_short());
    const Crowd crowd;
    work_until(limit, [&] { return limit.is_short(); });
    EXPECT_TRUE(limit.is_short());
  });
  stream.join();
}

TEST(CpuSpinLimit, OneThreadHasNobodyToWaitFor) {
  std::thread stream([] {
    omp_set_num_threads(1);
    cpu::SpinLimit limit;
    const Crowd crowd;
    const Clock::time_point end = Clock::now() + std::chrono::milliseconds(300);
    work_until(limit, [&] { return Clock::now() > end; });
    EXPECT_FALSE(limit.is_short());
  });
  stream.join();
}

}  // namespace
}  // namespace het::cpu_testing
