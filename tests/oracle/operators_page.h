#pragma once

#include <string>

#include "inference/core.h"

namespace het::oracle {

/// docs/operators.md as this build has it: from the registry, the generators, the devices' answers
/// and what lies in `source_root`.
std::string operators_page(Core& core, const std::string& source_root);

}  // namespace het::oracle
