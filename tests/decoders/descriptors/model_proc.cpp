#include "inference/decoders/model_proc.h"

#include <gtest/gtest.h>

#include <string>

namespace het {
namespace {

std::string document(const std::string& inputs, const std::string& outputs) {
  return R"({"json_schema_version": "2.2.0", "input_preproc": [)" + inputs +
         R"(], "output_postproc": [)" + outputs + "]}";
}

ModelProc parse(const std::string& text) {
  const auto parsed = parse_model_proc(text, "test.json");
  EXPECT_TRUE(parsed) << parsed.error().message();
  return parsed ? *parsed : ModelProc{};
}

std::string message(const std::string& text) {
  const auto parsed = parse_model_proc(text, "test.json");
  EXPECT_FALSE(parsed) << text;
  return parsed ? "" : parsed.error().message();
}

PreprocessDesc image(const std::string& params) {
  const ModelProc model_proc = parse(document(R"({"params": )" + params + "}", ""));
  return model_proc.inputs.empty() ? PreprocessDesc{} : model_proc.inputs[0].preprocess;
}

TEST(ModelProc, EmptyListsMeanDefaults) {
  const ModelProc model_proc = parse(document("", ""));
  EXPECT_TRUE(model_proc.inputs.empty());
  EXPECT_TRUE(model_proc.outputs.empty());
}

TEST(ModelProc, ReadsDlStreamersExample) {
  // The example of DL Streamer's model_proc_file.md with a padding that we support.
  const ModelProc model_proc = parse(document(
      R"({"layer_name": "seq_ind", "format": "sequence_index"},
         {"format": "image_info", "layer_name": "image_info", "params": {"scale": 1.5}},
         {"layer_name": "input", "precision": "FP32", "format": "image",
          "params": {"resize": "aspect-ratio", "color_space": "RGB", "range": [0.0, 1.0],
                     "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225],
                     "padding": {"stride_x": 0, "stride_y": 0}}})",
      R"({"attribute_name": "emotion", "converter": "label", "method": "max",
          "labels": ["neutral", "happy"]})"));
  ASSERT_EQ(model_proc.inputs.size(), 3u);
  EXPECT_EQ(model_proc.inputs[0].format, "sequence_index");
  EXPECT_EQ(model_proc.inputs[1].format, "image_info");
  EXPECT_FLOAT_EQ(model_proc.inputs[1].scale, 1.5f);
  EXPECT_FALSE(model_proc.inputs[1].width_first);
  const PreprocessDesc& desc = model_proc.inputs[2].preprocess;
  EXPECT_EQ(desc.resize, ResizeMode::LetterboxCentre);
  EXPECT_EQ(desc.color_order, ColorOrder::RGB);
  EXPECT_FLOAT_EQ(desc.range_high, 1.0f);
  EXPECT_FLOAT_EQ(desc.mean[2], 0.406f);
  EXPECT_FLOAT_EQ(desc.std[0], 0.229f);
  ASSERT_EQ(model_proc.outputs.size(), 1u);
  EXPECT_EQ(model_proc.outputs[0].converter, "label");
  EXPECT_EQ(model_proc.outputs[0].attribute_name, "emotion");
  EXPECT_EQ(model_proc.outputs[0].labels, (std::vector<std::string>{"neutral", "happy"}));
}

TEST(ModelProc, Resize) {
  EXPECT_EQ(image("{}").resize, ResizeMode::Stretch);
  EXPECT_EQ(image(R"({"resize": "no"})").resize, ResizeMode::Stretch);
  EXPECT_EQ(image(R"({"resize": "no-aspect-ratio"})").resize, ResizeMode::Stretch);
  EXPECT_EQ(image(R"({"resize": "aspect-ratio"})").resize, ResizeMode::LetterboxCentre);
  EXPECT_EQ(image(R"({"resize": "aspect-ratio-pad"})").resize, ResizeMode::LetterboxTopLeft);
  EXPECT_EQ(image(R"({"crop": "central-resize"})").resize, ResizeMode::CentralCrop);
  EXPECT_EQ(image(R"({"resize": "aspect-ratio", "crop": "central"})").resize,
            ResizeMode::CentralCrop);
}

TEST(ModelProc, PaddingColour) {
  EXPECT_EQ(image(R"({"padding": {"fill_value": [114]}})").pad_value[2], 114.0f);
  EXPECT_EQ(image(R"({"padding": {"fill_value": [1, 2, 3]}})").pad_value[1], 2.0f);
}

TEST(ModelProc, PaddingBorder) {
  const PreprocessDesc both = image(R"({"padding": {"stride": 8}})");
  EXPECT_EQ(both.border_x, 8);
  EXPECT_EQ(both.border_y, 8);
  const PreprocessDesc each = image(R"({"padding": {"stride_x": 3, "stride_y": 5}})");
  EXPECT_EQ(each.border_x, 3);
  EXPECT_EQ(each.border_y, 5);
  EXPECT_EQ(image(R"({"padding": {"stride_x": 3}})").border_y, 0);
}

TEST(ModelProc, OlderNamesOfConverters) {
  const std::vector<std::pair<std::string, std::string>> names = {
      {"tensor_to_bbox_ssd", "detection_output"},
      {"tensor_to_bbox_atss", "boxes_labels"},
      {"tensor_to_bbox_yolo_v2", "yolo_v2"},
      {"tensor_to_bbox_yolo_v3", "yolo_v3"},
      {"tensor_to_bbox_yolo_v7", "yolo_v7"},
      {"tensor_to_bbox_yolo_v8", "yolo_v8"},
      {"tensor_to_bbox_mask_rcnn", "mask_rcnn"},
      {"tensor_to_label", "label"},
      {"tensor_to_text", "text"},
      {"tensor_to_keypoints_hrnet", "keypoints_hrnet"},
      {"tensor_to_keypoints_openpose", "keypoints_openpose"},
      {"tensor_to_keypoints_3d", "keypoints_3d"},
      {"detection", "torchvision"},
      {"ssd", "boxes_labels"},
      {"Classification", "label"},
      {"MaskRCNN", "mask_rcnn"},
      {"YOLOv8", "yolo_v8"},
      {"YOLOv8-OBB", "yolo_v8_obb"},
      {"YOLOv8-SEG", "yolo_v8_seg"}};
  for (const auto& [older, today] : names)
    EXPECT_EQ(parse(document("", R"({"converter": ")" + older + R"("})")).outputs.at(0).converter,
              today);
}

TEST(ModelProc, OurOwnKeys) {
  const ModelProc model_proc = parse(document(
      R"({"layout": "NHWC", "shape": [1, 320, 256, 3]},
         {"format": "image_info", "layer_name": "sizes", "params": {"order": "width,height"}})",
      R"({"converter": "boxes_scores", "box_format": "xyxy", "background_class": 0,
          "threshold": 0.7, "iou_threshold": 0.3, "do_cls_softmax": true, "classes": 2},
         {"converter": "yunet", "strides": [8, 16], "point_names": ["a"], "layer_names": ["x"]})"));
  EXPECT_TRUE(model_proc.inputs[0].layout_given);
  EXPECT_EQ(model_proc.inputs[0].preprocess.tensor_layout, Layout::NHWC);
  EXPECT_EQ(model_proc.inputs[0].shape, (Shape{1, 320, 256, 3}));
  EXPECT_TRUE(model_proc.inputs[1].width_first);
  const DecoderConfig& boxes = model_proc.outputs[0];
  EXPECT_EQ(boxes.box_format, "xyxy");
  EXPECT_EQ(boxes.background_class, 0);
  EXPECT_FLOAT_EQ(boxes.threshold.value(), 0.7f);
  EXPECT_FLOAT_EQ(boxes.iou_threshold.value(), 0.3f);
  EXPECT_TRUE(boxes.class_softmax);
  EXPECT_EQ(boxes.classes, 2);
  EXPECT_EQ(model_proc.outputs[1].strides, (std::vector<int>{8, 16}));
  EXPECT_EQ(model_proc.outputs[1].layer_names, (std::vector<std::string>{"x"}));
}

