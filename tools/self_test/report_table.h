#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace het::self_test {

/// The report as a person reads it: the verdict first, no line longer than 100 columns.
std::string report_table(const nlohmann::json& report);

}  // namespace het::self_test
