/// Regions on their way through cascades of elements and through GStreamer's own.

#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "tests/gst/pipeline_run.h"
#include "tests/gst/scripted_device.h"
#include "tests/gst/test_files.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

constexpr char kZones[] = R"([{"objects": [
  {"x": 0, "y": 0, "w": 40, "h": 60, "roi_type": "left", "id": 4},
  {"x": 80, "y": 20, "w": 60, "h": 80, "roi_type": "right", "id": 7}]}])";

/// The message of one frame of 160x120 with two zones and what the scripted device found in each of
/// them, with a landmark and an attribute of the left zone.
json through(const std::string& elements, const std::string& detect = "") {
  const ScratchFolder folder;
  write_text(folder.file("zones.json"), kZones);
  PipelineRun run(
      "videotestsrc num-buffers=1 ! video/x-raw,format=NV12,width=160,height=120,framerate=25/1 ! "
      "heteroattachroi file-path=" +
      folder.file("zones.json") + " ! heterodetect model=" + detector_model() + " model-proc=" +
      detector_proc() + " device=SCRIPTED inference-region=roi-list " + detect + " ! " + elements +
      " ! heterometaconvert add-tensor-data=true ! heterometapublish "
      "file-format=json-lines file-path=" +
      folder.file("out.json") + " ! fakesink");
  EXPECT_EQ(run.play(60).problem(), "");
  return json::parse(read_text(folder.file("out.json")));
}

/// The id of the region of this type.
int region_id(const json& message, const std::string& type) {
  for (const json& object : message["objects"])
    if (object.value("roi_type", "") == type) return object.value("region_id", -1);
  return -1;
}

void expect_cascade(const json& message) {
  ASSERT_EQ(message["objects"].size(), 4u) << message;
  std::vector<int> parents;
  std::set<int> ids;
  for (const json& object : message["objects"]) {
    ids.insert(object.at("region_id").get<int>());
    const bool is_zone = object.contains("id");
    EXPECT_NE(object.contains("parent_id"), is_zone) << object;
    if (!is_zone) parents.push_back(object["parent_id"]);
  }
  EXPECT_EQ(ids.size(), 4u) << "an id twice in " << message;
  EXPECT_EQ(parents, (std::vector<int>{region_id(message, "left"), region_id(message, "right")}));
}

TEST(RegionsThrough, WhatIsFoundInARegionSaysInWhich) {
  ScriptedDevice device;
  const json message = through("queue");
  expect_cascade(message);
  EXPECT_EQ(through("queue"), message) << "ids are the same in every run";
  // Where the zones have the other form, nothing can name them.
  if (GST_VERSION_MINOR < 26) expect_cascade(through("queue", "metadata-form=roi"));
}

TEST(RegionsThrough, BranchesThatMeetKeepWhoIsInWhom) {
  ScriptedDevice device;
  // The frame has regions of its own, so the ids change.
  const json message = through(
      "tee name=t ! queue ! heterometaaggregate name=a t. ! queue ! videoscale ! "
      "video/x-raw,width=80,height=60 ! a. a.");
  ASSERT_EQ(message["objects"].size(), 8u) << message;
  std::vector<int> parents;
  std::vector<int> zones;
  for (const json& object : message["objects"]) {
    if (object.contains("parent_id")) parents.push_back(object["parent_id"]);
    if (object.contains("id")) zones.push_back(object["region_id"]);
  }
  EXPECT_EQ(parents, zones) << message;
}

TEST(RegionsThrough, ConvertersScalersAndBranchesKeepThem) {
  ScriptedDevice device;
  for (const char* form : {"", "metadata-form=roi"}) {
    const json before = through("queue", form);
    for (const char* elements :
         {"videoconvert ! video/x-raw,format=BGR", "videoconvertscale ! video/x-raw,format=RGB",
          "tee ! queue", "videobalance contrast=1.1", "heterowatermark", "identity",
          "videoscale ! video/x-raw,width=160,height=120", "capsfilter caps=video/x-raw(ANY)"}) {
      const json after = through(elements, form);
      EXPECT_EQ(after, before) << elements << " " << form;
    }
  }
}

