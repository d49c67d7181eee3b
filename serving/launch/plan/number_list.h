#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het::serving {

/// Numbers of processors or NUMA nodes as the kernel writes them: "0-3,8".
std::string number_list(const std::vector<int>& numbers);
std::string number_list(const std::vector<size_t>& numbers);
/// The other way. Fails with InvalidArgument for anything else, an endless list ("4-") too.
Result<std::vector<int>> parse_number_list(const std::string& text);

}  // namespace het::serving
