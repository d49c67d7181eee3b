#include "serving/launch/instance/thread_times.h"

#include <fmt/format.h>
#include <time.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace het::serving {
namespace {

/// The clock of a thread's processor time, as the kernel numbers them; pthread_getcpuclockid()
/// gives the same for those whose pthread_t is known.
clockid_t thread_clock(pid_t thread) {
  constexpr unsigned kPerThreadSchedulerTime = 6;
  return static_cast<clockid_t>((~static_cast<unsigned>(thread) << 3) | kPerThreadSchedulerTime);
}

}  // namespace

void ThreadTimes::sample(bool is_first) {
  std::error_code failure;
  for (std::filesystem::directory_iterator entry("/proc/self/task", failure), end;
       !failure && entry != end; entry.increment(failure)) {
    const std::string text = entry->path().filename().string();
    pid_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    timespec time = {};
    if (number == 0 || clock_gettime(thread_clock(number), &time) != 0) continue;
    std::string name;
    std::getline(std::ifstream(entry->path() / "comm"), name);
    Thread& thread = threads_[number];
    if (!name.empty()) thread.name = std::move(name);
    thread.last_s = static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
    if (is_first) thread.first_s = thread.last_s;
  }
}

double ThreadTimes::sum_s(
    const std::function<bool(pid_t thread, const std::string& name)>& counts) const {
  double sum = 0;
  for (const auto& [number, thread] : threads_) {
    if (counts(number, thread.name)) sum += thread.last_s - thread.first_s;
  }
  return sum;
}

}  // namespace het::serving
