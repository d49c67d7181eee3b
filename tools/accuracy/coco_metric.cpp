#include "tools/accuracy/coco_metric.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

namespace het {
namespace {

constexpr size_t kOverlaps = 10;
constexpr size_t kRecalls = 101;
constexpr size_t kAreas = 4;

struct AreaRange {
  const char* suffix;
  double least;
  double most;
};
constexpr AreaRange kAreaRanges[kAreas] = {
    {"", 0.0, 1e10}, {"s", 0.0, 1024.0}, {"m", 1024.0, 9216.0}, {"l", 9216.0, 1e10}};

/// .50:.05:.95 with the rounding of linspace, which decides where an overlap is just one of them.
double least_overlap(size_t index) {
  return index + 1 == kOverlaps ? 0.95 : 0.5 + static_cast<double>(index) * ((0.95 - 0.5) / 9.0);
}

double wanted_recall(size_t index) {
  return static_cast<double>(index) * (1.0 / 100.0);
}

/// What a detection counts as.
enum class Outcome : uint8_t { Right, Wrong, Ignored };

/// The detections and objects of one category in one picture.
struct CategoryInPicture {
  std::vector<const FoundBox*> found;  ///< the best first
  std::vector<const TruthBox*> truth;
  std::vector<double> overlaps;  ///< per detection and object
};

/// The same, matched: outcomes per overlap.
struct Matches {
  std::vector<double> scores;
  std::array<std::vector<Outcome>, kOverlaps> outcomes;
  size_t counted = 0;  ///< objects that are to be found
};

bool is_outside(double area, const AreaRange& range) {
  return area < range.least || area > range.most;
}

/// The objects that count in this range first, in the dataset's order.
std::vector<size_t> counted_first(const CategoryInPicture& picture, const AreaRange& range,
                                  size_t& counted) {
  std::vector<size_t> order(picture.truth.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto ignored = std::stable_partition(order.begin(), order.end(), [&](size_t index) {
    const TruthBox& truth = *picture.truth[index];
    return !truth.is_crowd && !truth.is_ignored && !is_outside(truth.area, range);
  });
  counted = static_cast<size_t>(ignored - order.begin());
  return order;
}

/// Each detection takes the free object that it overlaps most, where one counts rather that than
/// one that is ignored; crowds are never taken.
Matches match_objects(const CategoryInPicture& picture, const AreaRange& range) {
  Matches matches;
  const std::vector<size_t> order = counted_first(picture, range, matches.counted);
  for (const FoundBox* found : picture.found) matches.scores.push_back(found->score);
  for (size_t o = 0; o < kOverlaps; ++o) {
    std::vector<bool> is_taken(order.size(), false);
    for (size_t d = 0; d < picture.found.size(); ++d) {
      double best = std::min(least_overlap(o), 1.0 - 1e-10);
      size_t taken = order.size();
      for (size_t t = 0; t < order.size(); ++t) {
        if (is_taken[t] && !picture.truth[order[t]]->is_crowd) continue;
        if (taken < matches.counted && t >= matches.counted) break;
        const double shared = picture.overlaps[d * order.size() + order[t]];
        if (shared < best) continue;
        best = shared;
        taken = t;
      }
      Outcome outcome = Outcome::Right;
      if (taken == order.size()) {
        outcome =
            is_outside(picture.found[d]->box.area(), range) ? Outcome::Ignored : Outcome::Wrong;
      } else {
        is_taken[taken] = true;
        if (taken >= matches.counted) outcome = Outcome::Ignored;
      }
      matches.outcomes[o].push_back(outcome);
    }
  }
  return matches;
}

/// Of one category and range of areas with so many detections a picture.
struct Curve {
  std::array<double, kOverlaps> precision{};  ///< mean over the recalls
  std::array<double, kOverlaps> recall{};
};

/// A detection's place among those of all pictures.
struct RankedDetection {
  double score;
  size_t picture;
  size_t index;
};

std::vector<RankedDetection> best_first(const std::vector<Matches>& pictures, size_t limit) {
  std::vector<RankedDetection> ranked;
  for (size_t p = 0; p < pictures.size(); ++p) {
    const size_t count = std::min(limit, pictures[p].scores.size());
    for (size_t d = 0; d < count; ++d) ranked.push_back({pictures[p].scores[d], p, d});
  }
  std::stable_sort(
      ranked.begin(), ranked.end(),
      [](const RankedDetection& a, const RankedDetection& b) { return a.score > b.score; });
  return ranked;
}

/// Mean over the recalls of the best precision at that recall or above.
double mean_precision(const std::vector<double>& recalls, std::vector<double> precisions) {
  for (size_t i = precisions.size(); i > 1; --i) {
    precisions[i - 2] = std::max(precisions[i - 2], precisions[i - 1]);
  }
  double sum = 0.0;
  for (size_t r = 0; r < kRecalls; ++r) {
    const auto reached = std::lower_bound(recalls.begin(), recalls.end(), wanted_recall(r));
    if (reached == recalls.end()) break;
    sum += precisions[static_cast<size_t>(reached - recalls.begin())];
  }
  return sum / static_cast<double>(kRecalls);
}

/// None where no object counts.
std::optional<Curve> curve_of(const std::vector<Matches>& pictures, int limit) {
  size_t counted = 0;
  for (const Matches& picture : pictures) counted += picture.counted;
  if (counted == 0) return std::nullopt;
  const std::vector<RankedDetection> ranked = best_first(pictures, static_cast<size_t>(limit));
  Curve curve;
  for (size_t o = 0; o < kOverlaps; ++o) {
    std::vector<double> recalls;
    std::vector<double> precisions;
    double right = 0.0;
    double wrong = 0.0;
    for (const RankedDetection& detection : ranked) {
      const Outcome outcome = pictures[detection.picture].outcomes[o][detection.index];
      right += outcome == Outcome::Right ? 1.0 : 0.0;
      wrong += outcome == Outcome::Wrong ? 1.0 : 0.0;
      recalls.push_back(right / static_cast<double>(counted));
      precisions.push_back(right + wrong > 0.0 ? right / (right + wrong) : 0.0);
    }
    curve.recall[o] = recalls.empty() ? 0.0 : recalls.back();
    curve.precision[o] = mean_precision(recalls, std::move(precisions));
  }
  return curve;
}

std::vector<CategoryInPicture> of_category(const Dataset& dataset, std::span<const Found> found,
                                           size_t category, int limit) {
  std::vector<CategoryInPicture> pictures(dataset.pictures.size());
  for (size_t p = 0; p < pictures.size(); ++p) {
    CategoryInPicture& picture = pictures[p];
    for (const TruthBox& truth : dataset.pictures[p].truth) {
      if (truth.category == category) picture.truth.push_back(&truth);
    }
    for (const FoundBox& box : found[p].boxes) {
      if (box.category == category) picture.found.push_back(&box);
    }
    std::stable_sort(picture.found.begin(), picture.found.end(),
                     [](const FoundBox* a, const FoundBox* b) { return a->score > b->score; });
    if (picture.found.size() > static_cast<size_t>(limit)) {
      picture.found.resize(static_cast<size_t>(limit));
    }
    for (const FoundBox* box : picture.found) {
      for (const TruthBox* truth : picture.truth) {
        picture.overlaps.push_back(overlap(box->box, truth->box, truth->is_crowd));
      }
    }
  }
  return pictures;
}

/// Of every category, where it has such objects.
using CategoryValues = std::vector<std::optional<double>>;

std::optional<double> mean_over_overlaps(const std::optional<Curve>& curve,
                                         std::array<double, kOverlaps> Curve::*member) {
  if (!curve) return std::nullopt;
  const auto& values = (*curve).*member;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(kOverlaps);
}

}  // namespace

Scores coco_scores(const Dataset& dataset, std::span<const Found> found,
                   const DetectionLimits& limits) {
  CategoryValues precision[kAreas];
  CategoryValues precision_at_50;
  CategoryValues precision_at_75;
  CategoryValues recall[kAreas];
  CategoryValues recall_of_less[2];
  Scores scores;
  for (size_t c = 0; c < dataset.categories.size(); ++c) {
    const auto pictures = of_category(dataset, found, c, limits[2]);
    for (size_t a = 0; a < kAreas; ++a) {
      std::vector<Matches> matches;
      matches.reserve(pictures.size());
      for (const CategoryInPicture& picture : pictures) {
        matches.push_back(match_objects(picture, kAreaRanges[a]));
      }
      const std::optional<Curve> curve = curve_of(matches, limits[2]);
      precision[a].push_back(mean_over_overlaps(curve, &Curve::precision));
      recall[a].push_back(mean_over_overlaps(curve, &Curve::recall));
      if (a > 0) continue;
      scores.categories.push_back({dataset.categories[c].name, precision[0].back()});
      precision_at_50.push_back(curve ? std::optional(curve->precision[0]) : std::nullopt);
      precision_at_75.push_back(curve ? std::optional(curve->precision[5]) : std::nullopt);
      for (size_t i = 0; i < 2; ++i) {
        recall_of_less[i].push_back(
            mean_over_overlaps(curve_of(matches, limits[i]), &Curve::recall));
      }
    }
  }
  const auto add = [&scores](std::string name, const CategoryValues& values) {
    scores.overall.push_back({std::move(name), mean_of(values)});
  };
  add("AP", precision[0]);
  add("AP50", precision_at_50);
  add("AP75", precision_at_75);
  for (size_t a = 1; a < kAreas; ++a) {
    add(std::string("AP") + kAreaRanges[a].suffix, precision[a]);
  }
  for (size_t i = 0; i < 2; ++i) add("AR" + std::to_string(limits[i]), recall_of_less[i]);
  add("AR" + std::to_string(limits[2]), recall[0]);
  for (size_t a = 1; a < kAreas; ++a) add(std::string("AR") + kAreaRanges[a].suffix, recall[a]);
  return scores;
}

}  // namespace het
