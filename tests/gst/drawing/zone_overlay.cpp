#include "gst/drawing/zone_overlay.h"

#include <gtest/gtest.h>

#include <limits>

namespace het::gst {
namespace {

constexpr int kSide = 200;

/// A black RGB picture with a record drawn on it.
class DrawnRecord {
 public:
  explicit DrawnRecord(const ZoneRecord& record, bool with_texts = false) {
    GstVideoInfo info;
    gst_video_info_set_format(&info, GST_VIDEO_FORMAT_RGB, kSide, kSide);
    buffer_ = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr);
    gst_buffer_memset(buffer_, 0, 0, GST_VIDEO_INFO_SIZE(&info));
    EXPECT_TRUE(gst_video_frame_map(&frame_, &info, buffer_, GST_MAP_READWRITE));
    Canvas canvas(frame_);
    OverlayStyle style;
    style.thickness = 1;
    std::unique_ptr<TextRenderer> texts;
    if (with_texts) texts = *TextRenderer::create();
    draw_zones(canvas, texts.get(), record, style);
  }
  ~DrawnRecord() {
    gst_video_frame_unmap(&frame_);
    gst_buffer_unref(buffer_);
  }
  DrawnRecord(const DrawnRecord&) = delete;
  DrawnRecord& operator=(const DrawnRecord&) = delete;

  Rgb at(int x, int y) const {
    const guint8* pixel = static_cast<const guint8*>(GST_VIDEO_FRAME_PLANE_DATA(&frame_, 0)) +
                          y * GST_VIDEO_FRAME_PLANE_STRIDE(&frame_, 0) + 3 * x;
    return {pixel[0], pixel[1], pixel[2]};
  }
  bool is_drawn(int x, int y) const {
    const Rgb color = at(x, y);
    return color.r + color.g + color.b > 0;
  }
  int count() const {
    int pixels = 0;
    for (int y = 0; y < kSide; ++y)
      for (int x = 0; x < kSide; ++x) pixels += is_drawn(x, y) ? 1 : 0;
    return pixels;
  }

 private:
  GstBuffer* buffer_;
  GstVideoFrame frame_;
};

ZoneRecord upward_line() {
  ZoneRecord record;
  ZoneRecord::Tripwire& line = record.tripwires.emplace_back();
  line.id = "gate";
  line.points = {0.5, 0.95, 0.5, 0.05};
  line.is_drawn = true;
  line.drawing.color = {10, 20, 30};
  return record;
}

TEST(ZoneOverlay, TheArrowPointsForward) {
  const DrawnRecord drawn(upward_line());
  EXPECT_TRUE(drawn.is_drawn(100, 50));
  EXPECT_EQ(drawn.at(100, 50).b, 30);
  EXPECT_TRUE(drawn.is_drawn(110, 100)) << "the shaft, to the right";
  EXPECT_FALSE(drawn.is_drawn(90, 100));
  EXPECT_FALSE(drawn.is_drawn(100, 198)) << "past the end";
}

TEST(ZoneOverlay, PolygonsAreClosedAndCirclesRound) {
  ZoneRecord record;
  ZoneRecord::Zone& zone = record.zones.emplace_back();
  zone.points = {0.1, 0.1, 0.9, 0.1, 0.9, 0.9, 0.1, 0.9};
  zone.is_drawn = true;
  ZoneRecord::Zone& circle = record.zones.emplace_back();
  circle.is_circle = true;
  circle.points = {0.5, 0.5};
  circle.radius_x = 0.25;
  circle.radius_y = 0.1;
  circle.is_drawn = true;
  const DrawnRecord drawn(record);
  for (const auto& [x, y] : {std::pair{20, 100},
                             {100, 20},
                             {180, 100},
                             {100, 180},
                             {150, 100},
                             {50, 100},
                             {100, 120},
                             {100, 80}})
    EXPECT_TRUE(drawn.is_drawn(x, y)) << x << "," << y;
  EXPECT_FALSE(drawn.is_drawn(100, 100));
}

TEST(ZoneOverlay, WhatIsNotToBeDrawnIsNot) {
  ZoneRecord record = upward_line();
  record.tripwires[0].is_drawn = false;
  EXPECT_EQ(DrawnRecord(record, true).count(), 0);
}

TEST(ZoneOverlay, CountsAreWritten) {
  EXPECT_GT(DrawnRecord(upward_line(), true).count(), DrawnRecord(upward_line()).count() + 100);
}

TEST(ZoneOverlay, PlacesThatAreNoneAreBounded) {
  ZoneRecord record = upward_line();
  record.tripwires[0].points = {std::numeric_limits<double>::quiet_NaN(), 1e300, -1e300, 0.5};
  ZoneRecord::Zone& circle = record.zones.emplace_back();
  circle.is_circle = true;
  circle.points = {0.5, 0.5};
  circle.radius_x = circle.radius_y = std::numeric_limits<double>::infinity();
  circle.is_drawn = true;
  DrawnRecord(record, true);
  ZoneRecord far_right = upward_line();
  far_right.tripwires[0].points = {1e300, 0.9, 1e300, 0.1};
  EXPECT_EQ(DrawnRecord(far_right).count(), 0);
}

}  // namespace
}  // namespace het::gst
