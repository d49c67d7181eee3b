#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <string>

namespace het::serving {

/// Processor time of this process' threads since it was made, by name. Threads that end between two
/// samples keep what the last one saw. Thread-compatible.
class ThreadTimes {
 public:
  ThreadTimes() { sample(true); }
  void sample() { sample(false); }
  /// Seconds of all threads for which `counts` says yes.
  double sum_s(const std::function<bool(pid_t thread, const std::string& name)>& counts) const;

 private:
  struct Thread {
    std::string name;
    double first_s = 0;
    double last_s = 0;
  };
  void sample(bool is_first);

  std::map<pid_t, Thread> threads_;
};

}  // namespace het::serving
