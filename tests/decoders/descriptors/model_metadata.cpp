#include "inference/decoders/descriptors/model_metadata.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "inference/decoders/descriptors/metadata_values.h"

namespace het {
namespace {

using Texts = std::vector<std::string>;

TEST(ModelMetadata, PaddleOcrsCharacters) {
  const ModelMetadata metadata = read_paddle_ocr_metadata({{"character", "0\n1\n#\n\u4eac\n"}});
  EXPECT_EQ(metadata.output.converter, "paddle_ocr_ctc");
  EXPECT_EQ(metadata.output.labels, (std::vector<std::string>{"0", "1", "#", "\u4eac"}));
  EXPECT_EQ(metadata.input->preprocess.range_low, -1.0f);
  EXPECT_EQ(metadata.input->preprocess.resize, ResizeMode::LetterboxTopLeft);
  EXPECT_TRUE(read_paddle_ocr_metadata({{"other", "a"}}).source.empty());
  EXPECT_TRUE(read_paddle_ocr_metadata({{"character", "\xff\xfe"}}).source.empty());
}

TEST(MetadataValues, Numbers) {
  EXPECT_EQ(metadata_numbers("[0.5, 1e-3]"), (std::vector<float>{0.5f, 1e-3f}));
  EXPECT_EQ(metadata_numbers(" 123.675 116.28 103.53 "),
            (std::vector<float>{123.675f, 116.28f, 103.53f}));
  for (const char* text : {"", "()", "None", "1,x", "nan", "data[1,2,3]", "1e999"})
    EXPECT_TRUE(metadata_numbers(text).empty()) << text;
  EXPECT_EQ(metadata_channels("255"), (std::array<float, 3>{255, 255, 255}));
  EXPECT_FALSE(metadata_channels("1 2"));
}

TEST(MetadataValues, NamesOfUltralytics) {
  EXPECT_EQ(metadata_names("{0: 'person', 2: \"d'or\", 1: 'traffic light'}"),
            (Texts{"person", "traffic light", "d'or"}));
  EXPECT_EQ(metadata_names(R"({0: 'd\'or'})"), (Texts{"d'or"}));
  EXPECT_EQ(metadata_names("['a', 'b']"), (Texts{"a", "b"}));
  EXPECT_EQ(metadata_names("{}"), Texts{});
  for (const char* text : {"{", "{0: person}", "{x: 'a'}", "{0 'a'}", "{0: 'a", "{999999999: 'a'}",
                           "{18446744073709551616: 'a'}", "nothing"})
    EXPECT_TRUE(metadata_names(text).empty()) << text;
}

TEST(ModelMetadata, ModelApi) {
  const ModelMetadata metadata =
      read_model_api_metadata({{"model_type", "YOLOX"},
                               {"confidence_threshold", "0.35"},
                               {"iou_threshold", "0.65"},
                               {"labels", "person traffic_light"},
                               {"resize_type", "fit_to_window_letterbox"},
                               {"pad_value", "114"},
                               {"reverse_input_channels", "True"},
                               {"mean_values", "123.675 116.28 103.53"},
                               {"scale_values", "[255.0]"}});
  EXPECT_EQ(metadata.output.converter, "yolo_x");
  EXPECT_FLOAT_EQ(*metadata.output.threshold, 0.35f);
  EXPECT_FLOAT_EQ(*metadata.output.iou_threshold, 0.65f);
  EXPECT_EQ(metadata.output.labels, (Texts{"person", "traffic_light"}));
  ASSERT_TRUE(metadata.input);
  const PreprocessDesc& desc = metadata.input->preprocess;
  EXPECT_EQ(desc.resize, ResizeMode::LetterboxCentre);
  EXPECT_EQ(desc.color_order, ColorOrder::RGB);
  EXPECT_EQ(desc.pad_value, (std::array<float, 3>{114, 114, 114}));
  EXPECT_EQ(desc.mean, (std::array<float, 3>{123.675f, 116.28f, 103.53f}));
  EXPECT_EQ(desc.std, (std::array<float, 3>{255, 255, 255}));
  EXPECT_NE(metadata.source.find("YOLOX"), std::string::npos);
}

TEST(ModelMetadata, ModelTypes) {
  const auto converter = [](const char* type) {
    return read_model_api_metadata({{"model_type", type}}).output.converter;
  };
  EXPECT_EQ(converter("ssd"), "");
  EXPECT_EQ(converter("SSD"), "");
  EXPECT_EQ(converter("yolo_v8"), "yolo_v8");
  EXPECT_EQ(converter("YOLOv8"), "yolo_v8");
  EXPECT_EQ(converter("yolo_v11_obb"), "yolo_v11_obb");
  EXPECT_EQ(converter("MaskRCNN"), "mask_rcnn");
  EXPECT_EQ(converter("Classification"), "label");
  EXPECT_EQ(converter("something new"), "");
  EXPECT_EQ(read_model_api_metadata({{"multilabel", "True"}}).output.method, "multi");
}

TEST(ModelMetadata, ValuesWithoutSenseAreLeftOut) {
  const ModelMetadata metadata = read_model_api_metadata({{"confidence_threshold", "high"},
                                                          {"iou_threshold", "7"},
                                                          {"resize_type", "magic"},
                                                          {"pad_value", "-3"},
                                                          {"mean_values", "()"},
                                                          {"scale_values", "0 1 2"}});
  EXPECT_FALSE(metadata.output.threshold);
  EXPECT_FALSE(metadata.output.iou_threshold);
  EXPECT_FALSE(metadata.input);
}

TEST(ModelMetadata, Ultralytics) {
  const ModelMetadata metadata =
      read_ultralytics_metadata({{"description", "Ultralytics YOLO11n model trained on coco.yaml"},
                                 {"task", "detect"},
                                 {"stride", "32"},
                                 {"imgsz", "[480, 640]"},
                                 {"names", "{0: 'person', 1: 'bicycle'}"}});
  EXPECT_TRUE(metadata.ultralytics);
  EXPECT_FALSE(metadata.end_to_end);
  EXPECT_EQ(metadata.output.labels, (Texts{"person", "bicycle"}));
  const PreprocessDesc& desc = metadata.input->preprocess;
  EXPECT_EQ(desc.resize, ResizeMode::LetterboxCentre);
  EXPECT_EQ(desc.color_order, ColorOrder::RGB);
  EXPECT_FLOAT_EQ(desc.range_high, 1.0f);
  EXPECT_FLOAT_EQ(desc.pad_value[1], 114.0f);
  EXPECT_EQ(metadata.input->shape, (Shape{kUnknownDim, 3, 480, 640}));
  EXPECT_TRUE(read_ultralytics_metadata({{"names", "{0: 'a'}"}}).source.empty());
  EXPECT_EQ(
      read_ultralytics_metadata({{"names", "{0: 'a'}"}, {"stride", "1"}, {"task", "classify"}})
          .input->preprocess.resize,
      ResizeMode::CentralCrop);
}

TEST(ModelMetadata, FlatYaml) {
  const auto values = parse_flat_yaml(
      "# comment\ndescription: Ultralytics YOLOv10n model\nstride: 32\ntask: detect\nimgsz:\n"
      "- 640\n- 640\nnames:\n  0: person\n  1: traffic light\n  2: d'or\n  3: 'quoted'\n");
  EXPECT_EQ(values.at("stride"), "32");
  EXPECT_EQ(values.at("imgsz"), "640, 640");
  EXPECT_EQ(metadata_names(values.at("names")),
            (Texts{"person", "traffic light", "d'or", "quoted"}));
  EXPECT_TRUE(read_ultralytics_metadata(values).end_to_end);
  parse_flat_yaml("names:\n: : :\n  - : \n\n   :\n:");  // no crash
}

TEST(ModelMetadata, HuggingFace) {
  const ModelMetadata metadata = read_hugging_face_metadata(
      R"({"architectures": ["RTDetrForObjectDetection"], "id2label": {"0": "person", "1": "car"}})",
      R"({"size": {"height": 640, "width": 480}, "rescale_factor": 0.00392156862745098,
          "do_normalize": false, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 0.5]})");
  EXPECT_EQ(metadata.output.converter, "rtdetr");
  EXPECT_EQ(metadata.output.labels, (Texts{"person", "car"}));
  EXPECT_FLOAT_EQ(metadata.input->preprocess.range_high, 1.0f);
  EXPECT_FLOAT_EQ(metadata.input->preprocess.mean[0], 0.0f);
  EXPECT_EQ(metadata.input->shape, (Shape{kUnknownDim, 3, 640, 480}));
  // One name is the end of others.
  for (const auto& [name, softmax] : {std::pair("DetrForObjectDetection", true),
                                      {"ConditionalDetrForObjectDetection", false},
                                      {"DabDetrForObjectDetection", false},
                                      {"TableTransformerForObjectDetection", true}}) {
    const ModelMetadata detr =
        read_hugging_face_metadata(std::string(R"({"architectures": [")") + name + R"("]})", "");
    EXPECT_EQ(detr.output.converter, "rfdetr") << name;
    EXPECT_EQ(detr.output.class_softmax, softmax) << name;
  }
  const ModelMetadata classifier = read_hugging_face_metadata(
      R"({"architectures": ["ViTForImageClassification"]})",
      R"({"do_center_crop": true, "crop_size": 224, "image_mean": [0.5, 0.5, 0.5],
          "image_std": [0.25, 0.25, 0.25]})");
  EXPECT_EQ(classifier.output.converter, "label");
  EXPECT_EQ(classifier.output.method, "softmax");
  EXPECT_EQ(classifier.input->preprocess.resize, ResizeMode::CentralCrop);
  EXPECT_FLOAT_EQ(classifier.input->preprocess.std[2], 0.25f);
  EXPECT_EQ(classifier.input->shape[2], 224);
}

