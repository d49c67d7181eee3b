#pragma once

#include <optional>
#include <string_view>

namespace het::serving {

/// "200ms", "0.2s", "5min", "1h", in seconds; a number alone is of `unit_s` seconds. Nothing for
/// what is none, negative or infinite.
std::optional<double> parse_duration(std::string_view text, double unit_s);

}  // namespace het::serving
