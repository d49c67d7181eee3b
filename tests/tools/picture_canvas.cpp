#include "tools/inspect/picture_canvas.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <opencv2/imgcodecs.hpp>
#include <string>

namespace het {
namespace {

constexpr int kWidth = 200;
constexpr int kHeight = 120;
constexpr Color kRed{1.0, 0.0, 0.0};
const cv::Vec3b kGrey{60, 60, 60};

std::unique_ptr<PictureCanvas> grey_canvas() {
  Image image = make_host_image(PixelFormat::BGR, kWidth, kHeight).value();
  std::fill_n(image.planes[0].buffer->host(), kWidth * kHeight * 3, std::byte{60});
  return PictureCanvas::create(image).value();
}

/// What the PNG has.
cv::Mat drawn(const PictureCanvas& canvas) {
  const std::string png = canvas.png().value();
  return cv::imdecode(
      cv::Mat(1, static_cast<int>(png.size()), CV_8U, const_cast<char*>(png.data())),
      cv::IMREAD_COLOR);
}

bool is_red(const cv::Vec3b& pixel) {
  return pixel[2] > 150 && pixel[0] < 60 && pixel[1] < 60;
}

int count_changed(const cv::Mat& picture) {
  int count = 0;
  for (int y = 0; y < picture.rows; ++y)
    for (int x = 0; x < picture.cols; ++x) count += picture.at<cv::Vec3b>(y, x) != kGrey ? 1 : 0;
  return count;
}

TEST(PictureCanvas, APictureThatNobodyDrewOnStaysAsItIs) {
  const cv::Mat picture = drawn(*grey_canvas());
  EXPECT_EQ(picture.size(), cv::Size(kWidth, kHeight));
  EXPECT_EQ(count_changed(picture), 0);
}

TEST(PictureCanvas, ColoursKeepTheirPlaces) {
  Image image = make_host_image(PixelFormat::BGR, 2, 1).value();
  const std::array<uint8_t, 6> pixels{10, 20, 30, 40, 50, 60};
  std::copy_n(reinterpret_cast<const std::byte*>(pixels.data()), 6, image.planes[0].buffer->host());
  const cv::Mat picture = drawn(*PictureCanvas::create(image).value());
  EXPECT_EQ(picture.at<cv::Vec3b>(0, 0), cv::Vec3b(10, 20, 30));
  EXPECT_EQ(picture.at<cv::Vec3b>(0, 1), cv::Vec3b(40, 50, 60));
}

TEST(PictureCanvas, ABoxHasItsSidesWhereItLies) {
  const auto canvas = grey_canvas();
  canvas->box({20.5f, 10.5f, 120.5f, 90.5f}, 0.0f, kRed);
  const cv::Mat picture = drawn(*canvas);
  for (const auto& [x, y] : {std::pair{20, 50}, {120, 50}, {70, 10}, {70, 90}})
    EXPECT_TRUE(is_red(picture.at<cv::Vec3b>(y, x))) << x << "," << y;
  for (const auto& [x, y] : {std::pair{70, 50}, {10, 50}, {140, 50}, {70, 100}})
    EXPECT_EQ(picture.at<cv::Vec3b>(y, x), kGrey) << x << "," << y;
}

TEST(PictureCanvas, ATurnedBoxIsTurnedAboutItsCentre) {
  const auto canvas = grey_canvas();
  // 80 x 20 about (100, 60), a quarter on: x 90 to 110, y 20 to 100.
  canvas->box({60.5f, 50.5f, 140.5f, 70.5f}, 1.57079633f, kRed);
  const cv::Mat picture = drawn(*canvas);
  for (const auto& [x, y] : {std::pair{90, 40}, {110, 80}, {100, 20}, {100, 100}})
    EXPECT_TRUE(is_red(picture.at<cv::Vec3b>(y, x))) << x << "," << y;
  EXPECT_EQ(picture.at<cv::Vec3b>(60, 65), kGrey);
}

TEST(PictureCanvas, HalfOfTheColourWhereTheGridIsSet) {
  const auto canvas = grey_canvas();
  canvas->blend({20.0f, 30.0f, 60.0f, 50.0f}, 2, 1, kRed, [](size_t cell) { return cell == 1; });
  const cv::Mat picture = drawn(*canvas);
  EXPECT_EQ(count_changed(picture), 20 * 20);
  for (const auto& [x, y] : {std::pair{40, 30}, {59, 49}})
    EXPECT_EQ(picture.at<cv::Vec3b>(y, x), cv::Vec3b(30, 30, 157)) << x << "," << y;
}

TEST(PictureCanvas, TextsAreMovedIntoThePicture) {
  for (const Point& at : {Point{-50.0f, -50.0f}, Point{1e9f, 1e9f}, Point{50.0f, 50.0f}}) {
    const auto canvas = grey_canvas();
    canvas->text("dog 0.50", at, {1.0, 1.0, 1.0});
    EXPECT_GT(count_changed(drawn(*canvas)), 300) << at.x;
  }
}

TEST(PictureCanvas, WhatLiesFarAwayOrNowhereDrawsNothing) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const auto canvas = grey_canvas();
  for (const float far : {kNan, 1e30f, -1e30f}) {
    canvas->dot({far, far}, kRed);
    canvas->line({far, 1e9f}, {1e9f, 1e9f}, kRed);
    canvas->box({far, far, far, far}, kNan, kRed);
    canvas->blend({far, far, far, far}, 3, 3, kRed, [](size_t) { return true; });
  }
  EXPECT_EQ(count_changed(drawn(*canvas)), 0);
}

TEST(PictureCanvas, APictureThatIsTooWideIsAnError) {
  const Image image = make_host_image(PixelFormat::BGR, 40000, 2).value();
  const auto canvas = PictureCanvas::create(image);
  ASSERT_FALSE(canvas);
  EXPECT_EQ(canvas.error().code(), StatusCode::NotSupported);
  EXPECT_NE(canvas.error().message().find("40000 x 2"), std::string::npos)
      << canvas.error().message();
}

}  // namespace
}  // namespace het
