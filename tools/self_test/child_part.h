#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace het::self_test {

/// The descriptor that children write their events to.
inline constexpr int kEventsFile = 3;

struct PartLimits {
  double silence_s = 20.0;  ///< between two events
  double total_s = 60.0;
};

/// What a part in a process of its own has told.
struct PartOutcome {
  std::vector<nlohmann::json> results;
  bool complete = false;
  std::string doing;    ///< what it was at when it ended early
  std::string problem;  ///< "the driver crashed (signal 11, Segmentation fault)"; empty: complete
  std::string said;     ///< the last lines of what it and its drivers printed, after a problem
};

/// Runs `hetero devices --self-test-part WORDS` with what `before` has in front of it, and calls
/// `begun` with what it begins to do. A child that says nothing for too long, or takes too long
/// altogether, is killed with what it has started.
PartOutcome run_part_in_child(const std::vector<std::string>& before,
                              const std::vector<std::string>& words, const PartLimits& limits,
                              const std::function<void(const std::string&)>& begun);

}  // namespace het::self_test
