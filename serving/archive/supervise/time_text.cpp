#include "serving/archive/supervise/time_text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace het::archive {

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e12) return "?";
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<uint64_t>(std::llround(seconds));
  const uint64_t minutes = whole / 60;
  if (minutes < 60) return fmt::format("{} min {:02} s", minutes, whole % 60);
  if (minutes < 48 * 60) return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
  return fmt::format("{} d {} h", minutes / 1440, minutes / 60 % 24);
}

}  // namespace het::archive
