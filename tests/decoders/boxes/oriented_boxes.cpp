#include "inference/decoders/boxes/oriented_boxes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace het {
namespace {

constexpr float kQuarter = std::numbers::pi_v<float> / 2.0f;

Candidate turned(float x, float y, float width, float height, float rotation, float score = 1.0f) {
  Candidate candidate = centred_candidate(x, y, width, height, score, 0);
  candidate.rotation = rotation;
  return candidate;
}

TEST(OrientedBoxes, EqualBoxesShareNearlyAll) {
  // The published formula's epsilons leave sqrt(2e-7).
  EXPECT_NEAR(probabilistic_iou(turned(50, 40, 20, 8, 0.3f), turned(50, 40, 20, 8, 0.3f)), 0.99955,
              1e-4);
  // A square turned by any angle has the same covariance.
  EXPECT_NEAR(probabilistic_iou(turned(0, 0, 10, 10, 0.0f), turned(0, 0, 10, 10, 0.7f)), 0.99955,
              1e-4);
}

TEST(OrientedBoxes, ShiftedByHalfItsSide) {
  // Covariance 12 * 12 / 12 = 12 each: (24 * 36) / (24 * 24) / 4 = 0.375; 1 - sqrt(1 - e^-0.375).
  EXPECT_NEAR(probabilistic_iou(turned(0, 0, 12, 12, 0.0f), turned(6, 0, 12, 12, 0.0f)),
              1.0 - std::sqrt(1.0 - std::exp(-0.375)), 1e-5);
}

TEST(OrientedBoxes, TurnedByAQuarter) {
  // Covariances (48, 12) and (12, 48): ln(3600 / 2304) / 2 = -ln 0.8; 1 - sqrt(1 - 0.8).
  EXPECT_NEAR(probabilistic_iou(turned(5, 5, 24, 12, 0.0f), turned(5, 5, 24, 12, kQuarter)),
              1.0 - std::sqrt(0.2), 1e-5);
  // Turned and with its sides exchanged it is the same box.
  EXPECT_NEAR(probabilistic_iou(turned(5, 5, 24, 12, 0.0f), turned(5, 5, 12, 24, kQuarter)),
              0.99955, 1e-4);
}

TEST(OrientedBoxes, ShiftsAreSeenInTheTurnedDirection) {
  // A box along the diagonal overlaps one further along it more than one across it.
  const Candidate box = turned(0, 0, 40, 4, kQuarter / 2.0f);
  const float along = probabilistic_iou(box, turned(5, 5, 40, 4, kQuarter / 2.0f));
  const float across = probabilistic_iou(box, turned(5, -5, 40, 4, kQuarter / 2.0f));
  EXPECT_GT(along, 0.5f);
  EXPECT_LT(across, 0.1f);
}

TEST(OrientedBoxes, BoxesWithoutAreaShareNothing) {
  EXPECT_EQ(probabilistic_iou(turned(0, 0, 0, 5, 0), turned(0, 0, 5, 5, 0)), 0.0f);
  EXPECT_EQ(probabilistic_iou(turned(0, 0, 5, -5, 0), turned(0, 0, 5, 5, 0)), 0.0f);
  EXPECT_LT(probabilistic_iou(turned(0, 0, 5, 5, 0), turned(1e6f, 0, 5, 5, 0)), 1e-3f);
}

TEST(OrientedBoxes, SuppressionTakesTheOverlapItIsGiven) {
  // Crossing long boxes: their upright rectangles are equal, the boxes share little.
  const float angle = kQuarter / 2.0f;
  const std::vector<Candidate> crossing{turned(0, 0, 40, 4, angle, 0.9f),
                                        turned(0, 0, 40, 4, -angle, 0.8f)};
  EXPECT_EQ(non_maximum_suppression(crossing, 0.5f).size(), 1u);
  EXPECT_EQ(non_maximum_suppression(crossing, 0.5f, probabilistic_iou).size(), 2u);
}

}  // namespace
}  // namespace het
