#include "devices/vpu/daemon/delay_line.h"

#include <algorithm>
#include <utility>

namespace het::vpu {

void DelayLine::send(uint64_t bytes, std::function<void()> arrive) {
  if (speed_.link_delay.count() == 0 && speed_.link_bytes_per_second == 0) return arrive();
  std::lock_guard lock(mutex_);
  free_from_ = std::max(free_from_, Timer::Clock::now());
  if (speed_.link_bytes_per_second > 0) {
    const double seconds =
        static_cast<double>(bytes) / static_cast<double>(speed_.link_bytes_per_second);
    free_from_ +=
        std::chrono::duration_cast<Timer::Clock::duration>(std::chrono::duration<double>(seconds));
  }
  timer_.at(free_from_ + speed_.link_delay, std::move(arrive));
}

}  // namespace het::vpu