struct BadDocument {
  const char* what;
  std::string text;
  std::vector<std::string> said;
};

TEST(ModelProc, KeysOfYoloGrids) {
  const ModelProc model_proc = parse(document(
      "",
      R"({"converter": "yolo_v3", "classes": 2, "anchors": [10.0, 13.0, 16, 30], "masks": [1, 0],
              "bbox_number_on_cell": 1, "cells_number": 13, "do_cls_softmax": true,
              "output_sigmoid_activation": true})"));
  const DecoderConfig& config = model_proc.outputs.at(0);
  EXPECT_EQ(config.anchors, (std::vector<float>{10, 13, 16, 30}));
  EXPECT_EQ(config.masks, (std::vector<int>{1, 0}));
  EXPECT_EQ(config.boxes_per_cell, 1);
  EXPECT_EQ(config.cells_x, 13);
  EXPECT_EQ(config.cells_y, 13);
  EXPECT_TRUE(config.class_softmax);
  EXPECT_TRUE(config.sigmoid_activation);
  const ModelProc wide = parse(
      document("", R"({"converter": "yolo_v2", "cells_number_x": 20, "cells_number_y": 10})"));
  EXPECT_EQ(wide.outputs[0].cells_x, 20);
  EXPECT_EQ(wide.outputs[0].cells_y, 10);
  const auto fails = [](const std::string& keys, const std::string& text) {
    const std::string said = message(document("", R"({"converter": "yolo_v3", )" + keys + "}"));
    EXPECT_NE(said.find(text), std::string::npos) << said;
  };
  fails(R"("anchors": [1, 2, 3])", "pairs of width and height");
  fails(R"("anchors": [1, -2])", "not positive");
  fails(R"("anchors": [1, 2], "masks": [1])", "integers in 0..0");
  fails(R"("cells_number": 13, "cells_number_x": 13)", "cells_number");
  fails(R"("cells_number_x": 13)", "go together");
}

