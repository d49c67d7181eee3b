#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "inference/base/status.h"

namespace het::zones {

/// Parses a text. Fails with ParseError, which says line and column of what is no JSON, or the key
/// that an object has twice.
Result<nlohmann::json> parse_json_text(const std::string& text);

/// The same of a file of at most 1 MiB; messages name it.
Result<nlohmann::json> parse_json_file(const std::string& path);

}  // namespace het::zones
