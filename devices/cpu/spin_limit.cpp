#include "devices/cpu/spin_limit.h"

#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <thread>

#include "devices/cpu/parallel.h"
#include "inference/log.h"

namespace het::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// How often the calling thread had to make room for another one, since it began.
int64_t interruptions_of_thread() {
  rusage usage = {};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

int64_t interruptions_of_team() {
  std::atomic<int64_t> all{0};
  parallel_for(omp_get_max_threads(), 1, [&](int64_t begin, int64_t end) {
    // A part that has no thread of its own counts with the one that does it.
    if (begin < end) all.fetch_add(interruptions_of_thread(), std::memory_order_relaxed);
  });
  return all.load(std::memory_order_relaxed);
}

}  // namespace

/// More threads than the system has processors, asleep, in a team of their own.
class SpinLimit::IdleTeam {
 public:
  IdleTeam() : host_([this] { rest(); }) {}
  ~IdleTeam() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_one();
    host_.join();
  }
  IdleTeam(const IdleTeam&) = delete;
  IdleTeam& operator=(const IdleTeam&) = delete;

 private:
  void rest() {
    const auto threads = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)) + 1;
    omp_set_num_threads(threads);
    parallel_for(threads, 1, [](int64_t, int64_t) {});
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ends_; });
  }

  std::mutex mutex_;  ///< protects ends_; taken alone
  std::condition_variable changed_;
  bool ends_ = false;
  std::thread host_;
};

SpinLimit::SpinLimit() = default;
SpinLimit::~SpinLimit() = default;

void SpinLimit::observe_team() {
  if (omp_get_max_threads() < 2) return;
  thread_local Clock::time_point last;
  thread_local int64_t counted = 0;
  const Clock::time_point now = Clock::now();
  if (now - last < kPeriod) return;
  const int64_t count = interruptions_of_team();
  const bool is_first = last == Clock::time_point();
  const double seconds = std::chrono::duration<double>(now - last).count();
  const auto fresh = static_cast<double>(count - counted);
  last = now;
  counted = count;
  if (!is_first) decide(now, fresh / seconds);
}

bool SpinLimit::is_short() const {
  const std::lock_guard lock(mutex_);
  return idle_ != nullptr;
}

void SpinLimit::decide(Time now, double interruptions) {
  const std::lock_guard lock(mutex_);
  if (interruptions >= kCrowded) {
    last_crowded_ = now;
    if (idle_) return;
    log(LogLevel::Debug, "CPU: {:.0f} interruptions a second, so threads wait asleep",
        interruptions);
    idle_ = std::make_unique<IdleTeam>();
  } else if (idle_ && now - last_crowded_ > kAfter) {
    log(LogLevel::Debug, "CPU: the cores are free again, so threads wait awake");
    idle_.reset();
  }
}

}  // namespace het::cpu
