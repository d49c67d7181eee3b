#pragma once

#include <map>
#include <pugixml.hpp>
#include <string>

#include "inference/base/status.h"
#include "inference/readers/openvino_ir/parsed_net.h"

namespace het::ir {

/// Checks the `net` element and its version. Versions 5 to 9 and older fail with NotSupported and
/// what to do; newer ones than 11 are tried with a warning.
Result<int64_t> parse_version(const pugi::xml_node& net);

/// Takes a `net` or `body` element apart. `budget` is what the file used up so far. Fails
/// with ParseError on missing or odd ids, numbers and duplicate ports.
Result<ParsedNet> parse_net(const pugi::xml_node& element, ParseBudget& budget);

/// The content of rt_info as "model_info/model_type" -> value.
std::map<std::string, std::string> parse_rt_info(const pugi::xml_node& net);

}  // namespace het::ir