TEST(ModelProc, KeysOfHeatMaps) {
  const ModelProc model_proc =
      parse(document("", R"({"converter": "heatmap_boxes", "minimum_side": 3,
                             "binarize_threshold": 0.2})"));
  EXPECT_FLOAT_EQ(*model_proc.outputs.at(0).minimum_side, 3.0f);
  EXPECT_FLOAT_EQ(*model_proc.outputs[0].binarize_threshold, 0.2f);
}

TEST(ModelProc, ErrorsNameFileKeyAndWhatIsAllowed) {
  const std::vector<BadDocument> cases = {
      {"no JSON", "{", {"test.json", "not a valid JSON document"}},
      {"no object", "[]", {"test.json", "expected an object"}},
      {"no version",
       R"({"input_preproc": [], "output_postproc": []})",
       {"json_schema_version", "2.2.0"}},
      {"old version",
       R"({"json_schema_version": "1.0.0", "input_preproc": [], "output_postproc": []})",
       {"version 1.0.0 is not supported"}},
      {"missing list",
       R"({"json_schema_version": "2.2.0", "input_preproc": []})",
       {"output_postproc", "expected an array"}},
      {"unknown root key",
       R"({"json_schema_version": "2.2.0", "input_preproc": [], "output_postproc": [], "x": 1})",
       {"x: unknown key", "input_preproc"}},
      {"entry is no object", document("3", ""), {"input_preproc[0]", "expected an object"}},
      {"unknown input key",
       document(R"({"layer": "a"})", ""),
       {"input_preproc[0].layer", "layer_name"}},
      {"unknown format",
       document(R"({"format": "audio"})", ""),
       {"input_preproc[0].format", "'audio'", "image_info"}},
      {"unknown precision",
       document(R"({"precision": "FP99"})", ""),
       {"input_preproc[0].precision", "FP99"}},
      {"unknown parameter",
       document(R"({"params": {"resise": "no"}})", ""),
       {"input_preproc[0].params.resise", "resize"}},
      {"unknown resize",
       document(R"({"params": {"resize": "fit"}})", ""),
       {"params.resize", "'fit'", "aspect-ratio-pad"}},
      {"crop of a corner",
       document(R"({"params": {"crop": "top_left"}})", ""),
       {"params.crop", "central"}},
      {"stretched crop",
       document(R"({"params": {"resize": "no-aspect-ratio", "crop": "central"}})", ""),
       {"params.crop", "aspect ratio"}},
      {"mean alone", document(R"({"params": {"mean": [1, 2, 3]}})", ""), {"params.mean", "both"}},
      {"mean of two",
       document(R"({"params": {"mean": [1, 2], "std": [1]}})", ""),
       {"params.mean", "found 2"}},
      {"zero std", document(R"({"params": {"mean": [0], "std": [0]}})", ""), {"params.std"}},
      {"range upside down",
       document(R"({"params": {"range": [1, 0]}})", ""),
       {"params.range", "low < high"}},
      {"padding border twice",
       document(R"({"params": {"padding": {"stride": 8, "stride_x": 4}}})", ""),
       {"params.padding.stride", "stride_x and stride_y"}},
      {"negative padding border",
       document(R"({"params": {"padding": {"stride_y": -8}}})", ""),
       {"params.padding.stride_y", "0..4096"}},
      {"sounds",
       document("", R"({"converter": "audio_labels", "labels": [{"index": 0, "label": "Dog"}]})"),
       {"output_postproc[0].converter", "sounds"}},
      {"faces that are turned",
       document(R"({"params": {"alignment_points": [0.3, 0.4, 0.6, 0.4]}})", ""),
       {"params.alignment_points", "not turned"}},
      {"padding colour",
       document(R"({"params": {"padding": {"fill_value": [256]}}})", ""),
       {"fill_value", "0..255"}},
      {"params of sequence_index",
       document(R"({"format": "sequence_index", "params": {"scale": 1}})", ""),
       {"params.scale"}},
      {"scale is text",
       document(R"({"format": "image_info", "params": {"scale": "1"}})", ""),
       {"params.scale", "expected a number"}},
      {"negative shape", document(R"({"shape": [1, -3, 4, 4]})", ""), {"input_preproc[0].shape"}},
      {"unknown converter",
       document("", R"({"converter": "yolo_v99"})"),
       {"output_postproc[0].converter", "yolo_v99", "detection_output"}},
      {"key of another converter",
       document("", R"({"converter": "label", "iou_threshold": 0.4})"),
       {"output_postproc[0].iou_threshold", "method"}},
      {"threshold above 1",
       document("", R"({"converter": "yolo_x", "threshold": 1.5})"),
       {"output_postproc[0].threshold", "0..1"}},
      {"both layer keys",
       document("", R"({"converter": "yolo_x", "layer_name": "a", "layer_names": ["b"]})"),
       {"layer_names", "not both"}},
      {"labels of numbers",
       document("", R"({"converter": "yolo_x", "labels": [1]})"),
       {"output_postproc[0].labels", "array of strings"}},
      {"labels elsewhere",
       document("", R"({"converter": "yolo_x", "labels": "../secret.txt"})"),
       {"../secret.txt", "inside the folder", "labels-file"}},
      {"labels at an absolute path",
       document("", R"({"converter": "yolo_x", "labels": "/etc/passwd"})"),
       {"/etc/passwd", "inside the folder"}},
      {"labels missing",
       document("", R"({"converter": "yolo_x", "labels": "none.txt"})"),
       {"none.txt", "no such file"}},
      {"method",
       document("", R"({"converter": "label", "method": "min"})"),
       {"output_postproc[0].method", "softmax_multi"}},
      {"zero stride", document("", R"({"converter": "yolo_x", "strides": [0]})"), {"strides"}},
      {"huge integer",
       document("", R"({"converter": "yolo_x", "classes": 99999999999999999999})"),
       {"classes"}},
      {"huge number", document(R"({"params": {"mean": [1e40], "std": [1]}})", ""), {"mean"}},
      {"number beyond double",
       document(R"({"params": {"mean": [1e999], "std": [1]}})", ""),
       {"not a valid JSON"}},
      {"not UTF-8", document("", "{\"converter\": \"\xff\"}"), {"not a valid JSON"}},
  };
  for (const BadDocument& bad : cases) {
    const std::string found = message(bad.text);
    EXPECT_NE(found.find("test.json"), std::string::npos) << bad.what << ": " << found;
    for (const std::string& part : bad.said)
      EXPECT_NE(found.find(part), std::string::npos) << bad.what << ": " << found;
  }
}

TEST(ModelProc, DeepNestingIsAnError) {
  const std::string deep(200000, '[');
  EXPECT_NE(message(deep), "");
}

TEST(ModelProc, TooManyEntriesAreAnError) {
  std::string inputs = "{}";
  for (int i = 0; i < 64; ++i) inputs += ",{}";
  EXPECT_NE(message(document(inputs, "")).find("limit of 64"), std::string::npos);
}

TEST(ModelProc, MissingFileIsNamed) {
  const auto read = read_model_proc("/nowhere/model.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code(), StatusCode::NotFound);
  EXPECT_NE(read.error().message().find("'/nowhere/model.json'"), std::string::npos);
  EXPECT_FALSE(read_model_proc("/"));
}

}  // namespace
}  // namespace het
