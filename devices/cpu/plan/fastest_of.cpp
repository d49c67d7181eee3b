#include "devices/cpu/plan/fastest_of.h"

#include <algorithm>
#include <limits>

namespace het::cpu {
namespace {

/// After so many turns those far behind leave: one alone may have met something else.
constexpr int kTrialTurns = 2;
/// Turns from which on there is an answer.
constexpr int kFewestTurns = 4;
constexpr int kMostTurns = 12;
/// From then on more turns show nothing new.
constexpr auto kLongEnough = std::chrono::milliseconds(40);
/// Who is this much slower than the fastest does not catch up.
constexpr double kFarBehind = 2.0;

}  // namespace

Result<std::optional<std::vector<double>>> fastest_us(std::span<const std::function<Status()>> runs,
                                                      const std::function<void()>& before,
                                                      MeasuringClock::time_point end) {
  std::vector<double> first(runs.size(), std::numeric_limits<double>::infinity());
  std::vector<double> fastest = first;
  const auto begin = MeasuringClock::now();
  int turn = 0;
  for (; turn <= kMostTurns; ++turn) {
    const double limit = kFarBehind * *std::ranges::min_element(first);
    for (size_t i = 0; i < runs.size(); ++i) {
      if (turn >= kTrialTurns && first[i] > limit) continue;
      before();
      const auto start = MeasuringClock::now();
      if (start > end) break;
      HET_TRY(runs[i]());
      const std::chrono::duration<double, std::micro> took = MeasuringClock::now() - start;
      double& time = turn < kTrialTurns ? first[i] : fastest[i];
      time = std::min(time, took.count());
    }
    const auto now = MeasuringClock::now();
    if (now > end || (turn >= kFewestTurns && now - begin > kLongEnough * runs.size())) break;
  }
  if (turn < kFewestTurns) return std::optional<std::vector<double>>();
  for (size_t i = 0; i < runs.size(); ++i) fastest[i] = std::min(fastest[i], first[i]);
  return std::optional(std::move(fastest));
}

}  // namespace het::cpu
