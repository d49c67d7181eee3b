#include "inference/motion/motion_detector.h"

#include <gtest/gtest.h>

#include <tuple>

#include "tests/guarded_memory.h"
#include "tests/inference/motion/drawn_scene.h"

namespace het::motion_tests {
namespace {

constexpr int kLearning = motion::kLearningFrames;

/// Frames of `count` in which something moves.
int moving_frames(DrawnScene& scene, MotionDetector& detector, int count) {
  int moving = 0;
  for (int i = 0; i < count; ++i) moving += scene.show(detector).moves;
  return moving;
}

TEST(MotionDetector, AStillSceneIsStillHoweverNoisyItIs) {
  for (const float noise : {0.0f, 2.0f, 8.0f, 20.0f}) {
    DrawnScene scene(640, 384);
    scene.noise = noise;
    MotionDetector detector;
    EXPECT_TRUE(scene.show(detector, kLearning).moves) << "nothing is known yet";
    EXPECT_EQ(moving_frames(scene, detector, 60), 0) << noise;
  }
}

TEST(MotionDetector, NoiseThatGrowsIsNoMotionForLong) {
  // At night a camera turns its gain up at once. The second picture is not reduced.
  for (const auto& [width, height, noise] :
       {std::tuple{640, 384, 15.0f}, {320, 192, 25.0f}, {320, 192, 10.0f}}) {
    DrawnScene scene(width, height);
    MotionDetector detector;
    scene.show(detector, kLearning);
    scene.noise = noise;
    moving_frames(scene, detector, 40);
    EXPECT_EQ(moving_frames(scene, detector, 60), 0) << width << " " << noise;
  }
}

TEST(MotionDetector, ObjectsSlowAndFastAreFound) {
  for (const int speed : {1, 3, 10, 40, 100}) {
    DrawnScene scene(1024, 512);
    MotionDetector detector;
    scene.show(detector, kLearning + 5);
    int found = 0;
    int frames = 0;
    for (Rect object{40, 300, 60, 80}; object.x < 900 && frames < 30; object.x += speed) {
      scene.objects = {object};
      const MotionFrame frame = scene.show(detector);
      ++frames;
      EXPECT_TRUE(frame.moves) << speed << " at " << object.x;
      found += covered(object, frame.regions) > 0.5;
    }
    EXPECT_GE(found, 0.9 * (frames - 1)) << "the first is not told (min-persistence), at " << speed;
  }
}

TEST(MotionDetector, OneInEveryCornerAndAtEveryBorder) {
  for (const auto& [width, height] : {std::pair{641, 387}, {903, 507}, {322, 181}}) {
    for (const int x : {0, width / 2, width - 30}) {
      for (const int y : {0, height / 2, height - 26}) {
        DrawnScene scene(width, height);
        MotionDetector detector;
        scene.show(detector, kLearning + 2);
        const Rect object{x, y, 30, 26};
        scene.objects = {object};
        const MotionFrame frame = scene.show(detector, 2);
        ASSERT_EQ(frame.regions.size(), 1u) << width << "x" << height << " at " << x << "," << y;
        EXPECT_GT(covered(object, frame.regions), 0.5);
        const Rect& region = frame.regions[0];
        EXPECT_TRUE(region.x >= 0 && region.y >= 0 && region.x + region.width <= width &&
                    region.y + region.height <= height);
      }
    }
  }
}

TEST(MotionDetector, ABlockAtTheBorderHasThePixelsThatItHas) {
  DrawnScene scene(640, 392);  // 8 rows are left for the last blocks
  MotionDetector detector;
  scene.show(detector, kLearning + 2);
  scene.objects = {{200, 384, 24, 8}};
  const MotionFrame frame = scene.show(detector, 2);
  ASSERT_EQ(frame.regions.size(), 1u);
  EXPECT_EQ(frame.regions[0], (Rect{192, 384, 64, 8}));
}

TEST(MotionDetector, TinyPicturesAndRowsWithPadding) {
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 3}, {17, 5}, {64, 64}}) {
    DrawnScene scene(width, height);
    MotionDetector detector;
    scene.show(detector, 30);
  }
  // The same pictures, one with bytes between the rows that never stay the same.
  DrawnScene packed(640, 360);
  DrawnScene padded(640, 360, 704);
  packed.noise = padded.noise = 0.0f;
  MotionDetector one;
  MotionDetector other;
  for (int i = 0; i < 30; ++i) {
    if (i > 12) packed.objects = padded.objects = {{i * 10, 100, 50, 50}};
    EXPECT_EQ(packed.show(one).regions, padded.show(other).regions);
  }
}

