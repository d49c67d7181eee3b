#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "inference/base/visibility.h"

namespace het {

/// How many characters have to be inserted, removed or replaced to turn one text into the other.
/// Takes time in proportion to the product of the lengths: callers limit those.
size_t edit_distance(std::string_view a, std::string_view b);

/// The three of `names` that are nearest to a name, nearest first. Only the first 100 bytes of each
/// are compared.
HET_API std::vector<std::string_view> nearest_names(std::vector<std::string_view> names,
                                                    std::string_view name);

}  // namespace het
