#include <gtest/gtest.h>

#include "inference/preprocess/preprocess.h"

namespace het {
namespace {

PictureGeometry geometry_of(ResizeMode mode, const Rect& roi, int width, int height) {
  PreprocessDesc desc;
  desc.resize = mode;
  const auto geometry = picture_geometry(desc, roi, width, height);
  EXPECT_TRUE(geometry.has_value()) << geometry.error().message();
  return geometry.value_or(PictureGeometry{});
}

/// The corners of the destination must map to the corners of the source.
void expect_corners_map(const PictureGeometry& g) {
  const PictureTransform& t = g.transform;
  EXPECT_NEAR(g.destination.x * t.scale_x + t.offset_x, g.source.x, 1e-2);
  EXPECT_NEAR(g.destination.y * t.scale_y + t.offset_y, g.source.y, 1e-2);
  EXPECT_NEAR((g.destination.x + g.destination.width) * t.scale_x + t.offset_x,
              g.source.x + g.source.width, 1e-2);
  EXPECT_NEAR((g.destination.y + g.destination.height) * t.scale_y + t.offset_y,
              g.source.y + g.source.height, 1e-2);
}

TEST(PictureGeometry, StretchUsesTheWholeTensor) {
  const PictureGeometry g = geometry_of(ResizeMode::Stretch, {10, 20, 300, 100}, 416, 416);
  EXPECT_EQ(g.source, (Rect{10, 20, 300, 100}));
  EXPECT_EQ(g.destination, (Rect{0, 0, 416, 416}));
  EXPECT_FLOAT_EQ(g.transform.scale_x, 300.0f / 416.0f);
  EXPECT_FLOAT_EQ(g.transform.scale_y, 100.0f / 416.0f);
  EXPECT_FLOAT_EQ(g.transform.offset_x, 10.0f);
  EXPECT_FLOAT_EQ(g.transform.offset_y, 20.0f);
}

TEST(PictureGeometry, ABorderStaysPadding) {
  PreprocessDesc desc;
  desc.border_x = 8;
  desc.border_y = 6;
  const auto geometry = [&](ResizeMode mode) {
    desc.resize = mode;
    const auto found = picture_geometry(desc, {0, 0, 480, 100}, 256, 112);
    EXPECT_TRUE(found) << found.error().message();
    expect_corners_map(*found);
    return *found;
  };
  // Inside are 240x100 pixels; 100 * 240 / 480 = 50 rows, 25 above and below.
  EXPECT_EQ(geometry(ResizeMode::Stretch).destination, (Rect{8, 6, 240, 100}));
  EXPECT_EQ(geometry(ResizeMode::LetterboxCentre).destination, (Rect{8, 31, 240, 50}));
  EXPECT_EQ(geometry(ResizeMode::LetterboxTopLeft).destination, (Rect{0, 0, 240, 50}));
  const PictureGeometry crop = geometry(ResizeMode::CentralCrop);
  EXPECT_EQ(crop.destination, (Rect{8, 6, 240, 100}));
  EXPECT_EQ(crop.source, (Rect{120, 0, 240, 100}));
  desc.border_y = 56;
  EXPECT_FALSE(picture_geometry(desc, {0, 0, 480, 100}, 256, 112));
  desc.border_y = -1;
  EXPECT_FALSE(picture_geometry(desc, {0, 0, 480, 100}, 256, 112));
}

TEST(PictureGeometry, LetterboxTopLeftRoundsDownAsYoloxDoes) {
  const PictureGeometry wide =
      geometry_of(ResizeMode::LetterboxTopLeft, {0, 0, 1920, 1080}, 416, 416);
  EXPECT_EQ(wide.destination, (Rect{0, 0, 416, 234}));
  // 416 * 768 / 576 = 554.67 is too high; 416 * 576 / 768 = 312; 416 * 533 / 800 = 277.16.
  EXPECT_EQ(geometry_of(ResizeMode::LetterboxTopLeft, {0, 0, 576, 768}, 416, 416).destination,
            (Rect{0, 0, 312, 416}));
  EXPECT_EQ(geometry_of(ResizeMode::LetterboxTopLeft, {0, 0, 800, 533}, 416, 416).destination,
            (Rect{0, 0, 416, 277}));
  // 416 * 639 / 640 = 415.35, and 0.99 is rounded down too.
  EXPECT_EQ(geometry_of(ResizeMode::LetterboxTopLeft, {0, 0, 640, 639}, 416, 416).destination,
            (Rect{0, 0, 416, 415}));
  EXPECT_EQ(geometry_of(ResizeMode::LetterboxTopLeft, {0, 0, 100, 199}, 100, 99).destination,
            (Rect{0, 0, 49, 99}));
}

TEST(PictureGeometry, WholeRatiosLoseNoPixel) {
  // 49 * (1.0 / 49) is below 1 in floating point.
  for (int size = 1; size < 2000; ++size) {
    const PictureGeometry g =
        geometry_of(ResizeMode::LetterboxTopLeft, {0, 0, size, size}, 416, 416);
    ASSERT_EQ(g.destination, (Rect{0, 0, 416, 416})) << size;
  }
}

TEST(PictureGeometry, LetterboxCentreRoundsToNearestAndPadsTheOddPixelBelow) {
  EXPECT_EQ(geometry_of(ResizeMode::LetterboxCentre, {0, 0, 1920, 1080}, 640, 640).destination,
            (Rect{0, 140, 640, 360}));
  // 640 * 533 / 800 = 426.4; (640 - 426) / 2 = 107.
  EXPECT_EQ(geometry_of(ResizeMode::LetterboxCentre, {0, 0, 800, 533}, 640, 640).destination,
            (Rect{0, 107, 640, 426}));
  // 100 * 67 / 99 = 67.68: nearest is 68; the 32 rows left are 16 and 16.
  EXPECT_EQ(geometry_of(ResizeMode::LetterboxCentre, {0, 0, 99, 67}, 100, 100).destination,
            (Rect{0, 16, 100, 68}));
  // An odd rest: 101 - 68 = 33 is 16 above and 17 below.
  EXPECT_EQ(geometry_of(ResizeMode::LetterboxCentre, {0, 0, 100, 68}, 100, 101).destination,
            (Rect{0, 16, 100, 68}));
}

TEST(PictureGeometry, ExtremeAspectKeepsAtLeastOnePixel) {
  for (const ResizeMode mode : {ResizeMode::LetterboxCentre, ResizeMode::LetterboxTopLeft}) {
    EXPECT_EQ(geometry_of(mode, {0, 0, 60000, 1}, 300, 300).destination.height, 1);
    EXPECT_EQ(geometry_of(mode, {0, 0, 1, 60000}, 300, 300).destination.width, 1);
  }
  EXPECT_EQ(geometry_of(ResizeMode::CentralCrop, {0, 0, 60000, 1}, 1, 300).source.width, 1);
}

TEST(PictureGeometry, CentralCropTakesTheMiddle) {
  EXPECT_EQ(geometry_of(ResizeMode::CentralCrop, {0, 0, 1920, 1080}, 224, 224).source,
            (Rect{420, 0, 1080, 1080}));
  EXPECT_EQ(geometry_of(ResizeMode::CentralCrop, {10, 20, 100, 301}, 50, 50).source,
            (Rect{10, 120, 100, 100}));
  const PictureGeometry g = geometry_of(ResizeMode::CentralCrop, {0, 0, 1920, 1080}, 224, 224);
  EXPECT_EQ(g.destination, (Rect{0, 0, 224, 224}));
}

TEST(PictureGeometry, TransformFollowsTheWholePixelSizes) {
  for (const ResizeMode mode : {ResizeMode::Stretch, ResizeMode::LetterboxCentre,
                                ResizeMode::LetterboxTopLeft, ResizeMode::CentralCrop}) {
    for (const Rect roi :
         {Rect{0, 0, 1920, 1080}, Rect{7, 3, 33, 457}, Rect{1, 1, 1, 1}, Rect{5, 9, 1279, 3}}) {
      expect_corners_map(geometry_of(mode, roi, 416, 320));
      expect_corners_map(geometry_of(mode, roi, 61, 97));
    }
  }
}

TEST(PictureGeometry, EmptyRoiAndTensorAreErrors) {
  const PreprocessDesc desc;
  for (const Rect roi : {Rect{0, 0, 0, 10}, Rect{0, 0, 10, 0}, Rect{5, 5, -1, 10}}) {
    const auto geometry = picture_geometry(desc, roi, 10, 10);
    ASSERT_FALSE(geometry.has_value());
    EXPECT_EQ(geometry.error().code(), StatusCode::InvalidArgument);
    EXPECT_NE(geometry.error().message().find("ROI"), std::string::npos);
  }
  EXPECT_FALSE(picture_geometry(desc, {0, 0, 10, 10}, 0, 10).has_value());
  EXPECT_FALSE(picture_geometry(desc, {0, 0, 10, 10}, 10, -4).has_value());
}

}  // namespace
}  // namespace het
