#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "inference/base/status.h"

namespace het::cpu {

using MeasuringClock = std::chrono::steady_clock;

/// The shortest time of each run in microseconds. They take turns, so that what else the machine
/// does meets all of them alike; whoever is far behind after two turns takes part no more. `before`
/// runs in front of each one and is not counted. Nothing when `end` comes before every run had its
/// turns. Fails as a run fails.
Result<std::optional<std::vector<double>>> fastest_us(std::span<const std::function<Status()>> runs,
                                                      const std::function<void()>& before,
                                                      MeasuringClock::time_point end);

}  // namespace het::cpu
