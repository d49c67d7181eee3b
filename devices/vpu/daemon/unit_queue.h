#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace het::vpu {

/// The units of a device: each runs one job at a time, first come first served. Thread-safe. The
/// destructor runs what is queued.
class UnitQueue {
 public:
  using Job = std::function<void(uint32_t unit)>;
  explicit UnitQueue(uint32_t units);
  ~UnitQueue();
  void add(Job job);

 private:
  void work(uint32_t unit);

  std::mutex mutex_;  ///< protects the two below; taken alone
  std::deque<Job> jobs_;
  bool stopping_ = false;
  std::condition_variable changed_;
  std::vector<std::thread> threads_;
};

}  // namespace het::vpu
