/// GStreamer's elements that draw, track and find, beside ours: theirs read our results from
/// GstAnalyticsRelationMeta, ours read theirs.
#include <gst/video/video.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "pipeline_run.h"
#include "scripted_device.h"
#include "tensor_model.h"

namespace het::gst_test {
namespace {

using nlohmann::json;

#define HET_NEEDS_ELEMENT(name)                                                        \
  if (!has_upstream_element(name))                                                     \
  GTEST_SKIP() << "GStreamer " << GST_VERSION_MAJOR << "." << GST_VERSION_MINOR << "." \
               << GST_VERSION_MICRO << " has no " << name                              \
               << " (objectdetectionoverlay: 1.26 has; others: 1.28)"

bool has_upstream_element(const char* name) {
  GstElementFactory* factory = gst_element_factory_find(name);
  if (factory != nullptr) gst_object_unref(factory);
  return factory != nullptr;
}

constexpr int kYoloCells = 84;  // of 64x64: 8x8, 4x4 and 2x2
constexpr int kYoloClasses = 2;
constexpr int kYoloMasks = 2;

/// YOLOv8 with masks for pictures of 64x64: an object of class 1 in each box (centre and size in
/// the model's picture); the left half of the picture belongs to objects.
std::string write_yolo_with_masks(const ScratchFolder& folder,
                                  const std::vector<std::vector<float>>& boxes) {
  constexpr int kValues = 4 + kYoloClasses + kYoloMasks;
  std::vector<float> planes(static_cast<size_t>(kValues * kYoloCells));
  for (size_t i = 0; i < boxes.size(); ++i) {
    const auto at = [&](size_t plane) -> float& { return planes[plane * kYoloCells + 7 + i]; };
    for (size_t k = 0; k < 4; ++k) at(k) = boxes[i][k];
    at(4 + 1) = 0.875f;
    at(4 + kYoloClasses) = 4.0f;
  }
  std::vector<float> prototypes(static_cast<size_t>(kYoloMasks * 16 * 16));
  for (size_t i = 0; i < 16 * 16; ++i) prototypes[i] = i % 16 < 8 ? 1.0f : -1.0f;
  return write_constant_model(folder, "seg", 64, 64,
                              {{"output1", {1, kYoloMasks, 16, 16}, prototypes},
                               {"output0", {1, kValues, kYoloCells}, planes}});
}

/// Classes of a picture of 32x24: 1 above, below 0 on the left and 2 on the right.
std::string write_segmenter(const ScratchFolder& folder) {
  std::vector<float> planes(3 * 24 * 32);
  for (size_t cell = 0; cell < 24 * 32; ++cell) {
    const size_t best = cell < 12 * 32 ? 1 : cell % 32 < 16 ? 0 : 2;
    planes[best * 24 * 32 + cell] = 1.0f;
  }
  return write_constant_model(folder, "street", 24, 32, {{"classes", {1, 3, 24, 32}, planes}});
}

std::string grey_picture(int frames = 1) {
  return "videotestsrc num-buffers=" + std::to_string(frames) +
         " pattern=solid-color foreground-color=0xff404040 ! "
         "video/x-raw,format=BGRA,width=320,height=192,framerate=25/1 ! ";
}

/// The smallest box around each colour but grey, or around all of them under 0.
std::map<uint32_t, GstVideoRectangle> drawn_boxes(GstBuffer* buffer, int width, int height) {
  std::map<uint32_t, GstVideoRectangle> boxes;
  GstMapInfo map;
  EXPECT_TRUE(gst_buffer_map(buffer, &map, GST_MAP_READ));
  const auto count = static_cast<gsize>(width) * static_cast<gsize>(height) * 4;
  EXPECT_EQ(map.size, count);
  for (int y = 0; map.size == count && y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const guint8* pixel = map.data + 4 * (y * width + x);
      const uint32_t color = pixel[0] | pixel[1] << 8 | pixel[2] << 16;
      if (color == 0x404040) continue;
      for (const uint32_t key : {0u, color}) {
        const auto [found, is_new] = boxes.try_emplace(key, GstVideoRectangle{x, y, 1, 1});
        GstVideoRectangle& box = found->second;
        if (is_new) continue;
        const int right = std::max(box.x + box.w, x + 1);
        box.x = std::min(box.x, x);
        box.w = right - box.x;
        box.h = y + 1 - box.y;
      }
    }
  }
  gst_buffer_unmap(buffer, &map);
  return boxes;
}

/// What `elements` draw on a grey picture.
std::map<uint32_t, GstVideoRectangle> boxes_behind(const std::string& elements, int width = 320,
                                                   int height = 192) {
  PipelineRun run(grey_picture() + elements + " ! fakesink name=sink");
  std::map<uint32_t, GstVideoRectangle> boxes;
  run.on_buffer("sink", [&](GstBuffer* buffer) { boxes = drawn_boxes(buffer, width, height); });
  EXPECT_EQ(run.play().problem(), "");
  return boxes;
}

void expect_box(const GstVideoRectangle& box, int x, int y, int width, int height, int slack) {
  EXPECT_NEAR(box.x, x, slack);
  EXPECT_NEAR(box.y, y, slack);
  EXPECT_NEAR(box.x + box.w, x + width, slack);
  EXPECT_NEAR(box.y + box.h, y + height, slack);
}

/// The messages of heterometaconvert for `frames` frames.
std::vector<json> told_behind(const ScratchFolder& folder, const std::string& source,
                              const std::string& elements) {
  const std::string file = folder.file("told.json");
  PipelineRun run(source + elements +
                  " ! heterometaconvert add-empty-results=true ! heterometapublish "
                  "file-format=json-lines file-path=" +
                  file + " ! fakesink");
  EXPECT_EQ(run.play().problem(), "");
  std::vector<json> messages;
  const std::string text = read_text(file);
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    messages.push_back(json::parse(text.substr(at, end - at)));
    at = end + 1;
  }
  return messages;
}

