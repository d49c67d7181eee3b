#include "devices/gpu/opencl/measurements.h"

#include <algorithm>
#include <chrono>

#include "inference/base/log.h"

namespace het::gpu {
namespace {

/// Of the rule's time: what is not faster than that may be noise.
constexpr double kClearlyFaster = 0.9;

std::string machine_of(const Hardware& hardware) {
  return fmt::format("{}, {}, {}, {}, kernels {}", hardware.platform_name, hardware.name,
                     hardware.driver, hardware.compute_units, Measurements::kVersion);
}

}  // namespace

Measurements::Measurements(const Hardware& hardware, const std::string& folder, double seconds)
    : store_(folder, "GPU", machine_of(hardware)), seconds_left_(seconds) {}

std::string Measurements::choose(
    const std::string& key, const std::vector<std::string>& names,
    const std::function<Result<double>(const std::string& name)>& seconds_of) {
  if (names.size() < 2) return names.front();
  if (!read_) {
    store_.refresh();
    read_ = true;
  }
  if (const auto known = store_.find(key)) {
    if (std::find(names.begin(), names.end(), known->name) != names.end()) return known->name;
  }
  if (seconds_left_ <= 0.0) return names.front();
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  MeasuredChoice choice{names.front(), {}};
  double least = 0.0;
  bool complete = true;
  for (const std::string& name : names) {
    if (spent() >= seconds_left_) {
      complete = false;
      break;
    }
    const Result<double> seconds = seconds_of(name);
    if (!seconds) {
      log(LogLevel::Warning, "cannot measure {} of {}: {}", name, key, seconds.error().message());
      if (name == names.front()) complete = false;
      continue;
    }
    choice.times_us[name] = *seconds * 1e6;
    if (name == names.front()) {
      least = *seconds * kClearlyFaster;
    } else if (*seconds < least) {
      choice.name = name;
      least = *seconds;
    }
  }
  // Once more, since other programs may have disturbed the rule's.
  if (complete && choice.name != names.front()) {
    const Result<double> again = seconds_of(names.front());
    const Result<double> best = seconds_of(choice.name);
    double& rule_us = choice.times_us[names.front()];
    if (again) rule_us = std::min(rule_us, *again * 1e6);
    if (!best || *best * 1e6 >= kClearlyFaster * rule_us) choice.name = names.front();
  }
  seconds_left_ -= spent();
  if (!complete) return names.front();
  store_.add(key, choice);
  return choice.name;
}

}  // namespace het::gpu
