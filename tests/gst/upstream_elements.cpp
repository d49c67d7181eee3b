/// GStreamer's own elements behind ours: they find our results in GstAnalyticsRelationMeta.
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline_run.h"
#include "scripted_device.h"
#include "test_files.h"

namespace het::gst_test {
namespace {

constexpr int kWidth = 320;
constexpr int kHeight = 192;

/// Where a picture that was of one colour is of another one; width 0: nowhere.
GstVideoRectangle drawn_in(GstBuffer* buffer) {
  GstMapInfo map;
  EXPECT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READ));
  GstVideoRectangle drawn = {kWidth, kHeight, 0, 0};
  int right = 0;
  int bottom = 0;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      const guint8* pixel = map.data + 4 * (y * kWidth + x);
      if (std::all_of(pixel, pixel + 3, [](guint8 level) { return level == 0x40; })) continue;
      drawn.x = std::min(drawn.x, x);
      drawn.y = std::min(drawn.y, y);
      right = std::max(right, x + 1);
      bottom = std::max(bottom, y + 1);
    }
  }
  gst_buffer_unmap(buffer, &map);
  drawn.w = std::max(0, right - drawn.x);
  drawn.h = std::max(0, bottom - drawn.y);
  return drawn;
}

/// What `behind` has drawn on a grey picture in which the scripted device found one object.
GstVideoRectangle drawn_by(const std::string& behind, const std::string& form) {
  ScriptedDevice device;
  PipelineRun run(
      "videotestsrc num-buffers=1 pattern=solid-color foreground-color=0xff404040 ! "
      "video/x-raw,format=BGRA,width=320,height=192 ! heterodetect device=SCRIPTED model=" +
      detector_model() + " model-proc=" + detector_proc() + form + " ! " + behind +
      " ! fakesink name=sink");
  GstVideoRectangle drawn = {};
  run.on_buffer("sink", [&](GstBuffer* buffer) { drawn = drawn_in(buffer); });
  EXPECT_EQ(run.play().problem(), "");
  return drawn;
}

bool has_element(const char* name) {
  GstElementFactory* factory = gst_element_factory_find(name);
  if (factory != nullptr) gst_object_unref(factory);
  return factory != nullptr;
}

TEST(UpstreamElements, ObjectDetectionOverlayDrawsOurObjects) {
  if (!has_element("objectdetectionoverlay"))
    GTEST_SKIP() << "GStreamer " << GST_VERSION_MAJOR << "." << GST_VERSION_MINOR
                 << " has no objectdetectionoverlay (1.26 has)";
  const std::string overlay = "objectdetectionoverlay draw-labels=false";
  const GstVideoRectangle ours = drawn_by("heterowatermark", "");
  ASSERT_GT(ours.w, 0);
  const GstVideoRectangle theirs = drawn_by(overlay, "");
  ASSERT_GT(theirs.w, 0);
  // The label that ours writes stands above the box or in it.
  EXPECT_NEAR(theirs.x, ours.x, 3);
  EXPECT_NEAR(theirs.y + theirs.h, ours.y + ours.h, 3);
  EXPECT_EQ(drawn_by(overlay, kRegionsOfInterest).w, 0) << "it reads no regions of interest";
}

}  // namespace
}  // namespace het::gst_test