/// Two objects that cross a picture of 320x192 in opposite directions, told in changing order.
std::string write_walk(const ScratchFolder& folder, int frames) {
  json list = json::array();
  for (int i = 0; i < frames; ++i) {
    json objects = {{{"x", 10 + 8 * i}, {"y", 20}, {"w", 60}, {"h", 60}, {"roi_type", "right"}},
                    {{"x", 240 - 8 * i}, {"y", 110}, {"w", 60}, {"h", 60}, {"roi_type", "left"}}};
    if (i % 2 == 1) std::reverse(objects.begin(), objects.end());
    list.push_back({{"objects", objects}});
  }
  write_text(folder.file("walk.json"), list.dump());
  return "heteroattachroi mode=in-order file-path=" + folder.file("walk.json") + " ";
}

std::string detect_masks(const ScratchFolder& folder, const std::string& model) {
  return "heterodetect model=" + model +
         " model-proc=" + write_descriptor(folder, "d", "yolo_v8_seg") + " ";
}

TEST(UpstreamResults, TheirOverlayDrawsAnObjectsMask) {
  HET_NEEDS_ELEMENT("segmentationoverlay");
  const ScratchFolder folder;
  // The box is (100, 60) to (220, 132); what belongs to it ends in the middle of the picture.
  const std::string detect =
      detect_masks(folder, write_yolo_with_masks(folder, {{32, 32, 24, 24}}));
  const std::string overlay = "segmentationoverlay";
  constexpr int kPlace = 20;  // the mask's places are as large
  auto boxes = boxes_behind(detect + "! " + overlay);
  expect_box(boxes[0], 100, 60, 60, 72, kPlace);
  boxes = boxes_behind(detect + "! videoscale ! video/x-raw,width=640,height=384 ! " + overlay, 640,
                       384);
  expect_box(boxes[0], 200, 120, 120, 144, 2 * kPlace);
  // Borders of 28 lines above and below, in which upstream draws nothing.
  boxes = boxes_behind(detect +
                           "! videoscale add-borders=true ! "
                           "video/x-raw,width=160,height=152,pixel-aspect-ratio=1/1 ! " +
                           overlay,
                       160, 152);
  ASSERT_EQ(boxes.size(), 2u) << "one colour beside the black of the borders";
  expect_box(boxes.rbegin()->second, 50, 58, 30, 36, kPlace / 2);
  EXPECT_TRUE(boxes_behind(detect + "metadata-form=roi ! " + overlay).empty());
}

TEST(UpstreamResults, TheirOverlayDrawsAMaskThatLeavesThePicture) {
  HET_NEEDS_ELEMENT("segmentationoverlay");
  const ScratchFolder folder;
  // From 12 columns of the model's left of the picture to 20 inside, and 8 rows above.
  const auto boxes =
      boxes_behind(detect_masks(folder, write_yolo_with_masks(folder, {{4, 8, 32, 32}})) +
                   "! segmentationoverlay");
  ASSERT_TRUE(boxes.contains(0));
  expect_box(boxes.at(0), 0, 0, 100, 72, 20);
}

