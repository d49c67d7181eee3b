#include "gst/frame_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gst/json_meta.h"

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
