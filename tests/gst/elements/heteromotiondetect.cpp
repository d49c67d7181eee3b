#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/gst/element_rig.h"
#include "tests/gst/pipeline_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

constexpr int kWallWidth = 320;
constexpr int kWallHeight = 192;
constexpr char kWallCaps[] = "video/x-raw,format=NV12,width=320,height=192,framerate=25/1";
/// Frames in which nothing is found because the background is being learnt.
constexpr int kLearnt = 8;
constexpr int kBoxSide = 40;

/// A wall with a gradient; where `left` is not negative, a bright box is in front of it.
void paint_wall(guint8* luma, int stride, int left) {
  for (int y = 0; y < kWallHeight; ++y) {
    for (int x = 0; x < kWallWidth; ++x)
      luma[y * stride + x] = static_cast<guint8>(60 + x / 8 + y / 4);
    if (left < 0 || y < 80 || y >= 80 + kBoxSide) continue;
    std::fill_n(luma + y * stride + left, kBoxSide, guint8{230});
  }
}

GstBuffer* wall_frame(const ElementRig& rig, int number, int left = -1) {
  GstBuffer* buffer = rig.frame(number, 128);
  GstMapInfo map;
  gst_buffer_map(buffer, &map, GST_MAP_WRITE);
  paint_wall(map.data, kWallWidth, left);
  gst_buffer_unmap(buffer, &map);
  return buffer;
}

bool is_still(GstBuffer* buffer) {
  return gst_meta_get_info("GstHeteroStillMeta") != nullptr &&
         gst_buffer_get_custom_meta(buffer, "GstHeteroStillMeta") != nullptr;
}

struct WallRegion {
  std::string type;
  int x, y, width, height;
};

std::vector<WallRegion> regions_of_wall(GstBuffer* buffer) {
  std::vector<WallRegion> regions;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    regions.push_back({g_quark_to_string(region->roi_type), static_cast<int>(region->x),
                       static_cast<int>(region->y), static_cast<int>(region->w),
                       static_cast<int>(region->h)});
  }
  return regions;
}

/// The element with what it says of each frame: '1' for one that is to be analysed.
struct MotionRig {
  explicit MotionRig(const std::string& properties) : rig("heteromotiondetect", properties) {
    rig.on_buffer = [this](GstBuffer* buffer) {
      opened += is_still(buffer) ? '0' : '1';
      return GST_FLOW_OK;
    };
  }
  void push(int from, int to, int left = -1) {
    for (int i = from; i < to; ++i) ASSERT_EQ(rig.push(wall_frame(rig, i, left)), GST_FLOW_OK) << i;
  }
  std::string take() { return std::exchange(opened, ""); }
  guint64 count(const char* field) {
    GstStructure* stats = nullptr;
    g_object_get(rig.element(), "stats", &stats, nullptr);
    guint64 value = 0;
    EXPECT_TRUE(gst_structure_get_uint64(stats, field, &value)) << field;
    gst_structure_free(stats);
    return value;
  }

  ElementRig rig;
  std::string opened;
};

/// Metadata in the form that every GStreamer has: where there is another one, JSON tells it.
std::vector<json> told_of_file(const std::string& path) {
  std::vector<json> messages;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) messages.push_back(json::parse(line));
  return messages;
}

/// A file of raw frames; of each the left side of the box.
void write_wall(const std::string& path, const std::vector<int>& lefts) {
  std::ofstream file(path, std::ios::binary);
  std::vector<char> frame(kWallWidth * kWallHeight * 3 / 2, static_cast<char>(128));
  for (const int left : lefts) {
    paint_wall(reinterpret_cast<guint8*>(frame.data()), kWallWidth, left);
    file.write(frame.data(), static_cast<std::streamsize>(frame.size()));
  }
}

std::string wall_source(const std::string& path) {
  return "filesrc location=" + path +
         " ! rawvideoparse format=nv12 width=320 height=192 framerate=25/1 ! "
         "identity name=first ! ";
}

