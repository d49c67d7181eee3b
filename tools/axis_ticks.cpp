#include "tools/axis_ticks.h"

#include <fmt/core.h>

#include <cmath>

namespace het {

std::vector<double> linear_ticks(double most) {
  const double rough = most / 5.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit <= 1.0 ? 1.0 : digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0);
  std::vector<double> ticks{0.0};
  while (ticks.back() < most * (1.0 - 1e-9)) {
    ticks.push_back(static_cast<double>(ticks.size()) * step);
  }
  return ticks;
}

std::vector<double> log_ticks(double least, double most) {
  std::vector<double> ticks;
  for (int power = static_cast<int>(std::floor(std::log10(least)));; ++power) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double tick = digit * std::pow(10.0, power);
      if (tick <= least * (1.0 + 1e-9)) ticks.clear();
      ticks.push_back(tick);
      if (tick >= most * (1.0 - 1e-9)) return ticks;
    }
  }
}

std::string tick_text(double value) {
  return fmt::format("{:.12g}", value);
}

}  // namespace het
