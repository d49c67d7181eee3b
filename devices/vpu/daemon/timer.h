#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

namespace het::vpu {

/// Calls what shall happen later, in the order of times and, for one time, of the calls of at(), on
/// one thread, which starts when it is needed first. Thread-safe. The destructor forgets what has
/// not happened.
class Timer {
 public:
  using Clock = std::chrono::steady_clock;
  ~Timer();
  void at(Clock::time_point when, std::function<void()> what);

 private:
  void work();

  std::mutex mutex_;  ///< protects what follows; taken alone
  std::condition_variable changed_;
  std::multimap<Clock::time_point, std::function<void()>> planned_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace het::vpu
