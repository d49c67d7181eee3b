#include "gst/drawing/overlay.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "gst/frames/frame_map.h"

namespace het::gst {
namespace {

constexpr int kWidth = 161;
constexpr int kHeight = 121;
const std::vector<std::string> kFormats{"NV12", "I420", "RGB",   "BGR",  "RGBx", "BGRx",
                                        "RGBA", "BGRA", "GRAY8", "RGBP", "BGRP", "GBR"};

/// A grey picture that a test draws on, in any format.
class Picture {
 public:
  explicit Picture(const std::string& format, const std::string& colorimetry = "") {
    std::string text = "video/x-raw,width=161,height=121,format=" + format;
    if (!colorimetry.empty()) text += ",colorimetry=" + colorimetry;
    GstCaps* caps = gst_caps_from_string(text.c_str());
    read_video_info(caps, &info_);
    gst_caps_unref(caps);
    buffer_ = gst_buffer_new_allocate(nullptr, info_.size, nullptr);
    gst_buffer_memset(buffer_, 0, 128, info_.size);
  }
  ~Picture() { gst_buffer_unref(buffer_); }
  Picture(const Picture&) = delete;
  Picture& operator=(const Picture&) = delete;

  template <class Draw>
  void draw(Draw draw_on) {
    GstVideoFrame frame;
    ASSERT_TRUE(gst_video_frame_map(&frame, &info_, buffer_, GST_MAP_READWRITE));
    Canvas canvas(frame);
    draw_on(canvas);
    gst_video_frame_unmap(&frame);
  }

  /// The pixels as GStreamer's own converter sees them.
  std::vector<guint8> rgb() const {
    GstVideoInfo rgb_info;
    gst_video_info_set_format(&rgb_info, GST_VIDEO_FORMAT_RGB, kWidth, kHeight);
    GstVideoInfo from_info = info_;
    GstBuffer* converted = gst_buffer_new_allocate(nullptr, rgb_info.size, nullptr);
    GstVideoFrame from;
    GstVideoFrame to;
    gst_video_frame_map(&from, &from_info, buffer_, GST_MAP_READ);
    gst_video_frame_map(&to, &rgb_info, converted, GST_MAP_WRITE);
    GstVideoConverter* converter = gst_video_converter_new(&from_info, &rgb_info, nullptr);
    gst_video_converter_frame(converter, &from, &to);
    gst_video_converter_free(converter);
    std::vector<guint8> pixels;
    for (int y = 0; y < kHeight; ++y) {
      const auto* row = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&to, 0)) +
                        y * GST_VIDEO_FRAME_PLANE_STRIDE(&to, 0);
      pixels.insert(pixels.end(), row, row + 3 * kWidth);
    }
    gst_video_frame_unmap(&to);
    gst_video_frame_unmap(&from);
    gst_buffer_unref(converted);
    return pixels;
  }

 private:
  GstVideoInfo info_;
  GstBuffer* buffer_ = nullptr;
};

Rgb pixel(const std::vector<guint8>& rgb, int x, int y) {
  const size_t at = static_cast<size_t>(y * kWidth + x) * 3;
  return {rgb[at], rgb[at + 1], rgb[at + 2]};
}

TextRenderer& texts() {
  static const std::unique_ptr<TextRenderer> renderer = TextRenderer::create().value();
  return *renderer;
}

void expect_near(const Rgb& actual, const Rgb& expected, int tolerance, const std::string& what) {
  EXPECT_NEAR(actual.r, expected.r, tolerance) << what;
  EXPECT_NEAR(actual.g, expected.g, tolerance) << what;
  EXPECT_NEAR(actual.b, expected.b, tolerance) << what;
}

TEST(Overlay, AColourLooksTheSameInEveryFormatMatrixAndRange) {
  const Rgb color{200, 60, 30};
  std::vector<std::pair<std::string, std::string>> cases;
  for (const std::string& format : kFormats) {
    if (format != "GRAY8") cases.emplace_back(format, "");
  }
  for (const char* yuv : {"NV12", "I420"}) {
    for (const char* colorimetry : {"bt601", "bt709", "bt2020", "1:4:0:0", "1:3:0:0"}) {
      cases.emplace_back(yuv, colorimetry);
    }
  }
  for (const auto& [format, colorimetry] : cases) {
    Picture picture(format, colorimetry);
    picture.draw([&](Canvas& canvas) { canvas.fill({40, 40, 40, 40}, color); });
    const std::vector<guint8> rgb = picture.rgb();
    expect_near(pixel(rgb, 60, 60), color, 4, format + " " + colorimetry);
    const Rgb outside = pixel(rgb, 20, 20);
    expect_near(outside, {outside.g, outside.g, outside.g}, 3, format + " outside");
  }
}