TEST(RegionsThrough, ScalersMovePlacesAndNothingElse) {
  ScriptedDevice device;
  for (const char* form : {"", "metadata-form=roi"}) {
    json before = through("queue", form);
    for (const char* elements :
         {"videoscale ! video/x-raw,width=320,height=240",
          "videoconvert ! video/x-raw,format=BGR ! videoscale ! video/x-raw,width=320,height=240",
          "videoconvertscale ! video/x-raw,format=I420,width=320,height=240"}) {
      json after = through(elements, form);
      EXPECT_EQ(after["resolution"]["width"], 320);
      ASSERT_EQ(after["objects"].size(), before["objects"].size()) << elements;
      for (size_t i = 0; i < after["objects"].size(); ++i) {
        json& object = after["objects"][i];
        for (const char* key : {"x", "y", "w", "h"}) {
          EXPECT_EQ(object[key], 2 * before["objects"][i][key].get<int>()) << elements << key;
          object[key] = before["objects"][i][key];
        }
      }
      after["resolution"] = before["resolution"];
      EXPECT_EQ(after, before) << elements << " " << form;
    }
  }
}

/// As docs/metadata.md says: the element drops them itself, ours and those of all others.
TEST(RegionsThrough, WhatMovesPixelsDropsRegions) {
  if (GST_VERSION_MINOR >= 24) {
    GTEST_SKIP() << "GStreamer " << GST_VERSION_MAJOR << "." << GST_VERSION_MINOR
                 << " may keep them (1.28 does); the page speaks of 1.22";
  }
  ScriptedDevice device;
  for (const char* elements : {"videocrop left=10", "videoflip video-direction=horiz",
                               "videoconvert ! video/x-raw,format=I420 ! videobox left=-10"}) {
    EXPECT_FALSE(
        through(std::string(elements) + " ! heteroattachroi roi=0,0,1,1")["objects"].size() > 1u)
        << elements;
  }
}

/// The zone "right" at (80, 20) of 60x80 behind `elements`, in pixels and in 0..1.
void expect_right_zone(const std::string& elements, int x, int y, int width, int height) {
  for (const char* form : {"metadata-form=roi", ""}) {
    const json message = through(elements, form);
    const double picture_width = message["resolution"]["width"];
    const double picture_height = message["resolution"]["height"];
    int zones = 0;
    for (const json& object : message["objects"]) {
      // What was found inside: its box tells the same place twice, if nothing was cut off.
      if (object.contains("detection") && object["x"] > 0 && object["y"] > 0) {
        const json& box = object["detection"]["bounding_box"];
        EXPECT_NEAR(box["x_min"].get<double>() * picture_width, object["x"].get<double>(), 1.01)
            << elements << " " << form << object;
        EXPECT_NEAR(box["y_max"].get<double>() * picture_height,
                    object["y"].get<double>() + object["h"].get<double>(), 1.01)
            << elements << " " << form << object;
      }
      if (object.value("roi_type", "") != "right") continue;
      ++zones;
      EXPECT_NEAR(object["x"].get<int>(), x, 1) << elements << " " << form;
      EXPECT_NEAR(object["y"].get<int>(), y, 1) << elements << " " << form;
      EXPECT_NEAR(object["w"].get<int>(), width, 1) << elements << " " << form;
      EXPECT_NEAR(object["h"].get<int>(), height, 1) << elements << " " << form;
      EXPECT_EQ(object["id"], 7) << elements << " " << form;
    }
    EXPECT_EQ(zones, 1) << elements << " " << form << message;
  }
}

TEST(RegionsThrough, WhatMovesPixelsMovesRegions) {
  if (!GST_CHECK_VERSION(1, 28, 0)) {
    GTEST_SKIP() << "GStreamer " << GST_VERSION_MAJOR << "." << GST_VERSION_MINOR
                 << " tells metas nothing of crops, borders and flips (1.28 does)";
  }
  ScriptedDevice device;
  expect_right_zone("videocrop left=40 top=10", 40, 10, 60, 80);
  expect_right_zone("videoflip video-direction=horiz", 20, 20, 60, 80);
  expect_right_zone("videoflip video-direction=90r", 20, 80, 80, 60);
  expect_right_zone("videoconvert ! video/x-raw,format=I420 ! videobox left=-10 top=-6", 90, 26, 60,
                    80);
  // 160x120 become 80x60 between borders of 20 lines.
  expect_right_zone(
      "videoscale add-borders=true ! video/x-raw,width=80,height=100,pixel-aspect-ratio=1/1", 40,
      30, 30, 40);
}

}  // namespace
}  // namespace het::gst_test