TEST(HeteroMotionDetect, DefaultsAreThoseOfDlStreamer) {
  GstElement* element = gst_element_factory_make("heteromotiondetect", nullptr);
  ASSERT_NE(element, nullptr);
  for (const auto& [name, expected] : std::map<std::string, int>{{"block-size", 64},
                                                                 {"min-persistence", 2},
                                                                 {"max-miss", 1},
                                                                 {"confirm-frames", 1},
                                                                 {"pixel-diff-threshold", 15}}) {
    int value = 0;
    g_object_get(element, name.c_str(), &value, nullptr);
    EXPECT_EQ(value, expected) << name;
  }
  for (const auto& [name, expected] : std::map<std::string, double>{{"motion-threshold", 0.05},
                                                                    {"iou-threshold", 0.3},
                                                                    {"smooth-alpha", 0.5},
                                                                    {"min-rel-area", 0.0005}}) {
    double value = 0.0;
    g_object_get(element, name.c_str(), &value, nullptr);
    EXPECT_DOUBLE_EQ(value, expected) << name;
  }
  gst_object_unref(element);
}

TEST(HeteroMotionDetect, WhatMovesIsARegionInEveryFormat) {
  for (const char* format : {"NV12", "I420", "GRAY8"}) {
    const ScratchFolder folder;
    std::vector<int> lefts(kLearnt + 2, -1);
    for (int i = 0; i < 20; ++i) lefts.push_back(40 + 8 * i);
    write_wall(folder.file("wall.nv12"), lefts);
    PipelineRun run(wall_source(folder.file("wall.nv12")) +
                    "videoconvert ! video/x-raw,format=" + format +
                    " ! heteromotiondetect name=motion ! heterometaconvert add-empty-results=true "
                    "! heterometapublish file-format=json-lines file-path=" +
                    folder.file("out.json") + " ! fakesink");
    ASSERT_EQ(run.play(60).problem(), "");
    const std::vector<json> frames = told_of_file(folder.file("out.json"));
    ASSERT_EQ(frames.size(), lefts.size()) << format;
    for (size_t i = 0; i < frames.size(); ++i) {
      const json objects = frames[i].value("objects", json::array());
      if (i <= kLearnt + 2) {
        EXPECT_TRUE(objects.empty()) << format << " frame " << i << objects;
        continue;
      }
      ASSERT_EQ(objects.size(), 1u) << format << " frame " << i;
      EXPECT_EQ(objects[0]["roi_type"], "motion");
      const int x = objects[0]["x"];
      const int w = objects[0]["w"];
      EXPECT_LE(x, lefts[i] + kBoxSide / 2) << "frame " << i;
      EXPECT_GE(x + w, lefts[i] + kBoxSide / 2) << "frame " << i;
    }
  }
}

constexpr const char* kNoRegionMetas =
    "this GStreamer has GstAnalyticsRelationMeta, and the test counts the metas of older ones; "
    "regions in JSON are tested with both";

TEST(HeteroMotionDetect, EveryPropertyOfDlStreamerHasItsEffect) {
  struct Effect {
    const char* properties;
    int first;  ///< frame of motion in which a region is attached; -1: in none of 12
    int kept;   ///< frames after the motion in which it still is
  };
  // The box stands in one place: what is new there is motion until it belongs to the background.
  for (const auto& [properties, first, kept] :
       {Effect{"", 1, 1}, Effect{"min-persistence=1", 0, 1}, Effect{"min-persistence=5", 4, 1},
        Effect{"max-miss=4", 1, 4}, Effect{"confirm-frames=4", 4, 1},
        Effect{"motion-threshold=0.6", -1, 0}, Effect{"pixel-diff-threshold=200", -1, 0},
        Effect{"min-rel-area=0.25", -1, 0}}) {
    ElementRig rig("heteromotiondetect", std::string(properties) + " block-size=32");
    std::vector<size_t> regions;
    rig.on_buffer = [&](GstBuffer* buffer) {
      regions.push_back(regions_of_wall(buffer).size());
      return GST_FLOW_OK;
    };
    if (gst_meta_get_info("GstAnalyticsRelationMeta") != nullptr) GTEST_SKIP() << kNoRegionMetas;
    ASSERT_TRUE(rig.start(kWallCaps));
    int number = 0;
    while (number < kLearnt + 2) rig.push(wall_frame(rig, number++));
    for (int i = 0; i < 12; ++i) rig.push(wall_frame(rig, number++, 140));
    for (int i = 0; i < 12; ++i) rig.push(wall_frame(rig, number++));
    const auto begin = regions.begin() + kLearnt + 2;
    const auto found = std::find_if(begin, begin + 12, [](size_t count) { return count > 0; });
    EXPECT_EQ(found == begin + 12 ? -1 : found - begin, first) << properties;
    EXPECT_EQ(std::count_if(begin + 12, regions.end(), [](size_t count) { return count > 0; }),
              kept)
        << properties;
  }
}