TEST(Overlay, ABoxIsFourBarsInsideTheRectangle) {
  for (const std::string& format : kFormats) {
    Picture plain(format);
    Picture drawn(format);
    drawn.draw([](Canvas& canvas) { canvas.rectangle({20, 20, 60, 40}, {0, 0, 0}, 4); });
    const std::vector<guint8> before = plain.rgb();
    const std::vector<guint8> after = drawn.rgb();
    for (const auto& [x, y] : {std::pair{21, 40}, {78, 40}, {50, 21}, {50, 58}}) {
      EXPECT_LT(pixel(after, x, y).g, 40) << format << " " << x << "," << y;
    }
    for (const auto& [x, y] : {std::pair{50, 40}, {10, 40}, {90, 40}, {50, 10}, {50, 70}}) {
      EXPECT_EQ(pixel(after, x, y).g, pixel(before, x, y).g) << format << " " << x << "," << y;
    }
  }
}

TEST(Overlay, TextIsReadable) {
  for (const std::string& format : kFormats) {
    for (const Rgb& background : {Rgb{250, 240, 60}, Rgb{30, 20, 120}}) {
      Picture picture(format);
      picture.draw([&](Canvas& canvas) {
        canvas.fill({0, 0, kWidth, 40}, background);
        canvas.letters(texts().render("Hm 0.95", {"simplex", 21.0}, kWidth).opacity, {4, 8},
                       background);
      });
      const std::vector<guint8> rgb = picture.rgb();
      int darkest = 255;
      int brightest = 0;
      for (int y = 5; y < 35; ++y) {
        for (int x = 2; x < 110; ++x) {
          darkest = std::min(darkest, pixel(rgb, x, y).g);
          brightest = std::max(brightest, pixel(rgb, x, y).g);
        }
      }
      EXPECT_GT(brightest - darkest, 110) << format << " on " << background.g;
    }
  }
}

TEST(Overlay, LettersOutsideOfThePictureAreCutOff) {
  const OpacityMap letters = texts().render("Hm", {"simplex", 21.0}, kWidth).opacity;
  for (const std::string& format : kFormats) {
    Picture picture(format);
    picture.draw([&](Canvas& canvas) {
      for (const Position& place : {Position{-5, -5}, Position{kWidth - 3, kHeight - 3},
                                    Position{-1000, 0}, Position{0, 1000000}})
        canvas.letters(letters, place, {0, 0, 0});
    });
    EXPECT_GE(pixel(picture.rgb(), 60, 60).g, 100) << format;
  }
}

TEST(Overlay, LettersOfAnyScriptAreDrawnInEveryFormat) {
  FrameObject object;
  object.rect = {20, 60, 100, 40};
  for (const std::string& format : kFormats) {
    std::set<std::vector<guint8>> pictures;
    for (const char* type : {"Hündchen", "Hundchen", "собака", "кошка", "σκύλος", "?", "??"}) {
      object.type = type;
      Picture picture(format);
      picture.draw([&](Canvas& canvas) { draw_objects(canvas, &texts(), {object}); });
      pictures.insert(picture.rgb());
    }
    EXPECT_EQ(pictures.size(), 7u) << format << ": two labels look the same";
  }
}

TEST(Overlay, ATextOfTheFrameEndsBetweenCharacters) {
  const auto style = parse_overlay_style("ff-custom-txt=äöüäöüäöüäöüäöüäöüäöüäöü");
  ASSERT_TRUE(style);
  EXPECT_EQ(style->frame_text, "äöüäöüäöüäöüäöüäöüäö");
}

TEST(Overlay, WhatLeavesThePictureIsCutOff) {
  FrameObject object;
  object.type = "a label that is much too long for a picture of this size, and then some";
  object.detection = ObjectDetection{0.0, 1.0, 0.0, 1.0, 0.5, 2};
  object.landmarks = ObjectLandmarks{{-1e9, 1e9, std::numeric_limits<double>::quiet_NaN(), 0.5},
                                     {0.5, std::numeric_limits<double>::infinity(), 0.5, 0.5},
                                     {}};
  for (const std::string& format : kFormats) {
    for (const Rect& rect :
         {Rect{0, 0, kWidth, kHeight}, Rect{-40, -40, 60, 60}, Rect{150, 110, 500, 500},
          Rect{10, 10, 0, 0}, Rect{G_MAXINT / 2, G_MAXINT / 2, G_MAXINT / 2, G_MAXINT / 2}}) {
      object.rect = rect;
      Picture picture(format);
      picture.draw([&](Canvas& canvas) { draw_objects(canvas, &texts(), {object}); });
    }
  }
}

