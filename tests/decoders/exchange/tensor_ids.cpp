#include "inference/decoders/exchange/tensor_ids.h"

#include <gtest/gtest.h>

namespace het {
namespace {

TEST(TensorIds, LayersAreNamedWhereOthersAreThere) {
  EXPECT_TRUE(reader_of_tensors("", {{"a", "yolo-v8-out"}}).layer_names.empty());
  EXPECT_EQ(reader_of_tensors("", {{"x", ""}, {"a", "yolo-v8-out"}}).layer_names,
            std::vector<std::string>{"a"});
  const DecoderConfig masks = reader_of_tensors("", {{"p", "yolo-v8-segmentation-out-protos"},
                                                     {"x", "mine"},
                                                     {"d", "yolo-v8-segmentation-out-detections"}});
  EXPECT_EQ(masks.converter, "yolo_v8_seg");
  EXPECT_EQ(masks.layer_names, (std::vector<std::string>{"d", "p"}));
  EXPECT_TRUE(reader_of_tensors("", {{"d", "yolo-v8-segmentation-out-detections"}, {"x", ""}})
                  .layer_names.empty())
      << "the prototypes are the other one";
}

TEST(TensorIds, TheOrderTellsClassesFromScores) {
  const DecoderConfig ssd = reader_of_tensors("", {{"n", "generic-variant-1-out-count"},
                                                   {"s", "ssd-mobilenet-v1-variant-1-out-scores"},
                                                   {"c", "ssd-mobilenet-v1-variant-1-out-classes"},
                                                   {"b", "ssd-mobilenet-v1-variant-1-out-boxes"}});
  EXPECT_EQ(ssd.converter, "tf_detection");
  EXPECT_EQ(ssd.layer_names, (std::vector<std::string>{"b", "c", "s", "n"}));
  const DecoderConfig older = reader_of_tensors("", {{"s", "Gst.Model.ObjectDetector.Scores"},
                                                     {"c", "Gst.Model.ObjectDetector.Classes"},
                                                     {"b", "Gst.Model.ObjectDetector.Boxes"}});
  EXPECT_EQ(older.layer_names, (std::vector<std::string>{"b", "c", "s"}));
  const DecoderConfig half =
      reader_of_tensors("", {{"s", "ssd-mobilenet-v1-variant-1-out-scores"}, {"b", ""}});
  EXPECT_EQ(half.converter, "tf_detection");
  EXPECT_TRUE(half.layer_names.empty());
}

TEST(TensorIds, BoxesBelongToWhoeverReadsTheRest) {
  const DecoderConfig faces = reader_of_tensors(
      "", {{"s", "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores"},
           {"b", "ssd-mobilenet-v1-variant-1-out-boxes"}});
  EXPECT_EQ(faces.converter, "boxes_scores");
  EXPECT_EQ(faces.box_format, "xyxy");
  EXPECT_EQ(faces.background_class, 0);
  EXPECT_TRUE(faces.layer_names.empty());
  EXPECT_EQ(reader_of_tensors("", {{"b", "ssd-mobilenet-v1-variant-1-out-boxes"}}).converter, "");
}

TEST(TensorIds, SeveralReadersAreNone) {
  EXPECT_EQ(reader_of_tensors("yolo-v8-out", {{"a", "yolo-v8-out"}, {"b", "yolo-26-end2end-out"}})
                .converter,
            "");
  EXPECT_EQ(reader_of_tensors("mine", {}).converter, "");
  EXPECT_EQ(reader_of_tensors("", {{"a", ""}, {"b", ""}}).converter, "");
}

}  // namespace
}  // namespace het
