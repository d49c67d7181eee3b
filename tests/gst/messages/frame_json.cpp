#include "gst/messages/frame_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "gst/messages/json_meta.h"

namespace het::gst {
namespace {

using nlohmann::json;

FrameObject dog() {
  FrameObject object;
  object.rect = {10, 20, 30, 40};
  object.type = "dog";
  object.detection = ObjectDetection{static_cast<double>(0.1f),  static_cast<double>(0.3f),
                                     static_cast<double>(0.2f),  static_cast<double>(0.7f),
                                     static_cast<double>(0.85f), 16};
  return object;
}

TEST(FrameJson, HasGvametaconvertsKeys) {
  FrameObject object = dog();
  object.attributes.push_back({"color", "brown", "colours", 2, static_cast<double>(0.9f)});
  object.attributes.push_back({"number", std::nullopt, "", 7, std::nullopt});
  object.landmarks = ObjectLandmarks{{0.25, 0.5}, {0.125, 1.0}, {"nose", "tail"}};
  FrameDescription frame;
  frame.width = 100;
  frame.height = 50;
  frame.timestamp_ns = 40'000'000;
  frame.source = "camera";
  frame.tags_json = "{\"site\":[1,2]}";
  const std::string expected =
      "{\"objects\":[{\"color\":{\"confidence\":0.9,\"label\":\"brown\",\"label_id\":2,"
      "\"model\":{\"name\":\"colours\"}},"
      "\"detection\":{\"bounding_box\":{\"x_max\":0.3,\"x_min\":0.1,\"y_max\":0.7,\"y_min\":0.2},"
      "\"confidence\":0.85,\"label\":\"dog\",\"label_id\":16},\"h\":40,"
      "\"landmarks\":[{\"name\":\"nose\",\"x\":0.25,\"y\":0.125},"
      "{\"name\":\"tail\",\"x\":0.5,\"y\":1.0}],"
      "\"number\":{\"label_id\":7},\"roi_type\":\"dog\",\"w\":30,\"x\":10,\"y\":20}],"
      "\"resolution\":{\"height\":50,\"width\":100},\"source\":\"camera\","
      "\"tags\":{\"site\":[1,2]},\"timestamp\":40000000}";
  EXPECT_EQ(frame_to_json(frame, {object}, -1), expected);
}

TEST(FrameJson, ZonesAndTripwiresHaveGvaanalyticsKeys) {
  FrameObject object = dog();
  object.zones = {{"yard", 100, 30}, {"street", std::nullopt, std::nullopt}};
  object.crossings = {{"gate", -1}};
  const json entry = json::parse(frame_to_json({}, {object}, -1))["objects"][0];
  EXPECT_EQ(entry["zone_violations"], json({"yard", "street"}));
  EXPECT_EQ(entry["zone_visits"],
            json::parse(R"([{"zone_id":"yard","enter_time":100,"dwell":30}])"));
  EXPECT_EQ(entry["tripwire_crossings"], json::parse(R"([{"tripwire_id":"gate","direction":-1}])"));
  FrameDescription frame;
  frame.zones.tripwires.emplace_back().id = "gate";
  frame.zones.tripwires[0].counts["dog"] = {2, 1};
  EXPECT_EQ(json::parse(frame_to_json(frame, {}, -1))["tripwires"],
            json::parse(R"([{"tripwire_id":"gate","forward":2,"backward":1,
                             "classes":{"dog":{"forward":2,"backward":1}}}])"));
}

TEST(FrameJson, ObjectsOfACascadeNameTheirParents) {
  FrameObject person = dog();
  person.region_id = 2;
  FrameObject face = dog();
  face.region_id = 5;
  face.parent_id = 2;
  face.object_id = 9;
  const json objects = json::parse(frame_to_json({}, {person, face}, -1))["objects"];
  EXPECT_EQ(objects[0]["region_id"], 2);
  EXPECT_FALSE(objects[0].contains("parent_id"));
  EXPECT_EQ(objects[1]["region_id"], 5);
  EXPECT_EQ(objects[1]["parent_id"], 2);
  EXPECT_EQ(objects[1]["id"], 9);
}

TEST(FrameJson, AFrameWithoutObjectsHasNoKeyForThem) {
  FrameDescription frame;
  frame.width = 8;
  frame.height = 4;
  EXPECT_EQ(frame_to_json(frame, {}, -1), "{\"resolution\":{\"height\":4,\"width\":8}}");
}

TEST(FrameJson, NumbersAreTheShortestThatReadBackAsTheSameFloat) {
  FrameObject object = dog();
  for (const float value : {1.0f / 3.0f, 0.99999994f, 1e-7f, 0.1f, 1.0f}) {
    object.detection->confidence = value;
    const json message = json::parse(frame_to_json({}, {object}, -1));
    const double printed = message["objects"][0]["detection"]["confidence"];
    EXPECT_EQ(static_cast<float>(printed), value);
  }
}

TEST(FrameJson, AnAttributeDoesNotReplaceAnObjectsKey) {
  FrameObject object = dog();
  object.attributes.push_back({"detection", "evil", "", 0, 0.5});
  object.attributes.push_back({"x", "evil", "", 0, 0.5});
  const json message = json::parse(frame_to_json({}, {object}, -1));
  EXPECT_EQ(message["objects"][0]["x"], 10);
  EXPECT_TRUE(message["objects"][0]["detection"].contains("bounding_box"));
}

TEST(FrameJson, TextsThatWereReadHaveNoLabelId) {
  FrameObject object = dog();
  object.attributes.push_back({"plate", "B-XY 12", "ocr", std::nullopt, 0.5});
  const json message = json::parse(frame_to_json({}, {object}, -1));
  EXPECT_EQ(message["objects"][0]["plate"].dump(),
            "{\"confidence\":0.5,\"label\":\"B-XY 12\",\"model\":{\"name\":\"ocr\"}}");
}

TEST(FrameJson, TurnedBoxesAndMasks) {
  FrameObject object = dog();
  EXPECT_FALSE(
      json::parse(frame_to_json({}, {object}, -1))["objects"][0]["detection"].contains("rotation"));
  object.detection->rotation = 0.5;
  object.tensors.masks.push_back({{"", "instance_segmentation", "", "seg"},
                                  Tensor::from<float>({2, 3}, {0, 1, 0.5f, 0.25f, 0, 1})});
  FrameDescription frame;
  frame.add_tensor_data = true;
  const json message = json::parse(frame_to_json(frame, {object}, -1))["objects"][0];
  EXPECT_EQ(message["detection"]["rotation"], 0.5);
  EXPECT_EQ(
      message["masks"].dump(),
      "[{\"format\":\"instance_segmentation\",\"height\":2,\"model_name\":\"seg\",\"pixels\":3,"
      "\"width\":3}]");
  EXPECT_EQ(message["tensors"][0]["data"].size(), 6u);
  EXPECT_EQ(message["tensors"][0]["dims"], (std::vector<int>{2, 3}));
}

/// An object with one of everything that metadata_tensors.h has.
FrameObject with_tensors(FrameObject object) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  object.tensors.tensors.push_back(
      {{"id", "cosine_distance", "out", "reid"}, Tensor::from<float>({1, 3}, {0.1f, nan, -2.0f})});
  ObjectKeypoints body;
  body.origin = {"", "body-pose/two", "heat", "pose"};
  body.values = Tensor::from<float>({2, 2}, {0.25f, 0.5f, -1.0f, -1.0f});
  body.names = {"head", "foot"};
  body.confidences = {0.75, 0.0};
  body.connections = {{0, 1}};
  object.tensors.keypoints.push_back(body);
  object.tensors.segmentations.push_back({{"road", "semantic_segmentation", "prob", "seg"},
                                          Tensor::from<uint8_t>({1, 2, 2}, {1, 1, 0, 7}),
                                          0.0,
                                          1.0,
                                          0.0,
                                          1.0,
                                          {"BG", "road"}});
  object.tensors.pictures.push_back({{"large", "", "", "sr"}, "GRAY8", 1920, 1080});
  return object;
}

