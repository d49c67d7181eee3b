#include "serving/launch/duration.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace het::serving {

std::optional<double> parse_duration(std::string_view text, double unit_s) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> kUnits = {
      {{"ms", 0.001}, {"s", 1}, {"min", 60}, {"h", 3600}, {"us", 1e-6}}};
  double number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc() || !std::isfinite(number) || number < 0) return std::nullopt;
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  if (unit.empty()) return number * unit_s;
  const auto known = std::ranges::find(kUnits, unit, &std::pair<std::string_view, double>::first);
  if (known == kUnits.end()) return std::nullopt;
  return number * known->second;
}

}  // namespace het::serving