TEST(Overlay, ABlurredObjectIsEvenAndNothingElseIs) {
  FrameObject object;
  object.type = "face";
  object.rect = {40, 20, 80, 60};
  OverlayStyle style;
  style.blur = true;
  style.show_labels = false;
  style.shown.only = {"nothing"};
  for (const std::string& format : kFormats) {
    Picture drawn(format);
    const auto draw_bars = [&](Canvas& canvas) {
      for (int x = 0; x < kWidth; x += 8) canvas.fill({x, 0, 4, kHeight}, {255, 255, 255});
    };
    drawn.draw([&](Canvas& canvas) {
      draw_bars(canvas);
      draw_objects(canvas, nullptr, {object}, style);
    });
    Picture plain(format);
    plain.draw(draw_bars);
    const std::vector<guint8> before = plain.rgb();
    const std::vector<guint8> after = drawn.rgb();
    const auto contrast = [](const std::vector<guint8>& rgb, int y) {
      int least = 255;
      int most = 0;
      for (int x = 52; x < 108; ++x) {
        least = std::min(least, pixel(rgb, x, y).g);
        most = std::max(most, pixel(rgb, x, y).g);
      }
      return most - least;
    };
    EXPECT_GT(contrast(before, 50), 100) << format;
    EXPECT_LT(contrast(after, 50), 30) << format;
    EXPECT_EQ(contrast(after, 90), contrast(before, 90)) << format;
    EXPECT_EQ(contrast(after, 10), contrast(before, 10)) << format;
  }
}

TEST(Overlay, NeighbouringLabelsHaveClearlyDifferentColours) {
  std::set<std::tuple<int, int, int>> seen;
  for (int id = 0; id < 80; ++id) {
    const Rgb a = label_color(id);
    const Rgb b = label_color(id + 1);
    EXPECT_GT(std::abs(a.r - b.r) + std::abs(a.g - b.g) + std::abs(a.b - b.b), 120) << id;
    seen.insert({a.r, a.g, a.b});
  }
  EXPECT_EQ(seen.size(), 80u);
}

TEST(Overlay, ASegmentationColoursItsClassesInsideTheObject) {
  for (const std::string& format : kFormats) {
    Picture plain(format);
    Picture drawn(format);
    FrameObject object;
    object.rect = {20, 20, 80, 60};
    // Lies over x 20..140 of the picture; its left half is background, its right half class 2.
    object.tensors.segmentations.push_back({{},
                                            Tensor::from<uint8_t>({1, 1, 2}, {0, 2}),
                                            20.0 / kWidth,
                                            140.0 / kWidth,
                                            0.0,
                                            1.0,
                                            {"background", "a", "b"}});
    FrameObject odd = object;
    odd.tensors.segmentations[0].x_max = odd.tensors.segmentations[0].x_min;
    drawn.draw([&](Canvas& canvas) { draw_objects(canvas, &texts(), {object, odd}); });
    const std::vector<guint8> before = plain.rgb();
    const std::vector<guint8> after = drawn.rgb();
    for (const auto& [x, y] : {std::pair{40, 50}, {76, 50}, {110, 50}, {90, 10}, {90, 90}})
      expect_near(pixel(after, x, y), pixel(before, x, y), 1, format);
    if (format == "GRAY8") continue;
    const Rgb wanted = label_color(2);
    const Rgb grey = pixel(before, 90, 50);
    expect_near(pixel(after, 90, 50),
                {(grey.r + wanted.r) / 2, (grey.g + wanted.g) / 2, (grey.b + wanted.b) / 2}, 6,
                format);
  }
}

TEST(Overlay, AMaskColoursWhatBelongsToTheObject) {
  Picture plain("RGB");
  Picture drawn("RGB");
  FrameObject object;
  object.rect = {20, 20, 80, 60};
  object.detection = ObjectDetection{};
  object.detection->label_id = 4;
  // The right half of the box.
  object.tensors.masks.push_back({{},
                                  Tensor::from<float>({1, 2}, {0.4f, 0.6f}),
                                  20.0 / kWidth,
                                  100.0 / kWidth,
                                  20.0 / kHeight,
                                  80.0 / kHeight});
  drawn.draw([&](Canvas& canvas) { draw_objects(canvas, &texts(), {object}); });
  const std::vector<guint8> before = plain.rgb();
  const std::vector<guint8> after = drawn.rgb();
  expect_near(pixel(after, 40, 60), pixel(before, 40, 60), 1, "not the object");
  const Rgb wanted = label_color(4);
  expect_near(pixel(after, 80, 60),
              {(128 + wanted.r) / 2, (128 + wanted.g) / 2, (128 + wanted.b) / 2}, 2, "the object");
}