TEST(FrameJson, TensorsAreSummarised) {
  const json object = json::parse(frame_to_json({}, {with_tensors(dog())}, -1))["objects"][0];
  EXPECT_FALSE(object.contains("tensors"));
  EXPECT_EQ(object["keypoints"].dump(),
            "[{\"format\":\"body-pose/two\",\"layer_name\":\"heat\",\"model_name\":\"pose\","
            "\"points\":[{\"confidence\":0.75,\"name\":\"head\",\"x\":0.25,\"y\":0.5},"
            "{\"confidence\":0.0,\"name\":\"foot\",\"x\":null,\"y\":null}]}]");
  EXPECT_EQ(object["segmentations"][0]["classes"].dump(),
            "[{\"label\":\"BG\",\"label_id\":0,\"pixels\":1},"
            "{\"label\":\"road\",\"label_id\":1,\"pixels\":2},"
            "{\"label_id\":7,\"pixels\":1}]");
  EXPECT_EQ(object["pictures"].dump(),
            "[{\"format\":\"GRAY8\",\"height\":1080,\"model_name\":\"sr\",\"name\":\"large\","
            "\"width\":1920}]");
}

TEST(FrameJson, TensorDataHasGvametaconvertsKeys) {
  FrameDescription frame;
  frame.add_tensor_data = true;
  const json tensors =
      json::parse(frame_to_json(frame, {with_tensors(dog())}, -1))["objects"][0]["tensors"];
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].dump(),
            "{\"data\":[0.1,null,-2.0],\"dims\":[1,3],\"format\":\"cosine_distance\","
            "\"layer_name\":\"out\",\"layout\":\"NC\",\"model_name\":\"reid\",\"name\":\"id\","
            "\"precision\":\"FP32\"}");
  EXPECT_EQ(tensors[1]["point_names"], (std::vector<std::string>{"head", "foot"}));
  EXPECT_EQ(tensors[1]["point_connections"], (std::vector<int>{0, 1}));
  EXPECT_EQ(tensors[2]["precision"], "U8");
  EXPECT_EQ(tensors[2]["data"], (std::vector<int>{1, 1, 0, 7}));
}

