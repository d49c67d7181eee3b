#include "devices/cpu/threads/spin_limit.h"

#include <fcntl.h>
#include <omp.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <condition_variable>
#include <optional>
#include <thread>
#include <utility>

#include "devices/cpu/threads/parallel.h"
#include "inference/base/log.h"

namespace het::cpu {
namespace {

using Clock = std::chrono::steady_clock;

/// How long the calling thread has been ready to run while others ran, as the kernel counts it.
class RunDelay {
 public:
  RunDelay() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {}
  ~RunDelay() {
    if (file_ >= 0) ::close(file_);
  }
  RunDelay(const RunDelay&) = delete;
  RunDelay& operator=(const RunDelay&) = delete;

  /// Nanoseconds since the last call; nothing at the first one and where the kernel does not count.
  std::optional<int64_t> since_last() {
    // Time on a processor, time ready to run, number of turns.
    std::array<char, 96> text;
    const ssize_t size = file_ < 0 ? -1 : ::pread(file_, text.data(), text.size(), 0);
    if (size <= 0) return std::nullopt;
    const char* const end = text.data() + size;
    int64_t running = 0;
    const auto first = std::from_chars(text.data(), end, running);
    if (first.ec != std::errc() || first.ptr == end) return std::nullopt;
    int64_t waiting = 0;
    if (std::from_chars(first.ptr + 1, end, waiting).ec != std::errc()) return std::nullopt;
    const std::optional<int64_t> before = std::exchange(last_, waiting);
    return before ? std::optional(waiting - *before) : std::nullopt;
  }

 private:
  int file_;
  std::optional<int64_t> last_;
};

/// The longest that a thread of the team was kept waiting since the last call, in nanoseconds.
int64_t longest_delay_of_team() {
  std::atomic<int64_t> longest{0};
  parallel_for(omp_get_max_threads(), 1, [&](int64_t, int64_t) {
    thread_local RunDelay delay;
    const int64_t mine = delay.since_last().value_or(0);
    int64_t seen = longest.load(std::memory_order_relaxed);
    while (mine > seen && !longest.compare_exchange_weak(seen, mine, std::memory_order_relaxed)) {
    }
  });
  return longest.load(std::memory_order_relaxed);
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
  const Clock::time_point now = Clock::now();
  const std::chrono::nanoseconds passed = now - last;
  if (passed < kPeriod) return;
  const int64_t delay = longest_delay_of_team();
  last = now;
  decide(now, static_cast<double>(delay) / static_cast<double>(passed.count()));
}

bool SpinLimit::is_short() const {
  const std::lock_guard lock(mutex_);
  return idle_ != nullptr;
}

void SpinLimit::decide(Time now, double kept_waiting) {
  const std::lock_guard lock(mutex_);
  if (kept_waiting >= kCrowded) {
    last_crowded_ = now;
    if (idle_) return;
    log(LogLevel::Debug, "CPU: others took {:.0f} % of a thread's time, so threads wait asleep",
        100.0 * kept_waiting);
    idle_ = std::make_unique<IdleTeam>();
  } else if (idle_ && now - last_crowded_ > kAfter) {
    log(LogLevel::Debug, "CPU: the cores are free again, so threads wait awake");
    idle_.reset();
  }
}

}  // namespace het::cpu
