#pragma once

#include <cstddef>
#include <string_view>

namespace het {

/// How many characters have to be inserted, removed or replaced to turn one text into the other.
/// Takes time in proportion to the product of the lengths: callers limit those.
size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace het