TEST(HeteroMotionDetect, BlocksAndSmoothingDecideWhereARegionIs) {
  if (gst_meta_get_info("GstAnalyticsRelationMeta") != nullptr) GTEST_SKIP() << kNoRegionMetas;
  const auto last_region = [](const std::string& properties, std::vector<int> lefts) {
    ElementRig rig("heteromotiondetect", "min-persistence=1 " + properties);
    std::vector<WallRegion> regions;
    rig.on_buffer = [&](GstBuffer* buffer) {
      regions = regions_of_wall(buffer);
      return GST_FLOW_OK;
    };
    EXPECT_TRUE(rig.start(kWallCaps));
    int number = 0;
    while (number < kLearnt + 2) rig.push(wall_frame(rig, number++));
    for (const int left : lefts) rig.push(wall_frame(rig, number++, left));
    EXPECT_EQ(regions.size(), 1u) << properties;
    return regions.empty() ? WallRegion{} : regions[0];
  };
  EXPECT_EQ(last_region("block-size=64", {140}).width, 64);
  EXPECT_EQ(last_region("block-size=16", {150}).width, 48);
  const int sharp = last_region("block-size=16 smooth-alpha=1", {140, 156}).x;
  const int smooth = last_region("block-size=16 smooth-alpha=0.25", {140, 156}).x;
  EXPECT_EQ(sharp, 144);
  EXPECT_EQ(smooth, 132);
  // Without an overlap that suffices the new place is taken as it is.
  EXPECT_EQ(last_region("block-size=16 smooth-alpha=0.25 iou-threshold=0.9", {140, 156}).x, 144);
}

TEST(HeteroMotionDetect, RegionsAreLookedIntoByADetector) {
  const ScriptedDevice device;
  const ScratchFolder folder;
  std::vector<int> lefts(kLearnt + 10, -1);
  for (int i = 0; i < 10; ++i) lefts.push_back(40 + 8 * i);
  for (int i = 0; i < 10; ++i) lefts.push_back(-1);
  write_wall(folder.file("wall.nv12"), lefts);
  PipelineRun run(wall_source(folder.file("wall.nv12")) +
                  "heteromotiondetect name=motion ! heterodetect inference-region=roi-list " +
                  detector_properties() + " device=SCRIPTED ! fakesink");
  ASSERT_EQ(run.play(60).problem(), "");
  EXPECT_GE(device.executions(), 9) << "from the second frame of the motion on";
  EXPECT_LE(device.executions(), 14) << "frames without a region cost nothing";
}

TEST(HeteroMotionDetect, TheGateMarksStillFrames) {
  MotionRig motion("gate=true gate-hold=3 max-age=1000");
  ASSERT_TRUE(motion.rig.start(kWallCaps));
  motion.push(0, 20);
  EXPECT_EQ(motion.take(),
            "11111111"
            "111"
            "000000000");
  motion.push(20, 22, 100);
  motion.push(22, 30);
  EXPECT_EQ(motion.take(),
            "11"
            "111"
            "00000");
  EXPECT_EQ(motion.count("frames"), 30u);
  EXPECT_EQ(motion.count("frames-moving"), 10u);
  EXPECT_EQ(motion.count("frames-still"), 14u);
  EXPECT_EQ(motion.count("frames-analysed"), 16u);
}

TEST(HeteroMotionDetect, WithoutAGateNoFrameIsMarked) {
  MotionRig motion("");
  ASSERT_TRUE(motion.rig.start(kWallCaps));
  motion.push(0, 30);
  EXPECT_EQ(motion.take(), std::string(30, '1'));
  g_object_set(motion.rig.element(), "gate", TRUE, nullptr);
  motion.push(30, 35);
  EXPECT_NE(motion.take().find('0'), std::string::npos) << "it may change while playing";
}

TEST(HeteroMotionDetect, AStillFrameIsAnalysedWhenResultsAreTooOld) {
  MotionRig motion("gate=true gate-hold=0 max-age=200");
  ASSERT_TRUE(motion.rig.start(kWallCaps));
  motion.push(0, 24);  // one in 40 ms
  EXPECT_EQ(motion.take(),
            "11111111"
            "0000"
            "10000"
            "10000"
            "10");
  // The same where frames do not say when they are.
  MotionRig timeless("gate=true gate-hold=0 max-age=200");
  ASSERT_TRUE(timeless.rig.start(kWallCaps));
  for (int i = 0; i < 24; ++i) {
    GstBuffer* buffer = wall_frame(timeless.rig, i);
    GST_BUFFER_PTS(buffer) = GST_CLOCK_TIME_NONE;
    ASSERT_EQ(timeless.rig.push(buffer), GST_FLOW_OK);
  }
  EXPECT_EQ(timeless.take(),
            "11111111"
            "0000"
            "10000"
            "10000"
            "10");
}