TEST(MotionDetector, NoByteOutsideOfThePlaneIsRead) {
  for (const auto& [width, height] : {std::pair{1283, 719}, {1, 1}, {33, 7}, {4001, 2203}}) {
    const int64_t stride = width + 3;
    const BufferPtr memory = guarded_memory(static_cast<size_t>(stride * (height - 1) + width));
    const LumaPlane plane{reinterpret_cast<const uint8_t*>(memory->host()), stride, width, height};
    MotionDetector detector;
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(detector.update(plane).has_value());
  }
}

TEST(MotionDetector, SmallObjectsCountAsTheSettingsSay) {
  const auto is_found = [](const MotionSettings& settings, int side) {
    DrawnScene scene(1280, 720);
    MotionDetector detector(settings);
    scene.show(detector, kLearning + 2);
    scene.objects = {{600, 300, side, side}};
    return !scene.show(detector, 2).regions.empty();
  };
  MotionSettings settings;
  EXPECT_TRUE(is_found(settings, 40));
  EXPECT_FALSE(is_found(settings, 8)) << "less than motion-threshold of its block";
  settings.block_size = 16;
  settings.min_rel_area = 0.0;
  EXPECT_TRUE(is_found(settings, 12));
  settings.min_rel_area = 0.01;
  EXPECT_FALSE(is_found(settings, 40)) << "less than min-rel-area of the picture";
  settings = {};
  settings.motion_threshold = 0.5;
  EXPECT_FALSE(is_found(settings, 40));
  settings = {};
  settings.pixel_diff_threshold = 250;
  EXPECT_FALSE(is_found(settings, 40));
}

TEST(MotionDetector, WhatIsTooSmallForARegionMovesAllTheSame) {
  DrawnScene scene(640, 384);
  MotionDetector detector;
  scene.show(detector, kLearning + 2);
  scene.objects = {{300, 200, 10, 10}};
  const MotionFrame frame = scene.show(detector, 3);
  EXPECT_TRUE(frame.moves);
  EXPECT_TRUE(frame.regions.empty());
  scene.objects = {{300, 200, 3, 3}};
  EXPECT_FALSE(scene.show(detector, 3).moves) << "nor is everything motion";
}

TEST(MotionDetector, ConfirmFramesKeepsShortMotionOut) {
  MotionSettings settings;
  settings.confirm_frames = 3;
  DrawnScene scene(640, 384);
  MotionDetector detector(settings);
  scene.show(detector, kLearning + 2);
  scene.objects = {{100, 100, 60, 60}};
  EXPECT_FALSE(scene.show(detector, 2).moves);
  EXPECT_TRUE(scene.show(detector).moves);
}

TEST(MotionDetector, ALampIsNoMotionOfEverything) {
  struct Lamp {
    float gain, slope, offset;
  };
  for (const auto& [gain, slope, offset] :
       {Lamp{1.4f, 0.0f, 0.0f}, {0.5f, 0.0f, 0.0f}, {1.0f, 0.0f, 40.0f}, {1.2f, 0.15f, 5.0f}}) {
    DrawnScene scene(640, 384);
    MotionDetector detector;
    scene.show(detector, kLearning + 10);
    scene.gain = gain;
    scene.slope = slope;
    scene.offset = offset;
    const MotionFrame first = scene.show(detector);
    EXPECT_TRUE(first.light_changed) << gain << " " << offset;
    EXPECT_TRUE(first.moves) << "worth a look";
    EXPECT_TRUE(first.regions.empty());
    EXPECT_EQ(moving_frames(scene, detector, 50), 0) << gain << " " << offset;
  }
}

