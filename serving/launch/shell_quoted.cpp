#include "serving/launch/shell_quoted.h"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace het::serving {

std::string shell_quoted(const std::string& word) {
  const bool is_plain = !word.empty() && std::ranges::all_of(word, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("-_.,:/=+@%").find(c) != std::string_view::npos;
  });
  if (is_plain || word == "!") return word;
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted.push_back(c);
    }
  }
  return quoted + "'";
}

}  // namespace het::serving
