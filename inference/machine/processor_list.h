#pragma once

#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

namespace het {

/// "0-3, 8" or "0-3;8" as the system's numbers of processors, ascending, each once. Fails with
/// InvalidArgument on anything else, an empty list too, quoting the part at fault.
HET_API Result<std::vector<int>> parse_processors(std::string_view text);

}  // namespace het
