#include "inference/decoders/exchange/tensor_groups.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/decoders/decode_case.h"

namespace het {
namespace {

/// Outputs of a model that one converter reads; the picture has 64x64 pixels, which are 84 cells.
struct GroupCase {
  test::DecodeCase ports{64, 64};
  std::string model_name = "net";
  std::map<std::string, std::string> properties;  ///< of the file
  ModelMetadata metadata;

  GroupCase& add(const std::string& name, const Shape& shape,
                 ElementType type = ElementType::Float32) {
    ports.outputs.push_back({name, {type, shape}, std::nullopt});
    return *this;
  }
  TensorGroup group(const Result<DecoderChoice>& choice) const {
    Model model(model_name);
    model.metadata() = properties;
    return tensor_group(model, metadata, choice, ports.inputs, ports.outputs);
  }
  TensorGroup group(const DecoderConfig& config) const {
    return group(DecoderChoice{{config}, "", false, {}});
  }
  TensorGroup group(const std::string& converter) const {
    return group(test::converter(converter));
  }
};

/// "GROUP: ID ID ..." in the order of the outputs.
std::string ids(const TensorGroup& group) {
  std::string text = group.id + ":";
  for (const GroupTensor& tensor : group.tensors) text += " " + tensor.id;
  return text;
}

constexpr const char* kSsdIds =
    "ssd-mobilenet-v1-variant-1-out: ssd-mobilenet-v1-variant-1-out-boxes "
    "ssd-mobilenet-v1-variant-1-out-classes ssd-mobilenet-v1-variant-1-out-scores "
    "generic-variant-1-out-count";

TEST(TensorGroups, RowsOfYoloAreAskedForAsPlanes) {
  for (const char* name : {"yolo_v8", "yolo_v9", "yolo_v11"}) {
    for (const Shape& shape : {Shape{1, 6, 84}, Shape{1, 84, 6}}) {
      const TensorGroup group = GroupCase().add("output0", shape).group(name);
      EXPECT_EQ(ids(group), "yolo-v8-out: yolo-v8-out");
      const GroupTensor& tensor = group.tensors.front();
      EXPECT_TRUE(tensor.is_known && tensor.column_major);
      EXPECT_EQ(tensor.places, TensorPlaces::PixelPlanes);
      EXPECT_EQ(tensor.is_transposed, shape[2] == 6);
      EXPECT_EQ(tensor.shape, (Shape{1, 6, 84}));
    }
  }
}

TEST(TensorGroups, TheSideThatIsKnownTellsRowsFromPlanes) {
  const auto transposed = [](const Shape& shape) {
    return GroupCase().add("output0", shape).group("yolo_v8").tensors.front().is_transposed;
  };
  EXPECT_FALSE(transposed({1, 84, 84})) << "as many values as cells";
  EXPECT_FALSE(transposed({1, 200, 84}));
  EXPECT_TRUE(transposed({1, 84, 200}));
  EXPECT_TRUE(transposed({1, 100, 20})) << "neither is the number of cells";
  EXPECT_FALSE(transposed({1, 20, 100}));
  EXPECT_FALSE(transposed({1, 6, kUnknownDim}));
  EXPECT_TRUE(transposed({1, kUnknownDim, 6}));
  EXPECT_FALSE(transposed({1, kUnknownDim, kUnknownDim}));
}

TEST(TensorGroups, YoloWithMasksInEitherOrder) {
  for (const char* name : {"yolo_v8_seg", "yolo_v9_seg", "yolo_v11_seg"}) {
    EXPECT_EQ(ids(GroupCase().add("a", {1, 38, 84}).add("b", {1, 32, 16, 16}).group(name)),
              "yolo-v8-segmentation-out: yolo-v8-segmentation-out-detections "
              "yolo-v8-segmentation-out-protos");
    EXPECT_EQ(ids(GroupCase().add("b", {1, 32, 16, 16}).add("a", {1, 38, 84}).group(name)),
              "yolo-v8-segmentation-out: yolo-v8-segmentation-out-protos "
              "yolo-v8-segmentation-out-detections");
  }
  EXPECT_EQ(ids(GroupCase().add("a", {1, 38, 84}).group("yolo_v8_seg")), "net-out: a");
}

TEST(TensorGroups, TurnedBoxesAndPoints) {
  EXPECT_EQ(ids(GroupCase().add("a", {1, 20, 84}).group("yolo_v8_obb")),
            "yolo-v8-obb-out: yolo-v8-obb-out");
  GroupCase pose = GroupCase().add("a", {1, 84, 56});
  const TensorGroup one = pose.group("yolo_v11_pose");
  EXPECT_EQ(ids(one), "yolo-v8-pose-out: yolo-v8-pose-out");
  EXPECT_EQ(one.tensors[0].places, TensorPlaces::PixelPointPlanes);
  EXPECT_EQ(one.tensors[0].first_point, 5);
  EXPECT_TRUE(one.tensors[0].is_transposed);
  DecoderConfig labelled = test::converter("yolo_v8_pose");
  labelled.labels = {"a", "b", "c"};
  GroupCase classes = GroupCase().add("a", {1, 13, 84});
  EXPECT_EQ(classes.group(labelled).tensors[0].first_point, 7);
  labelled.classes = 6;
  EXPECT_EQ(classes.group(labelled).tensors[0].first_point, 10);
  // Points of x and y alone have no id.
  EXPECT_EQ(ids(GroupCase().add("a", {1, 39, 84}).group("yolo_v8_pose")), "net-out: a");
}

TEST(TensorGroups, WithoutSuppression) {
  for (const char* name : {"yolo_v10", "yolo_v26"}) {
    const TensorGroup group = GroupCase().add("output0", {1, 300, 6}).group(name);
    EXPECT_EQ(ids(group), "yolo-26-end2end-out: yolo-26-end2end-out");
    EXPECT_EQ(group.tensors[0].places, TensorPlaces::PixelCorners);
    EXPECT_FALSE(group.tensors[0].column_major || group.tensors[0].is_transposed);
  }
  EXPECT_EQ(ids(GroupCase().add("a", {1, 300, 7}).group("yolo_v26_obb")), "net-out: a");
}

TEST(TensorGroups, TensorFlowsDetectorsInAnyOrder) {
  EXPECT_EQ(ids(GroupCase()
                    .add("boxes", {1, 10, 4})
                    .add("classes:0", {1, 10})
                    .add("scores:0", {1, 10})
                    .add("num", {1})
                    .group("tf_detection")),
            kSsdIds);
  GroupCase other = GroupCase()
                        .add("num", {1})
                        .add("detection_Scores", {1, 10})
                        .add("b", {1, 10, 4})
                        .add("c", {1, 10});
  EXPECT_EQ(ids(other.group("tf_detection")),
            "ssd-mobilenet-v1-variant-1-out: generic-variant-1-out-count "
            "ssd-mobilenet-v1-variant-1-out-scores ssd-mobilenet-v1-variant-1-out-boxes "
            "ssd-mobilenet-v1-variant-1-out-classes");
  // What TensorFlow's API gives beside them.
  GroupCase all = other;
  all.add("raw_detection_boxes", {1, 100, 4}).add("detection_multiclass_scores", {1, 10, 91});
  const TensorGroup group = all.group("tf_detection");
  EXPECT_EQ(group.id, "ssd-mobilenet-v1-variant-1-out");
  EXPECT_EQ(group.tensors[4].id, "raw_detection_boxes");
  EXPECT_EQ(group.tensors[2].places, TensorPlaces::CornersRowFirst);
}

TEST(TensorGroups, ClassesAndScoresThatNothingTellsApart) {
  GroupCase unnamed =
      GroupCase().add("x", {1, 10, 4}).add("x:1", {1, 10}).add("x:2", {1, 10}).add("x:3", {1});
  EXPECT_EQ(ids(unnamed.group("tf_detection")), "net-out: x x:1 x:2 x:3");
  DecoderConfig ordered = test::converter("tf_detection");
  ordered.layer_names = {"x", "x:2", "x:1", "x:3"};
  EXPECT_EQ(ids(unnamed.group(ordered)),
            "ssd-mobilenet-v1-variant-1-out: ssd-mobilenet-v1-variant-1-out-boxes "
            "ssd-mobilenet-v1-variant-1-out-scores ssd-mobilenet-v1-variant-1-out-classes "
            "generic-variant-1-out-count");
  // Without their number.
  EXPECT_EQ(ids(GroupCase()
                    .add("boxes", {1, 10, 4})
                    .add("classes", {1, 10})
                    .add("scores", {1, 10})
                    .group("tf_detection")),
            "net-out: boxes classes scores");
}

TEST(TensorGroups, Faces) {
  DecoderConfig ultraface = test::converter("boxes_scores");
  ultraface.box_format = "xyxy";
  ultraface.background_class = 0;
  GroupCase faces = GroupCase().add("scores", {1, 20, 2}).add("boxes", {1, 20, 4});
  const TensorGroup group = faces.group(ultraface);
  EXPECT_EQ(ids(group),
            "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out: "
            "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores "
            "ssd-mobilenet-v1-variant-1-out-boxes");
  EXPECT_EQ(group.tensors[1].places, TensorPlaces::Corners);
  const auto others = [&](auto&& change) {
    DecoderConfig config = ultraface;
    change(config);
    return ids(faces.group(config));
  };
  const std::string none = "net-out: scores boxes";
  EXPECT_EQ(others([](DecoderConfig& config) { config.box_format = "cxcywh"; }), none);
  EXPECT_EQ(others([](DecoderConfig& config) { config.unit = "pixels"; }), none);
  EXPECT_EQ(others([](DecoderConfig& config) { config.class_softmax = true; }), none);
  EXPECT_EQ(others([](DecoderConfig& config) { config.background_class.reset(); }), none);
  EXPECT_EQ(ids(GroupCase().add("s", {1, 20, 5}).add("b", {1, 20, 4}).group(ultraface)),
            "net-out: s b");
  EXPECT_EQ(ids(GroupCase().add("b", {1, 20, 4}).add("c", {1, 20, 4}).group(ultraface)),
            "net-out: b c");
}

TEST(TensorGroups, Classes) {
  GroupCase model = GroupCase().add("prob", {1, 10, 1, 1});
  const TensorGroup done = model.group("label");
  EXPECT_EQ(ids(done),
            "classification-generic-softmaxed-out: classification-generic-softmaxed-out");
  EXPECT_EQ(done.tensors[0].shape, (Shape{1, 10}));
  DecoderConfig config = test::converter("label");
  config.method = "softmax";
  EXPECT_EQ(ids(model.group(config)), "classification-generic-out: classification-generic-out");
  config.method = "multi";
  EXPECT_EQ(ids(model.group(config)), "net-out: prob");
  config.method = "max";
  config.slice = {0, 5};
  EXPECT_EQ(ids(model.group(config)), "net-out: prob");
  EXPECT_EQ(ids(GroupCase().add("a", {1, 10}).add("b", {1, 5}).group("label")), "net-out: a b");
}

TEST(TensorGroups, WhatNobodyKnowsHasTheNamesOfTheModel) {
  GroupCase model = GroupCase().add("a", {1, 7, 7}, ElementType::Int64);
  const TensorGroup group = model.group(error(StatusCode::NotFound, "none"));
  EXPECT_EQ(ids(group), "net-out: a");
  EXPECT_FALSE(group.tensors[0].is_known);
  EXPECT_EQ(group.tensors[0].type, ElementType::Int64);
  EXPECT_EQ(ids(model.group("yunet")), "net-out: a");
  EXPECT_EQ(ids(model.group(DecoderChoice{
                {test::converter("yolo_v8"), test::converter("label")}, "", false, {}})),
            "net-out: a");
  model.model_name = "";
  EXPECT_EQ(model.group("yunet").id, "model-out");
}

TEST(TensorGroups, IdsOfTheModelsMetadata) {
  GroupCase model =
      GroupCase().add("x", {1, 10, 4}).add("x:1", {1, 10}).add("x:2", {1, 10}).add("x:3", {1});
  auto& metadata = model.properties;
  metadata["x"] = "Gst.Model.ObjectDetector.Boxes";
  metadata["x:1"] = "Gst.Model.ObjectDetector.Classes";
  metadata["x:2"] = "Gst.Model.ObjectDetector.Scores";
  metadata["x:3"] = "Gst.Model.ObjectDetector.NumDetections";
  EXPECT_EQ(ids(model.group(error(StatusCode::NotFound, "none"))), kSsdIds);
  metadata["x"] = "mine";
  EXPECT_EQ(model.group("tf_detection").tensors[0].id, "mine");
}

TEST(TensorGroups, AFilesIdsWin) {
  GroupCase model = GroupCase().add("output0", {1, 6, 84});
  model.properties["output0"] = "theirs";
  model.metadata.tensor_ids["output0"] = {"mine", true};
  const TensorGroup group = model.group("yolo_v8");
  EXPECT_EQ(ids(group), "net-out: mine") << "the group of a family whose ids are not there";
  EXPECT_TRUE(group.tensors[0].column_major);
  EXPECT_FALSE(group.tensors[0].is_known);
  model.metadata.group_id = "ours";
  EXPECT_EQ(model.group("yolo_v8").id, "ours");
  model.metadata = {};
  model.metadata.tensor_ids["output0"] = {"yolo-v8-out", false};
  const TensorGroup known = model.group(error(StatusCode::NotFound, "none"));
  EXPECT_EQ(ids(known), "yolo-v8-out: yolo-v8-out");
  EXPECT_TRUE(known.tensors[0].column_major) << "as its decoder wants it";
  // A group of its own does not change what ids mean.
  GroupCase faces = GroupCase().add("s", {1, 20, 2}).add("b", {1, 20, 4});
  faces.metadata.tensor_ids["s"] = {
      "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out-scores", false};
  faces.metadata.tensor_ids["b"] = {"ssd-mobilenet-v1-variant-1-out-boxes", false};
  EXPECT_EQ(faces.group("none").id, "ultra-lightweight-face-detection-rfb-320-v1-variant-1-out");
  faces.metadata.group_id = "ours";
  EXPECT_EQ(faces.group("none").tensors[1].places, TensorPlaces::Corners);
}

TEST(TensorGroups, IdsThatTheShapesRefuseMeanNothing) {
  for (const Shape& shape : {Shape{1, 84}, Shape{1, 3, 84}, Shape{1, 84, 3}, Shape{1, 6, 4, 4}}) {
    GroupCase model = GroupCase().add("a", shape);
    model.metadata.tensor_ids["a"] = {"yolo-v8-out", true};
    const GroupTensor tensor = model.group("none").tensors[0];
    EXPECT_EQ(tensor.id, "yolo-v8-out");
    EXPECT_FALSE(tensor.is_known || tensor.is_transposed) << to_string(shape);
    EXPECT_EQ(tensor.places, TensorPlaces::None);
    EXPECT_EQ(tensor.shape, shape);
  }
}

TEST(TensorGroups, OnePictureIsExchanged) {
  GroupCase model = GroupCase().add("output0", {4, 6, 84});
  model.ports.inputs[0].desc.shape[0] = 4;
  EXPECT_EQ(model.group("yolo_v8").tensors[0].shape, (Shape{1, 6, 84}));
  EXPECT_EQ(GroupCase().add("n", {}).group("none").tensors[0].shape, Shape{});
}

}  // namespace
}  // namespace het
