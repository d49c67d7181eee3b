#include "serving/tune/detections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace het::serving {
namespace {

using Object = RecordedFrame::Object;

const Object kCar{"car", 0.1, 0.1, 0.2, 0.2, 0.9, {"color=red"}};
const Object kBall{"ball", 0.6, 0.6, 0.1, 0.1, 0.8, {}};

TEST(Detections, TheSameIsTheSame) {
  const Recording given = {{"d", {{kCar, kBall}, {}, {kBall}}}};
  const Recording other = {{"d", {{kBall, kCar}, {}, {kBall}}}};
  const DetectionDifference difference = compare_recordings(given, other);
  EXPECT_EQ(difference.frames, 3u);
  EXPECT_EQ(difference.objects, 6u);
  EXPECT_FALSE(difference.exceeds(0)) << difference.text();
  EXPECT_EQ(objects_of(given), 3u);
}

TEST(Detections, EachKindOfDifferenceCounts) {
  const Recording given = {{"d", {{kCar, kBall}}}};
  const auto differs = [&](std::vector<Object> objects) {
    return compare_recordings(given, {{"d", {std::move(objects)}}});
  };
  EXPECT_DOUBLE_EQ(differs({kCar}).unmatched, 1.0 / 3);
  EXPECT_DOUBLE_EQ(differs({kCar, kBall, kBall}).unmatched, 1.0 / 5) << "a partner is had once";
  Object other = kCar;
  other.label = "truck";
  EXPECT_DOUBLE_EQ(differs({other, kBall}).unmatched, 0.5);
  other = kCar;
  other.left += 0.02;  // an IoU of 0.18 / 0.22
  EXPECT_NEAR(differs({other, kBall}).box, (1 - 9.0 / 11) / 2, 1e-9);
  other.left = 0.2;
  EXPECT_DOUBLE_EQ(differs({other, kBall}).unmatched, 0.5) << "an IoU below 0.5";
  other = kCar;
  other.confidence = 0.7;
  EXPECT_NEAR(differs({other, kBall}).confidence, 0.1, 1e-9);
  other = kCar;
  other.attributes = {"color=blue"};
  EXPECT_DOUBLE_EQ(differs({other, kBall}).attributes, 0.5);
  EXPECT_TRUE(differs({other, kBall}).exceeds(0.4));
  EXPECT_FALSE(differs({other, kBall}).exceeds(0.5));
  EXPECT_THAT(differs({other, kBall}).text(), testing::HasSubstr("attributes 50.0 %"));
}

TEST(Detections, FramesBetweenMayBeLeftOut) {
  const Recording given = {{"d", {{kCar}, {kCar}, {kCar}, {kCar}}}};
  const Recording other = {{"d", {{kCar}, {}, {kCar}}}};
  EXPECT_TRUE(compare_recordings(given, other).exceeds(0.1));
  EXPECT_FALSE(compare_recordings(given, other, 2).exceeds(0));
}

TEST(Detections, TheLargestOverlapComesFirst) {
  Object near = kCar;
  near.left += 0.01;
  // In the order of the frame kCar would take `near` and leave its equal alone.
  const Recording given = {{"d", {{kCar, near}}}};
  const Recording other = {{"d", {{near, kCar}}}};
  EXPECT_NEAR(compare_recordings(given, other).box, 0, 1e-9);
}

}  // namespace
}  // namespace het::serving