TEST(UpstreamResults, TheirOverlayColoursObjectsApart) {
  HET_NEEDS_ELEMENT("segmentationoverlay");
  const ScratchFolder folder;
  const auto boxes = boxes_behind(
      detect_masks(folder, write_yolo_with_masks(folder, {{12, 16, 16, 16}, {12, 48, 16, 16}})) +
      "! segmentationoverlay");
  EXPECT_EQ(boxes.size(), 3u) << "two colours, and all together";
}

TEST(UpstreamResults, TheirOverlayDrawsClassesOfThePicture) {
  HET_NEEDS_ELEMENT("segmentationoverlay");
  const ScratchFolder folder;
  const std::string model = write_segmenter(folder);
  const std::string descriptor =
      write_descriptor(folder, "s", "semantic_segmentation", "no-aspect-ratio",
                       R"(, "labels": ["background", "sky", "road"])");
  for (const char* element : {"heterodetect", "heteroclassify inference-region=full-frame"}) {
    const std::string segment =
        std::string(element) + " model=" + model + " model-proc=" + descriptor;
    auto boxes = boxes_behind(segment + " ! segmentationoverlay");
    EXPECT_EQ(boxes.size(), 3u) << "two classes; it leaves out class 0";
    expect_box(boxes[0], 0, 0, 320, 192, 1);
    // A row of the model's is 8 rows of the picture.
    boxes = boxes_behind(segment + " ! segmentationoverlay selected-types=road");
    EXPECT_EQ(boxes.size(), 2u);
    expect_box(boxes[0], 160, 96, 160, 96, 8);
    boxes = boxes_behind(segment + " ! segmentationoverlay selected-types=sky");
    expect_box(boxes[0], 0, 0, 320, 96, 8);
  }
}

TEST(UpstreamResults, TheirOverlayDrawsBoxesInScaledPictures) {
  HET_NEEDS_ELEMENT("objectdetectionoverlay");
  const ScratchFolder folder;
  const std::string detect =
      detect_masks(folder, write_yolo_with_masks(folder, {{32, 32, 24, 24}}));
  auto boxes = boxes_behind(detect +
                                "! videoscale ! video/x-raw,width=640,height=384 ! "
                                "objectdetectionoverlay draw-labels=false",
                            640, 384);
  expect_box(boxes[0], 200, 120, 240, 144, 3);
}

/// YOLOv8's turned box, of 40x8 places in the middle of 64x64: a quarter turn makes it 8x40.
TEST(UpstreamResults, TheirOverlayDrawsTurnedBoxes) {
  if (!has_upstream_element("objectdetectionoverlay") || !GST_CHECK_VERSION(1, 28, 0))
    GTEST_SKIP() << "GStreamer " << GST_VERSION_MAJOR << "." << GST_VERSION_MINOR
                 << " draws no turned boxes (1.28 does)";
  const ScratchFolder folder;
  constexpr int kValues = 4 + kYoloClasses + 1;
  std::vector<float> planes(static_cast<size_t>(kValues * kYoloCells));
  const std::vector<float> values = {32, 32, 40, 8, 0, 0.875f, static_cast<float>(G_PI_4)};
  for (size_t i = 0; i < values.size(); ++i) planes[i * kYoloCells + 7] = values[i];
  const std::string model =
      write_constant_model(folder, "obb", 64, 64, {{"output0", {1, kValues, kYoloCells}, planes}});
  PipelineRun run(
      "videotestsrc num-buffers=1 pattern=solid-color foreground-color=0xff404040 ! "
      "video/x-raw,format=BGRA,width=64,height=64 ! heterodetect model=" +
      model + " model-proc=" + write_descriptor(folder, "o", "yolo_v8_obb") +
      " ! objectdetectionoverlay draw-labels=false ! fakesink name=sink");
  std::map<uint32_t, GstVideoRectangle> boxes;
  bool is_corner_drawn = true;
  run.on_buffer("sink", [&](GstBuffer* buffer) {
    boxes = drawn_boxes(buffer, 64, 64);
    // The upright rectangle around it begins at (15, 15).
    is_corner_drawn = false;
    for (int y = 14; y < 20; ++y) {
      guint8 row[4 * 6];
      gst_buffer_extract(buffer, static_cast<gsize>(4 * (64 * y + 44)), row, sizeof(row));
      for (size_t i = 0; i < sizeof(row); i += 4) is_corner_drawn |= row[i] != 0x40;
    }
  });
  EXPECT_EQ(run.play().problem(), "");
  ASSERT_TRUE(boxes.contains(0));
  expect_box(boxes.at(0), 15, 15, 34, 34, 4);
  EXPECT_FALSE(is_corner_drawn) << "an upright box";
}