TEST(HeteroMotionDetect, FlushesGapsCapsAndDiscontinuitiesBeginAnew) {
  const std::string learning(kLearnt, '1');
  MotionRig motion("gate=true gate-hold=0 max-age=3600000");
  ASSERT_TRUE(motion.rig.start(kWallCaps));
  int number = 0;
  const auto expect_learning = [&](const std::string& why) {
    motion.push(number, number + 10);
    number += 10;
    EXPECT_EQ(motion.take(), learning + "00") << why;
  };
  expect_learning("the start");
  motion.rig.event(gst_event_new_flush_start());
  motion.rig.event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  motion.rig.event(gst_event_new_segment(&segment));
  expect_learning("a flush");
  motion.rig.event(gst_event_new_gap(0, GST_SECOND));
  expect_learning("a gap");
  motion.rig.set_caps("video/x-raw,format=I420,width=320,height=192,framerate=25/1");
  expect_learning("caps");
  GstBuffer* discont = wall_frame(motion.rig, number++);
  GST_BUFFER_FLAG_SET(discont, GST_BUFFER_FLAG_DISCONT);
  motion.rig.push(discont);
  EXPECT_EQ(motion.take(), "1");
  motion.push(number, number + 9);
  number += 9;
  EXPECT_EQ(motion.take(), learning.substr(1) + "00") << "a discontinuity";
  number += 100;
  expect_learning("four seconds without a frame");
  number -= 60;
  expect_learning("a time that goes back");
  EXPECT_EQ(motion.count("restarts"), 6u);
}

/// What a message says about carried results is in the params; here the pipeline is looked at.
struct CarriedFrame {
  bool still = false;
  bool has_object = false;
  bool has_attribute = false;
  guint age_frames = 0;
  guint64 age = 0;
};

CarriedFrame carried_frame_of(GstBuffer* buffer) {
  CarriedFrame frame;
  frame.still = is_still(buffer);
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    GstStructure* detection = gst_video_region_of_interest_meta_get_param(region, "detection");
    if (detection == nullptr) continue;
    frame.has_object = true;
    gst_structure_get_uint(detection, "age-frames", &frame.age_frames);
    gst_structure_get_uint64(detection, "age", &frame.age);
    frame.has_attribute |=
        gst_video_region_of_interest_meta_get_param(region, "classification") != nullptr;
  }
  return frame;
}

TEST(HeteroMotionDetect, StillFramesCarryObjectsAndAttributesThroughOtherElements) {
  const ScriptedDevice device;
  const ScratchFolder folder;
  std::vector<int> lefts(60, -1);
  for (int i = 0; i < 10; ++i) lefts[static_cast<size_t>(30 + i)] = 40 + 8 * i;
  write_wall(folder.file("wall.nv12"), lefts);
  PipelineRun run(wall_source(folder.file("wall.nv12")) +
                  "heteromotiondetect gate=true add-regions=false gate-hold=2 max-age=400 ! queue "
                  "! tee name=t ! queue ! videoconvert ! video/x-raw,format=BGR ! videoscale ! "
                  "video/x-raw,width=400,height=240 ! heterodetect name=detect " +
                  detector_properties() +
                  " device=SCRIPTED ! queue ! heteroclassify name=classify model=" +
                  classifier_model() + " model-proc=" + classifier_proc() +
                  " device=SCRIPTED metadata-form=roi ! fakesink name=sink t. ! queue ! fakesink");
  std::vector<CarriedFrame> frames;
  run.on_buffer("sink", [&](GstBuffer* buffer) { frames.push_back(carried_frame_of(buffer)); });
  guint64 analysed = 0;
  guint64 carried = 0;
  guint64 classified = 0;
  run.on_buffer("sink", [&](GstBuffer*) {
    GstStructure* stats = nullptr;
    g_object_get(run.element("detect"), "stats", &stats, nullptr);
    gst_structure_get_uint64(stats, "frames-analysed", &analysed);
    gst_structure_get_uint64(stats, "frames-carried", &carried);
    gst_structure_free(stats);
    g_object_get(run.element("classify"), "stats", &stats, nullptr);
    gst_structure_get_uint64(stats, "frames-analysed", &classified);
    gst_structure_free(stats);
  });
  ASSERT_EQ(run.play(60).problem(), "");
  ASSERT_EQ(frames.size(), lefts.size());
  guint64 still = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    const CarriedFrame& frame = frames[i];
    still += frame.still;
    EXPECT_TRUE(frame.has_object) << i;
    EXPECT_TRUE(frame.has_attribute) << i;
    EXPECT_EQ(frame.age_frames > 0, frame.still) << i;
    EXPECT_EQ(frame.age, frame.age_frames * 40 * GST_MSECOND) << i;
    EXPECT_LT(frame.age, 400 * GST_MSECOND) << i;
    if (i >= 30 && i < 40) {
      EXPECT_FALSE(frame.still) << i;
    }
  }
  EXPECT_GT(still, 25u);
  EXPECT_EQ(carried, still);
  EXPECT_EQ(analysed, frames.size() - still);
  EXPECT_EQ(classified, analysed);
  EXPECT_EQ(device.executions(), static_cast<int>(2 * analysed));
}

