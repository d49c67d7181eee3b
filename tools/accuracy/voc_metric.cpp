#include "tools/accuracy/voc_metric.h"

#include <algorithm>
#include <vector>

namespace het {
namespace {

constexpr double kVocOverlap = 0.5;

struct Ranked {
  const FoundBox* box;
  size_t picture;
};

std::vector<Ranked> ranked_of(std::span<const Found> found, size_t category) {
  std::vector<Ranked> ranked;
  for (size_t p = 0; p < found.size(); ++p) {
    for (const FoundBox& box : found[p].boxes) {
      if (box.category == category) ranked.push_back({&box, p});
    }
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Ranked& a, const Ranked& b) { return a.box->score > b.box->score; });
  return ranked;
}

bool is_difficult(const TruthBox& truth) {
  return truth.is_ignored || truth.is_crowd;
}

/// A precision-recall curve.
struct VocCurve {
  std::vector<double> recalls;
  std::vector<double> precisions;
  size_t counted = 0;  ///< objects that are to be found
};

VocCurve voc_curve(const Dataset& dataset, std::span<const Found> found, size_t category) {
  VocCurve curve;
  std::vector<std::vector<bool>> is_taken;
  for (const LabelledPicture& picture : dataset.pictures) {
    is_taken.emplace_back(picture.truth.size());
    for (const TruthBox& truth : picture.truth) {
      curve.counted += truth.category == category && !is_difficult(truth) ? 1 : 0;
    }
  }
  if (curve.counted == 0) return curve;
  double right = 0.0;
  double wrong = 0.0;
  for (const Ranked& ranked : ranked_of(found, category)) {
    const std::vector<TruthBox>& objects = dataset.pictures[ranked.picture].truth;
    size_t best = objects.size();
    double most = kVocOverlap;
    for (size_t t = 0; t < objects.size(); ++t) {
      if (objects[t].category != category) continue;
      const double shared = overlap(ranked.box->box, objects[t].box, false);
      if (best == objects.size() ? shared < most : shared <= most) continue;
      most = shared;
      best = t;
    }
    if (best < objects.size() && is_difficult(objects[best])) continue;
    const bool is_right = best < objects.size() && !is_taken[ranked.picture][best];
    if (is_right) is_taken[ranked.picture][best] = true;
    (is_right ? right : wrong) += 1.0;
    curve.recalls.push_back(right / static_cast<double>(curve.counted));
    curve.precisions.push_back(right / (right + wrong));
  }
  return curve;
}

/// The best precision at this recall or above; 0 where it is not reached.
double precision_at(const VocCurve& curve, double recall) {
  double best = 0.0;
  for (size_t i = 0; i < curve.recalls.size(); ++i) {
    if (curve.recalls[i] >= recall) best = std::max(best, curve.precisions[i]);
  }
  return best;
}

double area_under(const VocCurve& curve) {
  double area = 0.0;
  double ceiling = 0.0;
  for (size_t i = curve.recalls.size(); i > 0; --i) {
    ceiling = std::max(ceiling, curve.precisions[i - 1]);
    area += ceiling * (curve.recalls[i - 1] - (i > 1 ? curve.recalls[i - 2] : 0.0));
  }
  return area;
}

double mean_of_eleven(const VocCurve& curve) {
  double sum = 0.0;
  for (int i = 0; i <= 10; ++i) sum += precision_at(curve, i / 10.0);
  return sum / 11.0;
}

}  // namespace

Scores voc_scores(const Dataset& dataset, std::span<const Found> found) {
  Scores scores;
  std::vector<std::optional<double>> areas;
  std::vector<std::optional<double>> means_of_eleven;
  for (size_t c = 0; c < dataset.categories.size(); ++c) {
    const VocCurve curve = voc_curve(dataset, found, c);
    std::optional<double> area;
    std::optional<double> mean_precision;
    if (curve.counted > 0) {
      area = area_under(curve);
      mean_precision = mean_of_eleven(curve);
    }
    scores.categories.push_back({dataset.categories[c].name, area});
    areas.push_back(area);
    means_of_eleven.push_back(mean_precision);
  }
  scores.overall.push_back({"mAP", mean_of(areas)});
  scores.overall.push_back({"mAP07", mean_of(means_of_eleven)});
  return scores;
}

}  // namespace het
