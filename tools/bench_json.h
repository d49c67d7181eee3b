#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "inference/base/status.h"
#include "tools/bench.h"

namespace het {

nlohmann::json spread_json(const Spread& spread);
nlohmann::json rounds_json(const std::vector<BenchRound>& rounds);

/// Prints the object with -json, and writes the file of -report.
Status print_json(const BenchOptions& options, const nlohmann::json& json);

}  // namespace het