TEST(MotionDetector, SlowLightIsNoMotionAtAll) {
  DrawnScene scene(640, 384);
  MotionDetector detector;
  scene.show(detector, kLearning + 2);
  int moving = 0;
  for (int i = 0; i < 200; ++i) {
    scene.gain = 1.0f + 0.25f * std::sin(static_cast<float>(i) / 8.0f);
    scene.slope = 0.1f * std::sin(static_cast<float>(i) / 25.0f);
    moving += scene.show(detector).moves;
  }
  EXPECT_EQ(moving, 0);
}

TEST(MotionDetector, AnObjectIsFoundWhileTheLightChanges) {
  DrawnScene scene(640, 384);
  MotionDetector detector;
  scene.show(detector, kLearning + 2);
  for (int i = 0; i < 40; ++i) {
    scene.gain = 1.0f + 0.01f * static_cast<float>(i);
    if (i == 20) scene.gain = 0.7f;  // and on
    const Rect object{40 + 10 * i, 150, 50, 70};
    scene.objects = {object};
    const MotionFrame frame = scene.show(detector);
    EXPECT_TRUE(frame.moves) << i;
    if (i > 2 && i != 20 && i != 21) {
      EXPECT_GT(covered(object, frame.regions), 0.6) << i;
    }
  }
}

TEST(MotionDetector, AnotherSceneIsLearntAtOnceAndAPanIsMotion) {
  DrawnScene scene(640, 384);
  MotionDetector detector;
  scene.show(detector, kLearning + 2);
  scene.objects = {{0, 0, 640, 300}};
  EXPECT_TRUE(scene.show(detector).light_changed);
  EXPECT_EQ(moving_frames(scene, detector, 20), 0);
  // Everything moves, frame after frame.
  MotionFrame frame;
  for (int i = 0; i < 8; ++i) {
    scene.objects = {{0, 0, 640, i % 2 ? 300 : 10}};
    frame = scene.show(detector);
    EXPECT_TRUE(frame.moves);
  }
  EXPECT_GT(covered({0, 20, 640, 270}, frame.regions), 0.9);
}

TEST(MotionDetector, WhatHasStoppedBelongsToTheBackgroundAfterAWhile) {
  DrawnScene scene(640, 384);
  MotionDetector detector;
  scene.show(detector, kLearning + 2);
  scene.objects = {{200, 200, 60, 60}};
  EXPECT_GE(moving_frames(scene, detector, 60), 60) << "it has only just stopped";
  scene.show(detector, 140);
  EXPECT_EQ(moving_frames(scene, detector, 20), 0);
}

TEST(MotionDetector, WhatPassesLeavesNoTrace) {
  DrawnScene scene(640, 384);
  MotionDetector detector;
  scene.show(detector, kLearning + 2);
  scene.objects = {{200, 200, 60, 60}};
  scene.show(detector, 80);
  scene.objects.clear();
  EXPECT_EQ(moving_frames(scene, detector, 20), 0);
}

TEST(MotionDetector, ResetAnotherSizeAndOtherBlocks) {
  DrawnScene scene(640, 384);
  DrawnScene other(320, 240);
  MotionDetector detector;
  EXPECT_FALSE(scene.show(detector, kLearning + 2).moves);
  EXPECT_TRUE(other.show(detector).is_learning);
  EXPECT_TRUE(scene.show(detector).is_learning);
  scene.show(detector, kLearning);
  detector.reset();
  EXPECT_TRUE(scene.show(detector).is_learning);
  EXPECT_FALSE(scene.show(detector, kLearning).moves);
  MotionSettings settings;
  settings.block_size = 16;
  detector.configure(settings);
  EXPECT_FALSE(scene.show(detector, 5).moves) << "the background stays";
  scene.objects = {{100, 100, 14, 14}};
  const MotionFrame frame = scene.show(detector, 2);
  ASSERT_EQ(frame.regions.size(), 1u);
  EXPECT_LE(frame.regions[0].width, 32);
}

TEST(MotionDetector, APlaneThatIsNoneIsAnError) {
  MotionDetector detector;
  const std::vector<uint8_t> pixels(64);
  for (const LumaPlane& plane : {LumaPlane{nullptr, 8, 8, 8},
                                 {pixels.data(), 7, 8, 8},
                                 {pixels.data(), 8, 0, 8},
                                 {pixels.data(), 8, 8, -1}}) {
    const auto result = detector.update(plane);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), StatusCode::InvalidArgument);
  }
}

}  // namespace
}  // namespace het::motion_tests
