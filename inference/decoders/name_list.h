#pragma once

#include <string>
#include <string_view>

namespace het {

/// "a, b, c". Instead of fmt::join, which GCC 12 warns about at -O2 with fmt 9.
template <class Names>
std::string name_list(const Names& names) {
  std::string text;
  for (std::string_view name : names) {
    if (!text.empty()) text += ", ";
    text += name;
  }
  return text;
}

}  // namespace het
