#include "tools/accuracy/top_k_metric.h"

#include <algorithm>
#include <numeric>

namespace het {
namespace {

constexpr size_t kMostNamed = 5;

std::optional<double> share(size_t part, size_t all) {
  if (all == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(all);
}

}  // namespace

Scores top_k_scores(const Dataset& dataset, std::span<const Found> found) {
  std::vector<size_t> right(dataset.categories.size());
  std::vector<size_t> all(dataset.categories.size());
  size_t among_five = 0;
  bool has_five = dataset.categories.size() > kMostNamed;
  for (size_t p = 0; p < dataset.pictures.size(); ++p) {
    const size_t wanted = dataset.pictures[p].category;
    const std::vector<int>& ranking = found[p].ranking;
    const auto end = ranking.begin() + static_cast<long>(std::min(ranking.size(), kMostNamed));
    const auto place = std::find(ranking.begin(), end, static_cast<int>(wanted));
    ++all[wanted];
    if (place != end) ++among_five;
    if (place == ranking.begin() && place != end) ++right[wanted];
    has_five = has_five && ranking.size() >= kMostNamed;
  }
  Scores scores;
  scores.overall.push_back({"top-1", share(std::accumulate(right.begin(), right.end(), size_t{0}),
                                           dataset.pictures.size())});
  if (has_five) scores.overall.push_back({"top-5", share(among_five, dataset.pictures.size())});
  for (size_t c = 0; c < all.size(); ++c) {
    scores.categories.push_back({dataset.categories[c].name, share(right[c], all[c])});
  }
  return scores;
}

std::vector<size_t> largest(std::span<const float> values, size_t count) {
  std::vector<size_t> places(values.size());
  std::iota(places.begin(), places.end(), size_t{0});
  // NaN, which no order holds, comes last.
  const auto is_before = [&values](size_t a, size_t b) {
    if (values[a] != values[a]) return false;
    return values[b] != values[b] || values[a] > values[b];
  };
  std::stable_sort(places.begin(), places.end(), is_before);
  places.resize(std::min(count, places.size()));
  return places;
}

}  // namespace het
