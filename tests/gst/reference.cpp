/// Whole pipelines on the shared pictures and videos: decoded by GStreamer, analysed by
/// heterodetect, compared with the reference results.

#include <fmt/format.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <fstream>

#include "pipeline_run.h"
#include "reference_run.h"
#include "test_files.h"

namespace het::gst_test {
namespace {

using test::MatchCounts;

/// The descriptors have the thresholds that the reference was made with.
std::string detector(const std::string& name) {
  return fmt::format("heterodetect name=detect metadata-form=roi model={} model-proc={}",
                     shared_file("models/onnx/" + name + ".onnx").value_or(""),
                     source_file("pipelines/models/" + name + ".json"));
}

TEST(Reference, PicturesAndVideosTogether) {
  const auto pictures = shared_file("expected/onnx_reference.json");
  const auto videos = shared_file("expected/video_reference.json");
  if (!pictures || !videos) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  MatchCounts all;
  for (const std::string model :
       {"yolox_nano", "fastestdet_352", "nanodet_m_320", "ultraface_rfb_320",
        "ultraface_rfb_640_masked", "yunet_n_320", "deimv2_atto_320"}) {
    const MatchCounts counts = compare_pictures(
        model, detector(model), test::read_picture_reference(*pictures, model + ".onnx"));
    EXPECT_GT(counts.wanted, 0) << model;
    all += counts;
  }
  for (const std::string model : {"yolox_nano", "yunet_n_320"}) {
    const MatchCounts counts =
        compare_videos(model, detector(model), test::read_video_reference(*videos, model));
    EXPECT_GT(counts.wanted, 0) << model;
    all += counts;
  }
  print("all", all);
  EXPECT_GE(all.found_share(), 0.98);
  EXPECT_LE(all.extra_share(), 0.02);
}

TEST(Reference, ASplitModelFindsTheSame) {
  const auto pictures = shared_file("expected/onnx_reference.json");
  if (!pictures) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  // Convolutions on the GPU device, what joins them on the CPU's: many changes of device.
  const ScratchFolder folder;
  std::ofstream(folder.file("affinity.json"))
      << R"({"rules": [{"type": "Concat", "device": "CPU"}, {"type": "Softmax", "device": "CPU"}]})";
  const std::string model = "ultraface_rfb_320";
  const MatchCounts counts = compare_pictures(
      model,
      detector(model) + " device=HETERO:GPU,CPU nireq=3 ie-config=HETERO_AFFINITY=" +
          folder.file("affinity.json"),
      test::read_picture_reference(*pictures, model + ".onnx"));
  print(model, counts);
  EXPECT_GT(counts.wanted, 0);
  EXPECT_GE(counts.found_share(), 0.98);
  EXPECT_LE(counts.extra_share(), 0.02);
}

TEST(Reference, JpegCapsSayFullRangeBt601) {
  const auto file = shared_file("images/dog_bike_car.jpg");
  if (!file) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  PipelineRun run("filesrc location=" + *file + " ! decodebin ! fakesink name=sink");
  GstVideoInfo info;
  run.on_buffer("sink", [&](GstBuffer*) {
    GstCaps* caps = run.caps("sink");
    gst_video_info_from_caps(&info, caps);
    gst_caps_unref(caps);
  });
  ASSERT_EQ(run.play().problem(), "");
  EXPECT_EQ(info.colorimetry.range, GST_VIDEO_COLOR_RANGE_0_255);
  EXPECT_EQ(info.colorimetry.matrix, GST_VIDEO_COLOR_MATRIX_BT601);
}

TEST(Reference, SameBytesForAnyNumberOfRequests) {
  const auto video = shared_file("videos/preview_classroom.mp4");
  if (!video) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  const ScratchFolder folder;
  std::string first;
  for (const int nireq : {1, 4, 16}) {
    PipelineRun run(
        fmt::format("filesrc location={} ! decodebin ! {} nireq={} ! heterometaconvert "
                    "! heterometapublish file-path={} ! fakesink",
                    *video, detector("yunet_n_320"), nireq, folder.file("out.json")));
    ASSERT_EQ(run.play().problem(), "");
    const std::string text = read_text(folder.file("out.json"));
    EXPECT_NE(text.find("landmarks"), std::string::npos);
    if (first.empty()) first = text;
    EXPECT_EQ(text, first) << "nireq " << nireq;
  }
}

/// PTS of all buffers that reach the sink.
std::vector<GstClockTime> times_of(const std::string& file, const std::string& middle) {
  std::vector<GstClockTime> times;
  PipelineRun run("filesrc location=" + file + " ! decodebin ! " + middle +
                  " fakesink name=sink sync=false");
  run.on_buffer("sink", [&](GstBuffer* buffer) { times.push_back(GST_BUFFER_PTS(buffer)); });
  EXPECT_EQ(run.play(600).problem(), "") << file;
  return times;
}

TEST(Reference, EveryFrameOfEveryVideoComesOut) {
  const auto reference = shared_file("expected/video_reference.json");
  if (!reference) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  for (const auto& [video, frames] : test::read_video_reference(*reference, "yunet_n_320")) {
    const auto file = shared_file("videos/" + video);
    ASSERT_TRUE(file) << video;
    const std::vector<GstClockTime> in = times_of(*file, "");
    const std::vector<GstClockTime> out = times_of(*file, detector("yunet_n_320") + " nireq=4 !");
    EXPECT_GT(in.size(), 30u) << video;
    EXPECT_EQ(in, out) << video;
  }
}

}  // namespace
}  // namespace het::gst_test
