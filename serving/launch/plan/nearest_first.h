#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace het::serving {

/// Names for a message about one that is not among them: "pipeline, properties, name", the
/// nearest first, each in `before` and `after`; of many the nearest 16.
std::string nearest_first(std::vector<std::string_view> names, std::string_view name,
                          std::string_view before = "", std::string_view after = "");

}  // namespace het::serving
