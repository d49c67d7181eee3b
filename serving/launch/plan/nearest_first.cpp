#include "serving/launch/plan/nearest_first.h"

#include <fmt/format.h>

#include <algorithm>

#include "inference/base/edit_distance.h"

namespace het::serving {
namespace {

constexpr size_t kMostNames = 16;

}  // namespace

std::string nearest_first(std::vector<std::string_view> names, std::string_view name,
                          std::string_view before, std::string_view after) {
  std::vector<std::string_view> sorted = nearest_names(names, name);
  for (const std::string_view other : names) {
    if (std::ranges::find(sorted, other) == sorted.end()) sorted.push_back(other);
    if (sorted.size() >= kMostNames) break;
  }
  std::string text;
  for (const std::string_view other : sorted) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : ", ", before, other, after);
  }
  return sorted.size() < names.size() ? text + " ..." : text;
}

}  // namespace het::serving