TEST(ModelMetadata, OtherJsonSaysNothing) {
  for (const char* text : {"", "{", "[]", "null", "{}", R"({"architectures": []})",
                           R"({"architectures": [7]})", R"({"architectures": ["Bert"]})"})
    EXPECT_TRUE(read_hugging_face_metadata(text, text).source.empty()) << text;
  const ModelMetadata odd = read_hugging_face_metadata(
      R"({"architectures": ["RTDetr"], "id2label": {"x": 1}})",
      R"({"size": {"height": 1e30}, "image_mean": "x", "rescale_factor": -1})");
  EXPECT_TRUE(odd.output.labels.empty());
  EXPECT_FLOAT_EQ(odd.input->preprocess.range_high, 255.0f);
}

TEST(ModelMetadata, FilesBesideTheModel) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("het_metadata_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  const std::string model_path = (folder / "model.onnx").string();
  Model model("m");
  EXPECT_TRUE(read_model_metadata(model, model_path).source.empty());
  write("config.json", R"({"architectures": ["RfDetrForObjectDetection"]})");
  EXPECT_EQ(read_model_metadata(model, model_path).output.converter, "rfdetr");
  // Hugging Face's repositories have it one folder higher; other folders are no such place.
  EXPECT_EQ(read_model_metadata(model, (folder / "onnx/model.onnx").string()).output.converter,
            "rfdetr");
  EXPECT_EQ(read_model_metadata(model, (folder / "x/model.onnx").string()).source, "");
  write("metadata.yaml", "stride: 32\ntask: pose\nnames:\n  0: person\n");
  EXPECT_EQ(read_model_metadata(model, model_path).task, "pose");
  // The file's own words come first; where it only says "YOLO", the exporter's file says more.
  model.metadata()["model_info/model_type"] = "yolo_v8";
  EXPECT_EQ(read_model_metadata(model, model_path).output.converter, "yolo_v8");
  model.metadata()["model_info/model_type"] = "YOLO";
  EXPECT_EQ(read_model_metadata(model, model_path).task, "pose");
  // What it writes of resizing is that of detectors, whatever the model is.
  model.metadata()["model_info/resize_type"] = "fit_to_window_letterbox";
  EXPECT_EQ(read_model_metadata(model, model_path).input->preprocess.resize,
            ResizeMode::LetterboxCentre);
  for (const char* stretched : {"task: depth", "task: detect\nhead: RTDETRDecoder"}) {
    write("metadata.yaml", std::string("stride: 32\n") + stretched + "\nnames:\n  0: person\n");
    EXPECT_EQ(read_model_metadata(model, model_path).input->preprocess.resize, ResizeMode::Stretch)
        << stretched;
  }
  std::filesystem::remove_all(folder);
}

