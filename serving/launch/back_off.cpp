#include "serving/launch/back_off.h"

#include <algorithm>

namespace het::serving {

void Retry::succeeded_for(double seconds) {
  if (seconds >= back_off_.stable_s) failures_ = 0;
}

std::optional<double> Retry::next() {
  if (++failures_ > back_off_.most) return std::nullopt;
  double wait_s = std::min(back_off_.first_s, back_off_.longest_s);
  for (size_t i = 1; i < failures_ && wait_s > 0 && wait_s < back_off_.longest_s; ++i) {
    wait_s = std::min(2 * wait_s, back_off_.longest_s);
  }
  return wait_s;
}

}  // namespace het::serving
