#include "inference/base/edit_distance.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace het {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

std::vector<std::string_view> nearest_names(std::vector<std::string_view> names,
                                            std::string_view name) {
  constexpr size_t kCompared = 100;
  constexpr size_t kCount = 3;
  std::vector<std::pair<size_t, std::string_view>> ranked;
  for (const std::string_view other : names) {
    ranked.emplace_back(edit_distance(name.substr(0, kCompared), other.substr(0, kCompared)),
                        other);
  }
  std::ranges::sort(ranked);
  ranked.resize(std::min(ranked.size(), kCount));
  names.clear();
  for (const auto& [distance, other] : ranked) names.push_back(other);
  return names;
}

}  // namespace het
