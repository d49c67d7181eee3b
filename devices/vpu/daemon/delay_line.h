#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>

#include "devices/vpu/daemon/timer.h"

namespace het::vpu {

/// How fast a simulated device is; zeros: as fast as it can.
struct SimulatedSpeed {
  std::chrono::microseconds link_delay{0};  ///< of each direction
  uint64_t link_bytes_per_second = 0;       ///< of each direction
  std::chrono::microseconds execution{0};   ///< at least
};

/// One direction of a simulated link: what is sent arrives in its order, after the delay and when
/// its bytes had the time to pass. Without limits it arrives at once, on the sender's thread.
/// Thread-safe.
class DelayLine {
 public:
  DelayLine(const SimulatedSpeed& speed, Timer& timer) : speed_(speed), timer_(timer) {}
  void send(uint64_t bytes, std::function<void()> arrive);

 private:
  const SimulatedSpeed speed_;
  Timer& timer_;
  std::mutex mutex_;                    ///< protects free_from_; before the timer's own
  Timer::Clock::time_point free_from_;  ///< when the last bytes have passed
};

}  // namespace het::vpu
