#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace het::vpu {

/// How fast a simulated device is; zeros: as fast as it can.
struct SimulatedSpeed {
  std::chrono::microseconds link_delay{0};  ///< of each direction
  uint64_t link_bytes_per_second = 0;       ///< of each direction
  std::chrono::microseconds execution{0};   ///< at least
};

/// One direction of a simulated link: what is sent arrives in its order, after the delay and when
/// its bytes had the time to pass. Without limits it arrives at once, on the sender's thread.
/// Thread-safe. The destructor forgets what has not arrived.
class DelayLine {
 public:
  explicit DelayLine(const SimulatedSpeed& speed);
  ~DelayLine();
  void send(uint64_t bytes, std::function<void()> arrive);

 private:
  using Clock = std::chrono::steady_clock;
  struct Item {
    Clock::time_point when;
    std::function<void()> arrive;
  };
  void work();

  const SimulatedSpeed speed_;
  std::mutex mutex_;  ///< protects what follows; taken alone
  std::condition_variable changed_;
  std::deque<Item> items_;
  Clock::time_point free_from_;  ///< when the last bytes have passed
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace het::vpu