TEST(HeteroMotionDetect, AFrameIsAnalysedThoughStillWhereThereAreNoResults) {
  const ScriptedDevice device;
  ElementRig rig("heterodetect", detector_properties() + " device=SCRIPTED inference-interval=3");
  std::vector<bool> carried;
  rig.on_buffer = [&](GstBuffer* buffer) {
    carried.push_back(carried_frame_of(buffer).age_frames > 0);
    return GST_FLOW_OK;
  };
  ASSERT_TRUE(rig.start(kWallCaps));
  const auto push = [&](int number, bool still) {
    GstBuffer* buffer = rig.frame(number, 90);
    if (still) {
      EXPECT_NE(gst_buffer_add_custom_meta(buffer, "GstHeteroStillMeta"), nullptr);
    }
    ASSERT_EQ(rig.push(buffer), GST_FLOW_OK);
  };
  push(0, false);
  for (int i = 1; i < 7; ++i) push(i, true);
  ASSERT_TRUE(rig.wait_for("buffer 6"));
  EXPECT_EQ(device.executions(), 1);
  push(7, false);
  ASSERT_TRUE(rig.wait_for("buffer 7"));
  EXPECT_EQ(device.executions(), 2) << "a turn that a still frame had is the next one's";
  rig.event(gst_event_new_flush_start());
  rig.event(gst_event_new_flush_stop(TRUE));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  rig.event(gst_event_new_segment(&segment));
  push(8, true);
  rig.event(gst_event_new_eos());
  ASSERT_TRUE(rig.wait_for("eos"));
  EXPECT_EQ(device.executions(), 3);
  EXPECT_EQ(carried, (std::vector<bool>{false, true, true, true, true, true, true, false, false}));
}

TEST(HeteroMotionDetect, CroppedFramesAndSharedBuffers) {
  MotionRig motion("gate=true gate-hold=0");
  ASSERT_TRUE(motion.rig.start(kWallCaps));
  for (int i = 0; i < 12; ++i) {
    // Something moves outside of what is to be seen.
    GstBuffer* buffer = wall_frame(motion.rig, i, 10 + i);
    GstVideoCropMeta* crop = gst_buffer_add_video_crop_meta(buffer);
    crop->x = 160;
    crop->width = 160;
    crop->height = kWallHeight;
    gst_buffer_ref(buffer);
    ASSERT_EQ(motion.rig.push(buffer), GST_FLOW_OK);
    EXPECT_FALSE(is_still(buffer)) << "another owner's buffer is not changed";
    gst_buffer_unref(buffer);
  }
  EXPECT_EQ(motion.take(),
            "11111111"
            "0000");
}

TEST(HeteroMotionDetect, ABufferThatIsTooSmallIsOneError) {
  MotionRig motion("");
  ASSERT_TRUE(motion.rig.start(kWallCaps));
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, 1000, nullptr);
  GST_BUFFER_PTS(buffer) = 0;
  EXPECT_EQ(motion.rig.push(buffer), GST_FLOW_ERROR);
  const std::vector<std::string> errors = motion.rig.errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("1000 bytes"), std::string::npos) << errors[0];
}

}  // namespace
}  // namespace het::gst_test