TEST(Overlay, ATurnedBoxIsDrawnTurned) {
  Picture drawn("RGB");
  FrameObject object;
  object.rect = {40, 40, 80, 40};
  object.detection = ObjectDetection{};
  // 60 x 20 about (80, 60), turned by a quarter: its sides are at x 70 and 90, y 30 and 90.
  object.detection->x_min = 50.0 / kWidth;
  object.detection->x_max = 110.0 / kWidth;
  object.detection->y_min = 50.0 / kHeight;
  object.detection->y_max = 70.0 / kHeight;
  object.detection->rotation = 1.57079632679;
  drawn.draw([&](Canvas& canvas) { draw_objects(canvas, &texts(), {object}); });
  const std::vector<guint8> rgb = drawn.rgb();
  expect_near(pixel(rgb, 90, 80), label_color(0), 1, "right side");
  expect_near(pixel(rgb, 70, 80), label_color(0), 1, "left side");
  expect_near(pixel(rgb, 80, 90), label_color(0), 1, "bottom");
  expect_near(pixel(rgb, 41, 60), {128, 128, 128}, 1, "no upright box");
}

TEST(Overlay, BodiesHaveDotsAndLines) {
  Picture plain("RGB");
  Picture drawn("RGB");
  FrameObject object;
  object.rect = {40, 40, 100, 80};
  ObjectKeypoints body;
  // The third point was not found: neither a dot nor a line.
  body.values = Tensor::from<float>({3, 2}, {0.1f, 0.5f, 0.9f, 0.5f, -1.0f, -1.0f});
  body.confidences = {1.0, 0.5, 0.0};
  body.connections = {{0, 1}, {1, 2}};
  object.tensors.keypoints.push_back(body);
  drawn.draw([&](Canvas& canvas) { draw_objects(canvas, &texts(), {object}); });
  const std::vector<guint8> rgb = drawn.rgb();
  expect_near(pixel(rgb, 50, 80), label_color(1), 1, "first dot");
  expect_near(pixel(rgb, 130, 80), label_color(2), 1, "second dot");
  expect_near(pixel(rgb, 90, 80), label_color(1), 1, "line");
  expect_near(pixel(rgb, 90, 60), {128, 128, 128}, 1, "no line to the missing point");
}

TEST(Overlay, PolylinesHaveOneColourEachAndNoDots) {
  Picture drawn("RGB");
  FrameObject object;
  object.rect = {0, 0, 160, 120};
  ObjectKeypoints lane;
  lane.origin.format = "lane";
  lane.confidences = {1.0, 1.0, 1.0};
  lane.connections = {{0, 1}, {1, 2}};
  lane.values = Tensor::from<float>({3, 2}, {0.25f, 0.1f, 0.25f, 0.5f, 0.25f, 0.9f});
  object.tensors.keypoints.push_back(lane);
  lane.values = Tensor::from<float>({3, 2}, {0.75f, 0.1f, 0.75f, 0.5f, 0.75f, 0.9f});
  object.tensors.keypoints.push_back(lane);
  drawn.draw([&](Canvas& canvas) { draw_objects(canvas, &texts(), {object}); });
  const std::vector<guint8> rgb = drawn.rgb();
  for (const int y : {30, 60, 90}) {
    expect_near(pixel(rgb, 40, y), label_color(1), 1, "first lane");
    expect_near(pixel(rgb, 120, y), label_color(2), 1, "second lane");
  }
}

TEST(Overlay, PointsThatAreLessSureAreSmaller) {
  Picture drawn("RGB");
  FrameObject object;
  object.rect = {0, 0, 160, 120};
  ObjectKeypoints hand;
  hand.values = Tensor::from<float>({2, 2}, {0.25f, 0.5f, 0.75f, 0.5f});
  hand.confidences = {0.9, 0.2};
  object.tensors.keypoints.push_back(hand);
  drawn.draw([&](Canvas& canvas) { draw_objects(canvas, &texts(), {object}); });
  const std::vector<guint8> rgb = drawn.rgb();
  expect_near(pixel(rgb, 40, 60), label_color(1), 1, "sure point");
  expect_near(pixel(rgb, 42, 60), label_color(1), 1, "its edge");
  expect_near(pixel(rgb, 120, 60), label_color(2), 1, "other point");
  expect_near(pixel(rgb, 122, 60), {128, 128, 128}, 1, "beside it");
}

}  // namespace
}  // namespace het::gst