TEST(ModelMetadata, TimmsConfiguration) {
  const ModelMetadata metadata = read_hugging_face_metadata(
      R"({"architecture": "vit_tiny_patch16_224", "num_classes": 2, "label_names": ["a", "b"],
          "pretrained_cfg": {"mean": [0.5, 0.5, 0.5], "std": [0.25, 0.25, 0.25],
                             "input_size": [3, 224, 192], "crop_mode": "center"}})",
      "");
  EXPECT_EQ(metadata.output.converter, "label");
  EXPECT_EQ(metadata.output.method, "softmax");
  EXPECT_EQ(metadata.output.labels, (Texts{"a", "b"}));
  const PreprocessDesc& desc = metadata.input->preprocess;
  EXPECT_EQ(desc.color_order, ColorOrder::RGB);
  EXPECT_EQ(desc.resize, ResizeMode::CentralCrop);
  EXPECT_FLOAT_EQ(desc.range_high, 1.0f);
  EXPECT_FLOAT_EQ(desc.mean[1], 0.5f);
  EXPECT_FLOAT_EQ(desc.std[1], 0.25f);
  EXPECT_EQ(metadata.input->shape, (Shape{kUnknownDim, 3, 224, 192}));
  const ModelMetadata features = read_hugging_face_metadata(
      R"({"architecture": "resnet18", "num_classes": 0, "label_names": ["cat"], "pretrained_cfg": {}})",
      "");
  EXPECT_EQ(features.output.converter, "embedding");
  EXPECT_NE(features.output.method, "softmax");
  EXPECT_TRUE(features.output.labels.empty());
  for (const char* text : {R"({"architecture": 7, "pretrained_cfg": {}})",
                           R"({"architecture": "x", "pretrained_cfg": 3})"})
    EXPECT_EQ(read_hugging_face_metadata(text, "").source, "") << text;
}