TEST(FrameJson, TensorsOfTheWholePictureStandAtTheFrame) {
  FrameObject whole;
  whole.rect = {0, 0, 8, 4};
  whole.tensors.tensors.push_back({{}, Tensor::from<int64_t>({2}, {-5, 1LL << 60})});
  FrameDescription frame;
  frame.add_tensor_data = true;
  const json message = json::parse(frame_to_json(frame, {whole}, -1));
  EXPECT_FALSE(message.contains("objects"));
  EXPECT_EQ(message["tensors"][0]["data"].dump(), "[-5,1152921504606846976]");
}

TEST(FrameJson, IndentationAndOddText) {
  FrameObject object = dog();
  object.type = "a \"quoted\" \xff label";
  const std::string text = frame_to_json({}, {object}, 2);
  EXPECT_NE(text.find("\n  \"objects\""), std::string::npos);
  EXPECT_TRUE(json::accept(text));
}

TEST(FrameJson, CheckJson) {
  EXPECT_TRUE(check_json("{\"a\":1}").ok());
  EXPECT_TRUE(check_json("3").ok());
  EXPECT_FALSE(check_json("camera").ok());
}

TEST(JsonMeta, MessagesKeepTheirOrderAndGoAlongWithCopies) {
  GstBuffer* buffer = gst_buffer_new();
  EXPECT_TRUE(json_messages(buffer).empty());
  add_json_message(buffer, "first");
  add_json_message(buffer, "second");
  GstBuffer* copy = gst_buffer_copy(buffer);
  gst_buffer_unref(buffer);
  EXPECT_EQ(json_messages(copy), (std::vector<std::string>{"first", "second"}));
  gst_buffer_unref(copy);
}

}  // namespace
}  // namespace het::gst
