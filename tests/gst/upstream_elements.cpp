/// GStreamer's own elements behind ours: they find our results in GstAnalyticsRelationMeta.
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline_run.h"
#include "scripted_device.h"
#include "test_files.h"
#include "tests/readers/onnx/onnx_file.h"

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

/// A detector as GStreamer's decoder of SSD models expects it, which finds the outputs by what the
/// model's metadata calls them: one object, whatever the picture.
std::string write_ssd(const ScratchFolder& folder) {
  test::Graph graph;
  graph.input("picture", std::vector<int64_t>{1, 3, 24, 32})
      .initializer(test::float_tensor("b", {1, 1, 4}, {0.25f, 0.125f, 0.75f, 0.5f}))
      .initializer(test::float_tensor("c", {1, 1}, {1.0f}))
      .initializer(test::float_tensor("s", {1, 1}, {0.875f}))
      .initializer(test::float_tensor("n", {1}, {1.0f}))
      .node("Identity", {"b"}, {"boxes"})
      .node("Identity", {"c"}, {"classes"})
      .node("Identity", {"s"}, {"scores"})
      .node("Sub", {"picture", "picture"}, {"zeros"})
      .node("ReduceMax", {"zeros"}, {"zero"})
      .node("Add", {"zero", "n"}, {"count"})
      .output("boxes")
      .output("classes")
      .output("scores")
      .output("count");
  std::string file = test::model_file(graph.bytes());
  protozero::pbf_writer writer(file);
  const auto call = [&](const std::string& output, const std::string& id) {
    constexpr protozero::pbf_tag_type kMetadataProps = 14;
    protozero::pbf_writer entry(writer, kMetadataProps);
    entry.add_string(1, output);
    entry.add_string(2, "Gst.Model.ObjectDetector." + id);
  };
  call("boxes", "Boxes");
  call("classes", "Classes");
  call("scores", "Scores");
  call("count", "NumDetections");
  write_text(folder.file("ssd.onnx"), file);
  return folder.file("ssd.onnx");
}

TEST(UpstreamElements, TheirDecoderReadsOurTensors) {
  if (!has_element("ssdobjectdetector"))
    GTEST_SKIP() << "GStreamer " << GST_VERSION_MAJOR << "." << GST_VERSION_MINOR
                 << " has no ssdobjectdetector that reads GstTensorMeta (1.26 has)";
  const ScratchFolder folder;
  PipelineRun run(
      "videotestsrc num-buffers=2 pattern=red ! video/x-raw,format=RGB,width=320,height=192 ! "
      "heteroinference model=" +
      write_ssd(folder) +
      " ! ssdobjectdetector ! heterometaconvert ! heterometapublish file-format=json-lines "
      "file-path=" +
      folder.file("out.json") + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  const std::string text = read_text(folder.file("out.json"));
  // Rows from 0.25 to 0.75 of 192, columns from 0.125 to 0.5 of 320.
  EXPECT_NE(text.find("\"h\":96"), std::string::npos) << text;
  EXPECT_NE(text.find("\"w\":120"), std::string::npos) << text;
  EXPECT_NE(text.find("\"x\":40"), std::string::npos) << text;
  EXPECT_NE(text.find("\"y\":48"), std::string::npos) << text;
}

}  // namespace
}  // namespace het::gst_test
