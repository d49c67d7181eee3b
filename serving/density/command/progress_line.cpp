#include "serving/density/command/progress_line.h"

#include <fmt/format.h>

#include <cmath>

namespace het::density {

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string trial_line(const std::string& device, const Verdict& verdict, const Goal& goal) {
  std::string text = fmt::format(
      "{}: {} stream{} {}: p99 {:.1f} ms, {:.2f} frames/s, {:.1f} % lost, "
      "{:.2f} CPUs",
      device, verdict.streams, verdict.streams == 1 ? "" : "s",
      verdict.passes() ? "passed" : "failed", verdict.worst.p99_ms, verdict.rate,
      verdict.drop * 100, verdict.cpus);
  if (!verdict.passes()) text += fmt::format("; {}", verdict.reason(goal));
  if (verdict.ended_early) text += ", and worse by the second";
  return text;
}

void RemainingTime::add(double took_s) {
  sum_s_ += took_s;
  ++count_;
}

double RemainingTime::of(size_t trials) const {
  return count_ == 0 ? 0 : sum_s_ / static_cast<double>(count_) * static_cast<double>(trials);
}

}  // namespace het::density