TEST(ModelMetadata, ArchitecturesOfHuggingFace) {
  const auto converter_of = [](const std::string& name) {
    return read_hugging_face_metadata(R"({"architectures": [")" + name + R"("]})", "")
        .output.converter;
  };
  EXPECT_EQ(converter_of("Mask2FormerForUniversalSegmentation"), "maskformer");
  EXPECT_EQ(converter_of("MaskFormerForInstanceSegmentation"), "maskformer");
  EXPECT_EQ(converter_of("SegformerForSemanticSegmentation"), "semantic_segmentation");
  EXPECT_EQ(converter_of("VitPoseForPoseEstimation"), "keypoints_vitpose");
}

TEST(ModelMetadata, ProcessorsThatDoNotNormalise) {
  const auto read = [](const char* processor) {
    return read_hugging_face_metadata(R"({"architectures": ["MobileViTForSemanticSegmentation"]})",
                                      processor)
        .input->preprocess;
  };
  const PreprocessDesc flipped =
      read(R"({"do_flip_channel_order": true, "image_mean": [0.5, 0.5, 0.5],
               "image_std": [0.5, 0.5, 0.5]})");
  EXPECT_EQ(flipped.color_order, ColorOrder::BGR);
  EXPECT_FLOAT_EQ(flipped.std[0], 1.0f);
  const PreprocessDesc plain =
      read(R"({"image_processor_type": "GLPNImageProcessor", "image_mean": [0.5, 0.5, 0.5],
               "image_std": [0.5, 0.5, 0.5]})");
  EXPECT_EQ(plain.color_order, ColorOrder::RGB);
  EXPECT_FLOAT_EQ(plain.std[0], 1.0f);
}

}  // namespace
}  // namespace het
