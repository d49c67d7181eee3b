// Lines, discs and means beside OpenCV's, which drew them before.
#include <gtest/gtest.h>

#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <string>

#include "gst/drawing/box_blur.h"
#include "gst/drawing/row_spans.h"

namespace het::gst {
namespace {

constexpr int kRows = 150;
constexpr int kColumns = 170;

Plane plane_of(cv::Mat& mat) {
  return {mat.data, static_cast<ptrdiff_t>(mat.step[0]), mat.cols, mat.rows, mat.channels(), 0, {}};
}

cv::Mat empty_picture(int channels = 1) {
  return cv::Mat::zeros(kRows, kColumns, CV_MAKETYPE(CV_8U, channels));
}

cv::Mat line(const Position& from, const Position& to, int line_width) {
  cv::Mat mat = empty_picture();
  RowSpans spans(mat.cols, mat.rows);
  spans.add_line(from, to, line_width);
  spans.fill(plane_of(mat), {255});
  return mat;
}

TEST(Shapes, DiscsAreThoseOfOpenCv) {
  for (int radius = 1; radius <= 20; ++radius) {
    for (const auto& [x, y] : {std::pair{80, 70}, {0, 0}, {165, 148}, {-4, 60}, {90, 500}}) {
      cv::Mat wanted = empty_picture();
      cv::circle(wanted, {x, y}, radius, 255, cv::FILLED);
      cv::Mat mat = empty_picture();
      RowSpans spans(mat.cols, mat.rows);
      spans.add_disc({x, y}, radius);
      spans.fill(plane_of(mat), {255});
      EXPECT_EQ(cv::norm(mat, wanted, cv::NORM_INF), 0.0) << radius << " at " << x << "," << y;
    }
  }
}

TEST(Shapes, UprightAndLevelLinesAreThoseOfOpenCv) {
  for (int line_width = 1; line_width <= 12; ++line_width) {
    for (const auto& [from, to] : {std::pair{Position{30, 40}, Position{120, 40}},
                                   {Position{120, 90}, Position{30, 90}},
                                   {Position{60, 20}, Position{60, 130}},
                                   {Position{60, 70}, Position{60, 70}},
                                   {Position{-20, 3}, Position{400, 3}}}) {
      cv::Mat wanted = empty_picture();
      cv::line(wanted, {from.x, from.y}, {to.x, to.y}, 255, line_width);
      EXPECT_EQ(cv::norm(line(from, to, line_width), wanted, cv::NORM_INF), 0.0)
          << line_width << " from " << from.x << "," << from.y;
    }
  }
}

/// A few pixels at the edge differ.
TEST(Shapes, SlantedLinesAreThoseOfOpenCvButForTheirEdges) {
  cv::RNG random(3);
  const cv::Mat near = cv::Mat::ones(3, 3, CV_8U);
  // At the border a line that hardly rises has a longer or shorter last row.
  const cv::Rect inner(1, 1, kColumns - 2, kRows - 2);
  for (int line_width = 1; line_width <= 12; ++line_width) {
    // OpenCV cuts lines of one pixel off at whole pixels, which turns them a little.
    const int outside = line_width > 1 ? 60 : 0;
    int64_t area = 0;
    int64_t more = 0;
    int64_t fewer = 0;
    for (int i = 0; i < 200; ++i) {
      const Position from{random.uniform(-outside, kColumns + outside),
                          random.uniform(-outside, kRows + outside)};
      const Position to{random.uniform(-outside, kColumns + outside),
                        random.uniform(-outside, kRows + outside)};
      cv::Mat wanted = empty_picture();
      cv::line(wanted, {from.x, from.y}, {to.x, to.y}, 255, line_width);
      const cv::Mat drawn = line(from, to, line_width);
      area += cv::countNonZero(wanted);
      more += cv::countNonZero(drawn & ~wanted);
      fewer += cv::countNonZero(wanted & ~drawn);
      cv::Mat grown_wanted;
      cv::dilate(wanted, grown_wanted, near);
      EXPECT_EQ(cv::countNonZero(cv::Mat(drawn & ~grown_wanted)(inner)), 0) << line_width;
      cv::Mat grown_drawn;
      cv::dilate(drawn, grown_drawn, near);
      EXPECT_EQ(cv::countNonZero(cv::Mat(wanted & ~grown_drawn)(inner)), 0) << line_width;
    }
    EXPECT_LT(more, area / 25) << line_width << " of " << area;
    EXPECT_LT(fewer, area / 25) << line_width << " of " << area;
  }
}

TEST(Shapes, LinesThatBeginFarAwayAreCutOff) {
  constexpr int kFar = 1 << 24;
  const cv::Mat level = line({-kFar, 50}, {kFar, 50}, 4);
  EXPECT_EQ(cv::countNonZero(level), 5 * kColumns);
  const cv::Mat diagonal = line({-kFar, -kFar}, {kFar, kFar}, 1);
  EXPECT_EQ(cv::countNonZero(diagonal), kRows);
  EXPECT_EQ(diagonal.at<uint8_t>(70, 70), 255);
  for (const auto& [from, to] : {std::pair{Position{-kFar, -9}, Position{kFar, -9}},
                                 {Position{kFar, kFar}, Position{kFar, kFar}},
                                 {Position{-9, -kFar}, Position{-9, kFar}}})
    EXPECT_EQ(cv::countNonZero(line(from, to, 4)), 0);
}

TEST(Shapes, EveryChannelIsFilledAndNothingBeside) {
  for (int channels = 1; channels <= 4; ++channels) {
    cv::Mat mat = empty_picture(channels);
    const Samples samples{10, 20, 30, 40};
    fill_rect(plane_of(mat), {5, 6, 30, 20}, samples);
    fill_rect(plane_of(mat), {100, 6, 3, 20}, samples);
    cv::Mat wanted = empty_picture(channels);
    wanted(cv::Rect(5, 6, 30, 20)).setTo(cv::Scalar(10, 20, 30, 40));
    wanted(cv::Rect(100, 6, 3, 20)).setTo(cv::Scalar(10, 20, 30, 40));
    EXPECT_EQ(cv::norm(mat, wanted, cv::NORM_INF), 0.0) << channels;
  }
}

TEST(BoxBlur, MeansAreThoseOfOpenCv) {
  cv::RNG random(5);
  for (int channels = 1; channels <= 4; ++channels) {
    for (const auto& [rect, size] : {std::pair{cv::Rect(0, 0, kColumns, kRows), 51},
                                     {cv::Rect(7, 9, 40, 30), 11},
                                     {cv::Rect(160, 3, 10, 100), 3},
                                     {cv::Rect(20, 140, 1, 1), 3},
                                     {cv::Rect(20, 20, 2, 3), 3},
                                     {cv::Rect(20, 20, 9, 9), 99},
                                     {cv::Rect(20, 20, 33, 32), 5}}) {
      cv::Mat mat = empty_picture(channels);
      random.fill(mat, cv::RNG::UNIFORM, 0, 256);
      cv::Mat wanted = mat.clone();
      cv::Mat part = wanted(rect);
      cv::blur(part, part, {size, size}, {-1, -1}, cv::BORDER_REPLICATE | cv::BORDER_ISOLATED);
      box_blur(plane_of(mat), {rect.x, rect.y, rect.width, rect.height}, size);
      EXPECT_LE(cv::norm(mat, wanted, cv::NORM_INF), 1.0) << channels << " " << rect << " " << size;
      mat(rect).setTo(0);
      part.setTo(0);
      EXPECT_EQ(cv::norm(mat, wanted, cv::NORM_INF), 0.0) << "outside of " << rect;
    }
  }
}

TEST(BoxBlur, WhatIsEvenStaysAsItIs) {
  for (const int level : {0, 1, 127, 254, 255}) {
    cv::Mat mat = empty_picture(3);
    mat.setTo(cv::Scalar::all(level));
    const cv::Mat before = mat.clone();
    box_blur(plane_of(mat), {0, 0, kColumns, kRows}, 49);
    EXPECT_EQ(cv::norm(mat, before, cv::NORM_INF), 0.0) << level;
  }
}

}  // namespace
}  // namespace het::gst
