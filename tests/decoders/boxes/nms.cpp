#include "inference/decoders/boxes/nms.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace het {
namespace {

Candidate box(float x, float y, float size, float score, int label = 0, int64_t row = 0) {
  return {x, y, x + size, y + size, score, label, row};
}

std::vector<Candidate> random_candidates(uint32_t seed, size_t count) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> place(0.0f, 60.0f);
  std::uniform_int_distribution<int> tenths(0, 10);
  std::vector<Candidate> candidates;
  for (size_t i = 0; i < count; ++i) {
    // Scores repeat, so that the order of equals matters.
    const float score = static_cast<float>(tenths(random)) / 10.0f;
    candidates.push_back(box(place(random), place(random), 20.0f, score, tenths(random) % 3,
                             static_cast<int64_t>(i)));
  }
  return candidates;
}

TEST(Nms, IntersectionOverUnion) {
  EXPECT_FLOAT_EQ(intersection_over_union(box(0, 0, 10, 1), box(0, 0, 10, 1)), 1.0f);
  EXPECT_FLOAT_EQ(intersection_over_union(box(0, 0, 10, 1), box(5, 0, 10, 1)), 50.0f / 150.0f);
  EXPECT_EQ(intersection_over_union(box(0, 0, 10, 1), box(10, 0, 10, 1)), 0.0f);
  EXPECT_EQ(intersection_over_union(box(0, 0, 0, 1), box(0, 0, 10, 1)), 0.0f);
  const Candidate turned{10, 10, 0, 0, 1, 0};
  EXPECT_EQ(intersection_over_union(turned, box(0, 0, 10, 1)), 0.0f);
}

TEST(Nms, KeepsTheBestOfAClassAndEveryClass) {
  const auto kept = non_maximum_suppression(
      {box(0, 0, 10, 0.5f, 1), box(1, 0, 10, 0.9f, 1), box(1, 0, 10, 0.7f, 2)}, 0.5f);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_FLOAT_EQ(kept[0].score, 0.9f);
  EXPECT_EQ(kept[1].label_id, 2);
}

TEST(Nms, EqualScoresKeepTheirOrder) {
  const auto kept = non_maximum_suppression(
      {box(0, 0, 10, 0.5f, 0, 7), box(0, 0, 10, 0.5f, 0, 8), box(50, 0, 10, 0.5f, 0, 9)}, 0.5f);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].row, 7);
  EXPECT_EQ(kept[1].row, 9);
}

TEST(Nms, DropsWhatIsNotFinite) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const auto kept =
      non_maximum_suppression({box(0, 0, 10, nan), box(0, 0, 10, infinity), box(nan, 0, 10, 0.9f),
                               box(0, 0, infinity, 0.9f), box(0, 0, 10, 0.1f)},
                              0.5f);
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_FLOAT_EQ(kept[0].score, 0.1f);
}

TEST(Nms, HoldsItsPropertiesOnRandomBoxes) {
  for (uint32_t seed = 0; seed < 50; ++seed) {
    const auto candidates = random_candidates(seed, 120);
    const float threshold = static_cast<float>(seed % 10) / 10.0f;
    const auto kept = non_maximum_suppression(candidates, threshold);
    ASSERT_FALSE(kept.empty()) << "seed " << seed;
    for (size_t i = 0; i < kept.size(); ++i) {
      if (i > 0) {
        EXPECT_GE(kept[i - 1].score, kept[i].score) << "seed " << seed;
      }
      for (size_t j = 0; j < i; ++j) {
        if (kept[i].label_id != kept[j].label_id) continue;
        EXPECT_LE(intersection_over_union(kept[i], kept[j]), threshold) << "seed " << seed;
      }
    }
    // Everything that is gone overlaps a kept box of its class that is at least as good.
    for (const Candidate& candidate : candidates) {
      const bool explained = std::any_of(kept.begin(), kept.end(), [&](const Candidate& k) {
        return k.row == candidate.row ||
               (k.label_id == candidate.label_id && k.score >= candidate.score &&
                intersection_over_union(k, candidate) > threshold);
      });
      EXPECT_TRUE(explained) << "seed " << seed << " row " << candidate.row;
    }
    EXPECT_EQ(non_maximum_suppression(kept, threshold).size(), kept.size()) << "seed " << seed;
  }
}

TEST(Nms, BoundsTheNumberOfCandidates) {
  std::vector<Candidate> candidates(kMaxCandidates + 100, box(0, 0, 1, 0.5f));
  candidates.back().score = 0.9f;
  const auto sorted = sorted_by_score(candidates);
  ASSERT_EQ(sorted.size(), kMaxCandidates);
  EXPECT_FLOAT_EQ(sorted.front().score, 0.9f);
}

TEST(FastSuppression, ABoxThatGoesSuppressesToo) {
  // Each overlaps the next by more than half, the first and the last by less.
  const std::vector<Candidate> chain{{0, 0, 10, 10, 0.9f, 0},
                                     {3, 0, 13, 10, 0.8f, 0},
                                     {6, 0, 16, 10, 0.7f, 0},
                                     {6, 0, 16, 10, 0.6f, 1}};
  EXPECT_EQ(non_maximum_suppression(chain, 0.5f).size(), 3u);
  const std::vector<Candidate> kept = fast_suppression(chain, 0.5f, intersection_over_union);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_FLOAT_EQ(kept[0].score, 0.9f);
  EXPECT_EQ(kept[1].label_id, 1);
}

}  // namespace
}  // namespace het
