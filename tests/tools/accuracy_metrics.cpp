#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tools/accuracy/coco_metric.h"
#include "tools/accuracy/top_k_metric.h"
#include "tools/accuracy/voc_metric.h"

namespace het {
namespace {

using testing::ElementsAre;

Dataset dataset_of(std::vector<std::vector<TruthBox>> pictures, size_t categories = 1) {
  Dataset dataset;
  for (size_t c = 0; c < categories; ++c) {
    dataset.categories.push_back({static_cast<int64_t>(c) + 1, "c" + std::to_string(c)});
  }
  for (std::vector<TruthBox>& truth : pictures) {
    LabelledPicture picture;
    picture.truth = std::move(truth);
    dataset.pictures.push_back(std::move(picture));
  }
  return dataset;
}

TruthBox object_at(double x, double side, bool is_crowd = false, bool is_ignored = false) {
  return {{x, 0, side, side}, side * side, 0, is_crowd, is_ignored};
}

Found found_of(std::vector<FoundBox> boxes) {
  Found found;
  found.boxes = std::move(boxes);
  return found;
}

std::optional<double> score(const Scores& scores, const std::string& name) {
  for (const Score& one : scores.overall) {
    if (one.name == name) return one.value;
  }
  ADD_FAILURE() << "no " << name;
  return std::nullopt;
}

TEST(CocoMetric, PrecisionIsTheMeanOver101Recalls) {
  const Dataset dataset = dataset_of({{object_at(0, 100), object_at(200, 100)}});
  const FoundBox right{{0, 0, 100, 100}, 0.9, 0};
  const FoundBox wrong{{400, 0, 100, 100}, 0.8, 0};
  Scores scores = coco_scores(dataset, std::vector{found_of({wrong, right})});
  EXPECT_DOUBLE_EQ(*score(scores, "AP"), 51.0 / 101.0);  // recalls 0 to 0.50
  EXPECT_DOUBLE_EQ(*score(scores, "APl"), 51.0 / 101.0);
  EXPECT_EQ(score(scores, "APs"), std::nullopt);
  EXPECT_DOUBLE_EQ(*score(scores, "AR100"), 0.5);
  const FoundBox better_wrong{{400, 0, 100, 100}, 0.95, 0};
  scores = coco_scores(dataset, std::vector{found_of({better_wrong, right})});
  EXPECT_DOUBLE_EQ(*score(scores, "AP"), 0.5 * 51.0 / 101.0);
  EXPECT_DOUBLE_EQ(*score(scores, "AR1"), 0.0);
  EXPECT_DOUBLE_EQ(*score(scores, "AR10"), 0.5);
}

TEST(CocoMetric, AnOverlapCountsUpToItself) {
  const Dataset dataset = dataset_of({{object_at(0, 100)}});
  const Scores scores = coco_scores(dataset, std::vector{found_of({{{0, 0, 75, 100}, 0.9, 0}})});
  EXPECT_DOUBLE_EQ(*score(scores, "AP"), 0.6);  // of .50 to .75
  EXPECT_DOUBLE_EQ(*score(scores, "AP50"), 1.0);
  EXPECT_DOUBLE_EQ(*score(scores, "AP75"), 1.0);
  EXPECT_DOUBLE_EQ(*score(scores, "AR1"), 0.6);
}

TEST(CocoMetric, CrowdsAreNeitherMissedNorTaken) {
  const Dataset dataset = dataset_of({{object_at(300, 200, true), object_at(0, 100)}});
  const Found found = found_of(
      {{{310, 10, 20, 20}, 0.99, 0}, {{350, 10, 20, 20}, 0.98, 0}, {{0, 0, 100, 100}, 0.5, 0}});
  EXPECT_DOUBLE_EQ(*score(coco_scores(dataset, std::vector{found}), "AP"), 1.0);
  // Not in the crowd by half.
  Found beside = found;
  beside.boxes[0].box = {289, 10, 20, 20};
  EXPECT_LT(*score(coco_scores(dataset, std::vector{beside}), "AP50"), 0.6);
}

TEST(CocoMetric, AnIgnoredObjectIsTakenWhereNoOtherIs) {
  const Dataset dataset = dataset_of({{object_at(0, 100, false, true), object_at(200, 100)}});
  const Found found = found_of({{{0, 0, 100, 100}, 0.9, 0}, {{200, 0, 100, 100}, 0.8, 0}});
  EXPECT_DOUBLE_EQ(*score(coco_scores(dataset, std::vector{found}), "AP"), 1.0);
}

TEST(CocoMetric, RangesOfAreaHoldTheirBorders) {
  const Dataset dataset = dataset_of({{object_at(0, 32), object_at(200, 96)}});
  const Found found = found_of({{{0, 0, 32, 32}, 0.9, 0}});
  const Scores scores = coco_scores(dataset, std::vector{found});
  EXPECT_DOUBLE_EQ(*score(scores, "APs"), 1.0);
  EXPECT_DOUBLE_EQ(*score(scores, "APm"), 51.0 / 101.0);
  EXPECT_DOUBLE_EQ(*score(scores, "APl"), 0.0);
}

TEST(CocoMetric, CategoriesWithoutObjectsAreLeftOut) {
  const Dataset dataset = dataset_of({{object_at(0, 100)}, {}}, 2);
  const Scores scores = coco_scores(dataset, std::vector{found_of({{{0, 0, 100, 100}, 0.9, 0}}),
                                                         found_of({{{0, 0, 100, 100}, 0.9, 1}})});
  EXPECT_DOUBLE_EQ(*score(scores, "AP"), 1.0);
  ASSERT_EQ(scores.categories.size(), 2u);
  EXPECT_EQ(scores.categories[1].name, "c1");
  EXPECT_EQ(scores.categories[1].value, std::nullopt);
}

TEST(CocoMetric, LimitsCountPerPicture) {
  const Dataset dataset = dataset_of({{object_at(0, 50), object_at(100, 50), object_at(200, 50)}});
  const Found found =
      found_of({{{0, 0, 50, 50}, 0.9, 0}, {{100, 0, 50, 50}, 0.8, 0}, {{200, 0, 50, 50}, 0.7, 0}});
  const Scores scores = coco_scores(dataset, std::vector{found}, {1, 2, 3});
  EXPECT_DOUBLE_EQ(*score(scores, "AR1"), 1.0 / 3.0);
  EXPECT_DOUBLE_EQ(*score(scores, "AR2"), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(*score(scores, "AR3"), 1.0);
}

TEST(VocMetric, AreaAndElevenPoints) {
  const Dataset dataset = dataset_of(
      {{object_at(0, 100), object_at(200, 100)}, {object_at(0, 100), object_at(200, 100)}});
  const FoundBox right{{0, 0, 100, 100}, 1.0, 0};
  const FoundBox wrong{{600, 0, 100, 100}, 0.9, 0};
  FoundBox later = right;
  later.score = 0.8;
  FoundBox last = wrong;
  last.score = 0.7;
  // Right at the first and the third place: recalls 1/4 with precision 1 and 2/4 with 2/3.
  const Scores scores =
      voc_scores(dataset, std::vector{found_of({right, wrong}), found_of({later, last})});
  EXPECT_DOUBLE_EQ(*score(scores, "mAP"), 0.25 + 0.25 * 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(*score(scores, "mAP07"), (3.0 + 3.0 * 2.0 / 3.0) / 11.0);
}

TEST(VocMetric, DifficultObjectsAndDoubledDetections) {
  const Dataset dataset = dataset_of({{object_at(0, 100), object_at(200, 100, false, true)}});
  const FoundBox difficult{{200, 0, 100, 100}, 0.95, 0};
  const FoundBox right{{0, 0, 100, 100}, 0.9, 0};
  const FoundBox half{{0, 0, 50, 100}, 0.8, 0};  // overlaps by just 0.5
  EXPECT_DOUBLE_EQ(
      *score(voc_scores(dataset, std::vector{found_of({difficult, right, half})}), "mAP"), 1.0);
  EXPECT_DOUBLE_EQ(*score(voc_scores(dataset, std::vector{found_of({half})}), "mAP"), 1.0);
  FoundBox first = half;
  first.box.width = 49;
  first.score = 0.99;
  EXPECT_DOUBLE_EQ(*score(voc_scores(dataset, std::vector{found_of({first, right})}), "mAP"), 0.5);
}

TEST(TopKMetric, FirstAndFirstFive) {
  Dataset dataset = dataset_of({{}, {}, {}, {}}, 7);
  for (size_t p = 0; p < 4; ++p) dataset.pictures[p].category = p / 2;
  std::vector<Found> found(4);
  found[0].ranking = {0, 1, 2, 3, 4};
  found[1].ranking = {1, 0, 2, 3, 4};
  found[2].ranking = {kNoCategory, 5, 2, 3, 1};
  found[3].ranking = {6, 5, 2, 3, 0};
  const Scores scores = top_k_scores(dataset, found);
  EXPECT_DOUBLE_EQ(*score(scores, "top-1"), 0.25);
  EXPECT_DOUBLE_EQ(*score(scores, "top-5"), 0.75);
  EXPECT_DOUBLE_EQ(*scores.categories[0].value, 0.5);
  EXPECT_DOUBLE_EQ(*scores.categories[1].value, 0.0);
  EXPECT_EQ(scores.categories[2].value, std::nullopt);
}

TEST(TopKMetric, EqualScoresKeepTheirOrderAndNanIsLast) {
  const std::vector<float> values = {NAN, 1, 3, 3, 2};
  EXPECT_THAT(largest(values, 10), ElementsAre(2, 3, 4, 1, 0));
  EXPECT_THAT(largest(values, 2), ElementsAre(2, 3));
}

}  // namespace
}  // namespace het