TEST(UpstreamResults, TheirTrackersIdsAreThoseOfOurObjects) {
  HET_NEEDS_ELEMENT("ioutracker");
  const ScratchFolder folder;
  std::vector<json> messages =
      told_behind(folder, grey_picture(6), write_walk(folder, 6) + "! ioutracker");
  ASSERT_EQ(messages.size(), 6u);
  std::map<std::string, std::set<int>> ids;
  for (json& message : messages) {
    ASSERT_EQ(message["objects"].size(), 2u) << message;
    for (const json& object : message["objects"])
      ids[object["roi_type"]].insert(object.value("id", -1));
  }
  EXPECT_EQ(ids["right"], (std::set<int>{0}));
  EXPECT_EQ(ids["left"], (std::set<int>{1}));
}

TEST(UpstreamResults, TheirTrackerFollowsWhatOursDetects) {
  HET_NEEDS_ELEMENT("ioutracker");
  const ScratchFolder folder;
  std::vector<json> messages = told_behind(
      folder, grey_picture(3),
      detect_masks(folder, write_yolo_with_masks(folder, {{12, 16, 16, 16}, {12, 48, 16, 16}})) +
          "! ioutracker ! videoscale ! video/x-raw,width=160,height=96");
  ASSERT_EQ(messages.size(), 3u);
  for (json& message : messages) {
    ASSERT_EQ(message["objects"].size(), 2u) << message;
    EXPECT_EQ(message["objects"][0]["id"], 0);
    EXPECT_EQ(message["objects"][1]["id"], 1);
  }
}

TEST(UpstreamResults, TheirTrackerSavesClassifications) {
  HET_NEEDS_ELEMENT("ioutracker");
  const ScratchFolder folder;
  ScriptedDevice device;
  const int before = device.executions();
  std::vector<json> messages =
      told_behind(folder, grey_picture(6),
                  write_walk(folder, 6) +
                      "! ioutracker ! heteroclassify device=SCRIPTED reclassify-interval=0 model=" +
                      classifier_model() + " model-proc=" + classifier_proc());
  EXPECT_EQ(device.executions() - before, 2) << "one for each object";
  ASSERT_EQ(messages.size(), 6u);
  for (const json& object : messages[5]["objects"]) EXPECT_TRUE(object.contains("color")) << object;
}

TEST(UpstreamResults, OurTrackerReplacesTheirIds) {
  HET_NEEDS_ELEMENT("ioutracker");
  const ScratchFolder folder;
  for (json message :
       told_behind(folder, grey_picture(4), write_walk(folder, 4) + "! ioutracker ! heterotrack"))
    for (const json& object : message["objects"])
      EXPECT_EQ(object["id"], object["roi_type"] == "right" ? 1 : 2) << message;
}

/// Theirs finds an object and its mask in the tensors of our inference.
TEST(UpstreamResults, TheirObjectsHaveMasksAndTracks) {
  HET_NEEDS_ELEMENT("yolosegv8tensordec");
  const ScratchFolder folder;
  const std::string find =
      "heteroinference model=" + write_yolo_with_masks(folder, {{32, 32, 20, 24}}) +
      " model-proc=" + write_descriptor(folder, "d", "yolo_v8_seg", "aspect-ratio") +
      " ! yolosegv8tensordec ! ";
  std::vector<json> messages = told_behind(folder, grey_picture(3), find + "heterotrack");
  ASSERT_EQ(messages.size(), 3u);
  for (json& message : messages) {
    ASSERT_EQ(message["objects"].size(), 1u) << message;
    const json& object = message["objects"][0];
    EXPECT_EQ(object["id"], 1);
    ASSERT_TRUE(object.contains("masks")) << message;
    ASSERT_EQ(object["masks"].size(), 1u) << message;
    const json& mask = object["masks"][0];
    EXPECT_EQ(mask["format"], "instance_segmentation");
    const int places = mask["width"].get<int>() * mask["height"].get<int>();
    EXPECT_GT(places, 0);
    EXPECT_NEAR(mask["pixels"].get<int>(), places / 2, places / 4) << mask;
  }
  // The box is drawn, and in its left half the mask.
  const auto with_mask = boxes_behind(find + "heterowatermark displ-cfg=show-labels=false");
  EXPECT_GE(with_mask.size(), 3u) << "no colour beside that of the box";
}

}  // namespace
}  // namespace het::gst_test
