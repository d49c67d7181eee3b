#pragma once

#include <cstddef>
#include <string>

#include "serving/density/search/verdict.h"

namespace het::density {

/// "CPU: 12 streams pass: p99 61 ms, ... (1:12 elapsed, about 2:30 left)".
std::string trial_line(const std::string& device, const Verdict& verdict, const Goal& goal);
/// "1:12", "1:02:03".
std::string clock_text(double seconds);

/// How long trials take, for what is left. A trial with more streams takes longer to start.
class RemainingTime {
 public:
  void add(double took_s);
  /// 0 before the first.
  double of(size_t trials) const;

 private:
  double sum_s_ = 0;
  size_t count_ = 0;
};

}  // namespace het::density
