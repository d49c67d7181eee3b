/// Whole pipelines on the shared pictures and videos: decoded by GStreamer, analysed by
/// heterodetect, compared with the reference results.

#include <fmt/format.h>
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "pipeline_run.h"
#include "test_files.h"
#include "tests/decoders/match_reference.h"

namespace het::gst_test {
namespace {

using test::MatchCounts;
using test::ReferenceObject;

/// The objects of a frame, read as an application would do it: with GStreamer's own API.
std::vector<ReferenceObject> objects_of(GstBuffer* buffer, int width, int height) {
  std::vector<ReferenceObject> objects;
  gpointer state = nullptr;
  GstMeta* meta = nullptr;
  while ((meta = gst_buffer_iterate_meta_filtered(
              buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) != nullptr) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    const GstStructure* params = gst_video_region_of_interest_meta_get_param(region, "detection");
    double x_min = 0.0, x_max = 0.0, y_min = 0.0, y_max = 0.0, confidence = 0.0;
    EXPECT_TRUE(params &&
                gst_structure_get(params, "x_min", G_TYPE_DOUBLE, &x_min, "x_max", G_TYPE_DOUBLE,
                                  &x_max, "y_min", G_TYPE_DOUBLE, &y_min, "y_max", G_TYPE_DOUBLE,
                                  &y_max, "confidence", G_TYPE_DOUBLE, &confidence, nullptr));
    objects.push_back({g_quark_to_string(region->roi_type), static_cast<float>(confidence),
                       static_cast<float>(x_min * width), static_cast<float>(y_min * height),
                       static_cast<float>(x_max * width), static_cast<float>(y_max * height)});
  }
  return objects;
}

/// The descriptors have the thresholds that the reference was made with.
std::string detector(const std::string& name) {
  return fmt::format("heterodetect name=detect model={} model-proc={}",
                     shared_file("models/onnx/" + name + ".onnx").value_or(""),
                     source_file("pipelines/models/" + name + ".json"));
}

/// What the elements report is clipped to the picture; the reference is not.
std::vector<ReferenceObject> clipped(std::vector<ReferenceObject> objects, int width, int height) {
  for (ReferenceObject& object : objects) {
    object.x_min = std::clamp(object.x_min, 0.0f, static_cast<float>(width));
    object.x_max = std::clamp(object.x_max, 0.0f, static_cast<float>(width));
    object.y_min = std::clamp(object.y_min, 0.0f, static_cast<float>(height));
    object.y_max = std::clamp(object.y_max, 0.0f, static_cast<float>(height));
  }
  return objects;
}

/// One analysed frame.
struct Analysed {
  int width = 0;
  int height = 0;
  std::vector<ReferenceObject> objects;
};

/// jpegdec's default is the fast, inexact inverse DCT: its pictures are 1.2 levels darker in red
/// and blue than those of OpenCV's decoder, which the reference was made with. The exact one is
/// within 0.02 (means over road1.jpg).
void decode_exactly(GstBin*, GstBin*, GstElement* element, gpointer) {
  if (std::string(G_OBJECT_TYPE_NAME(element)) == "GstJpegDec") {
    gst_util_set_object_arg(G_OBJECT(element), "idct-method", "islow");
  }
}

/// Analyses the frames of a file with these numbers (none: all), in one pass.
std::map<int, Analysed> analyse(const std::string& file, const std::string& model,
                                const std::vector<int>& frames) {
  std::map<int, Analysed> found;
  PipelineRun run(
      fmt::format("filesrc location={} ! decodebin ! identity name=pick ! {} ! "
                  "fakesink name=sink sync=false",
                  file, detector(model)));
  g_signal_connect(run.pipeline(), "deep-element-added", G_CALLBACK(decode_exactly), nullptr);
  std::vector<int> passed;
  int number = 0;
  run.keep_buffers("pick", [&](GstBuffer*) {
    const bool keep =
        frames.empty() || std::find(frames.begin(), frames.end(), number) != frames.end();
    if (keep) passed.push_back(number);
    ++number;
    return keep;
  });
  size_t arrived = 0;
  run.on_buffer("sink", [&](GstBuffer* buffer) {
    GstCaps* caps = run.caps("sink");
    GstVideoInfo info;
    gst_video_info_from_caps(&info, caps);
    gst_caps_unref(caps);
    found[passed[arrived++]] = {info.width, info.height,
                                objects_of(buffer, info.width, info.height)};
  });
  EXPECT_EQ(run.play(600).problem(), "") << file;
  return found;
}

MatchCounts compare(const std::string& where, const std::vector<ReferenceObject>& reference,
                    const Analysed& frame) {
  return test::match_objects(where, clipped(reference, frame.width, frame.height), frame.objects);
}

void print(const std::string& title, const MatchCounts& counts) {
  fmt::print("{}: {} of {} found ({:.1f} %), {} more than the reference has ({:.1f} %)\n", title,
             counts.found, counts.wanted, 100.0 * counts.found_share(), counts.extra,
             100.0 * counts.extra_share());
  for (const std::string& miss : counts.misses) fmt::print("  {}\n", miss);
}

TEST(Reference, PicturesAndVideosTogether) {
  const auto pictures = shared_file("expected/onnx_reference.json");
  const auto videos = shared_file("expected/video_reference.json");
  if (!pictures || !videos) GTEST_SKIP() << "the shared data (HET_SHARED_DATA) is absent";
  MatchCounts all;
  for (const std::string model :
       {"yolox_nano", "fastestdet_352", "nanodet_m_320", "ultraface_rfb_320",
        "ultraface_rfb_640_masked", "yunet_n_320", "deimv2_atto_320"}) {
    MatchCounts counts;
    for (const auto& [picture, reference] :
         test::read_picture_reference(*pictures, model + ".onnx")) {
      const auto file = shared_file("images/" + picture);
      ASSERT_TRUE(file) << picture;
      auto found = analyse(*file, model, {});
      ASSERT_EQ(found.size(), 1u) << picture;
      counts += compare(model + " " + picture, reference, found[0]);
    }
    print(model + ", pictures", counts);
    EXPECT_GT(counts.wanted, 0) << model;
    all += counts;
  }
  for (const std::string model : {"yolox_nano", "yunet_n_320"}) {
    MatchCounts counts;
    for (const auto& [video, frames] : test::read_video_reference(*videos, model)) {
      const auto file = shared_file("videos/" + video);
      ASSERT_TRUE(file) << video;
      std::vector<int> numbers;
      for (const auto& [number, reference] : frames) numbers.push_back(number);
      auto found = analyse(*file, model, numbers);
      for (const auto& [number, reference] : frames) {
        ASSERT_TRUE(found.contains(number)) << video << " has no frame " << number;
        counts +=
            compare(fmt::format("{} {} frame {}", model, video, number), reference, found[number]);
      }
    }
    print(model + ", videos", counts);
    EXPECT_GT(counts.wanted, 0) << model;
    all += counts;
  }
  print("all", all);
  EXPECT_GE(all.found_share(), 0.98);
  EXPECT_LE(all.extra_share(), 0.02);
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
