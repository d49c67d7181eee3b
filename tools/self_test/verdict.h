#pragma once

#include <nlohmann/json_fwd.hpp>

namespace het::self_test {

/// Adds what the report means, in plain words: "verdicts", a line for each device and for each kind
/// of which there is none, and "right": whether all devices that are there are.
void add_verdicts(nlohmann::json& report);

}  // namespace het::self_test
