#include "inference/decoders/picture_assumption.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "inference/decoders/first_convolution.h"
#include "inference/decoders/graph_normalisation.h"
#include "inference/decoders/known_normalisations.h"

namespace het {
namespace {

struct Family {
  std::string_view converter;  ///< all that begin so
  std::string_view name;
  ColorOrder order = ColorOrder::BGR;
  float range_high = 255.0f;
  std::array<float, 3> mean{0, 0, 0};
  std::array<float, 3> std{1, 1, 1};
  ResizeMode resize = ResizeMode::Stretch;
  float pad = 0.0f;
};

constexpr std::array<float, 3> kNanoDetMean{103.53f, 116.28f, 123.675f};  // BGR
constexpr std::array<float, 3> kNanoDetStd{57.375f, 57.12f, 58.395f};

constexpr std::array<float, 3> kHalf{127.5f, 127.5f, 127.5f};

/// By the code with which each family's own demonstrations feed its exports.
constexpr Family kFamilies[] = {
    {"yolo_x", "YOLOX", ColorOrder::BGR, 255, {}, {1, 1, 1}, ResizeMode::LetterboxTopLeft, 114},
    {"yolo_v5", "YOLO", ColorOrder::RGB, 1, {}, {1, 1, 1}, ResizeMode::LetterboxCentre, 114},
    {"yolo_v7", "YOLO", ColorOrder::RGB, 1, {}, {1, 1, 1}, ResizeMode::LetterboxCentre, 114},
    {"yolo_v8", "YOLO", ColorOrder::RGB, 1, {}, {1, 1, 1}, ResizeMode::LetterboxCentre, 114},
    {"yolo_v10", "YOLO", ColorOrder::RGB, 1, {}, {1, 1, 1}, ResizeMode::LetterboxCentre, 114},
    {"yolo_v26", "YOLO", ColorOrder::RGB, 1, {}, {1, 1, 1}, ResizeMode::LetterboxCentre, 114},
    {"lane_", "networks of lanes", ColorOrder::RGB, 1, kImageNetMean, kImageNetStd},
    {"yolo_fastestv2", "Yolo-FastestV2", ColorOrder::BGR, 1},
    {"tf_detection", "TensorFlow's detectors", ColorOrder::RGB, 255},
    {"movenet", "MoveNet", ColorOrder::RGB, 255, {}, {1, 1, 1}, ResizeMode::LetterboxCentre},
    {"simcc", "RTMPose", ColorOrder::RGB, 1, kImageNetMean, kImageNetStd},
    {"head_pose", "networks of head poses", ColorOrder::RGB, 1, kImageNetMean, kImageNetStd,
     ResizeMode::CentralCrop},
    {"nanodet", "NanoDet", ColorOrder::BGR, 255, kNanoDetMean, kNanoDetStd},
    {"fastestdet", "FastestDet", ColorOrder::BGR, 1},
    {"yunet", "YuNet", ColorOrder::BGR, 255},
    {"scrfd", "SCRFD", ColorOrder::RGB, 255, kHalf, {128, 128, 128}, ResizeMode::LetterboxTopLeft},
    {"prior_boxes", "RetinaFace", ColorOrder::BGR, 255, {104, 117, 123}},
    {"blazeface", "BlazeFace", ColorOrder::RGB, 255, kHalf, kHalf, ResizeMode::LetterboxCentre},
    {"centerface", "CenterFace", ColorOrder::RGB, 255},
    {"rtdetr", "RT-DETR", ColorOrder::RGB, 1},
    {"torchvision", "torchvision", ColorOrder::RGB, 1},
    {"AnomalyDetection", "anomalib", ColorOrder::RGB, 1},
    {"mask_rcnn", "Mask R-CNN", ColorOrder::RGB, 1},
};

PreprocessDesc preparation_of(const Family& family) {
  PreprocessDesc desc;
  desc.color_order = family.order;
  desc.range_high = family.range_high;
  desc.mean = family.mean;
  desc.std = family.std;
  desc.resize = family.resize;
  desc.pad_value.fill(family.pad);
  return desc;
}

/// UltraFace's rows, as readings/objects knows them: a softmax whose first class is the background.
constexpr Family kUltraFace{"",  "UltraFace",     ColorOrder::RGB,
                            255, {127, 127, 127}, {128, 128, 128}};
constexpr Family kOpenModelZoo{"", "Model Optimizer", ColorOrder::BGR, 255};
constexpr Family kImageNet{
    "",           "ImageNet's classifiers", ColorOrder::RGB, 1, kImageNetMean,
    kImageNetStd, ResizeMode::CentralCrop};
/// Networks of transformers that were trained from ImageNet's.
constexpr Family kTransformers{"", "DETR", ColorOrder::RGB, 1, kImageNetMean, kImageNetStd};

constexpr Family kSegmentation{
    "", "PyTorch's segmentation networks", ColorOrder::RGB, 1, kImageNetMean, kImageNetStd};

/// PaddleOCR's detectors: ImageNet's means and scales in the order R, G, B on channels B, G, R.
constexpr Family kTexts{"", "DB", ColorOrder::BGR, 1, kImageNetMean, kImageNetStd};
constexpr Family kDepths{"", "MiDaS", ColorOrder::RGB, 1, kImageNetMean, kImageNetStd};

constexpr Family kNas{
    "", "YOLO-NAS", ColorOrder::RGB, 1, {}, {1, 1, 1}, ResizeMode::LetterboxTopLeft, 114};
/// PaddleDetection's; newer ones take 0..1 without means and scales.
constexpr Family kPaddle{"", "PaddleDetection", ColorOrder::RGB, 1, kImageNetMean, kImageNetStd};
/// Two-stage detectors of maskrcnn-benchmark as ONNX' model zoo has them, for pictures without
/// batch.
constexpr Family kMaskRcnnBenchmark{
    "", "maskrcnn-benchmark", ColorOrder::BGR, 255, {102.9801f, 115.9465f, 122.7717f}};

/// L2CS-Net's, for faces as they were found.
constexpr Family kGaze{"", "L2CS-Net", ColorOrder::RGB, 1, kImageNetMean, kImageNetStd};

/// MediaPipe's landmarks.
constexpr Family kMediaPipe{"", "MediaPipe", ColorOrder::RGB, 1};

/// MediaPipe's palms of 192x192; its older ones take what faces do.
constexpr Family kPalms{"",        "MediaPipe's palms",        ColorOrder::RGB, 1, {},
                        {1, 1, 1}, ResizeMode::LetterboxCentre};

/// ArcFace's and FaceNet's networks of faces.
constexpr Family kFaces{"",  "networks of faces",      ColorOrder::RGB,
                        255, {127.5f, 127.5f, 127.5f}, {127.5f, 127.5f, 127.5f}};
constexpr Family kPersons{"", "networks of persons", ColorOrder::RGB,
                          1,  kImageNetMean,         kImageNetStd};

struct Choice {
  const Family* family = nullptr;
  bool is_guess = true;
};

Choice family_of(const DecoderConfig& config, const Model& model, const Shape& picture) {
  // Model Optimizer wrote means, scales and the order of channels into the graph.
  if (model.metadata().contains("MO_version")) return {&kOpenModelZoo, false};
  if (config.converter == "nanodet" && config.strides.size() == 4) return {&kPaddle, true};
  if (config.converter == "rtdetr" && config.unit == "relative") return {&kTransformers, true};
  if (config.converter == "boxes_scores" && config.unit == "pixels") return {&kNas, true};
  if (config.converter == "paddle_detection") return {&kPaddle, true};
  if (config.converter == "torchvision" && picture.size() == 3) return {&kMaskRcnnBenchmark, false};
  if (config.converter == "blazeface" && config.point_names.size() == 7 && picture.size() == 4 &&
      picture[2] == 192)
    return {&kPalms, false};
  if (config.converter == "head_pose" && config.attribute_name == "gaze") return {&kGaze, false};
  for (const Family& family : kFamilies) {
    if (config.converter.starts_with(family.converter)) return {&family, false};
  }
  if (config.converter == "landmarks" && config.unit == "pixels") return {&kMediaPipe, false};
  if (config.converter == "boxes_scores" && config.background_class) return {&kUltraFace, false};
  if (config.converter == "label" && config.method == "softmax") return {&kImageNet, false};
  // Channels last is what TensorFlow has, whose networks take several ranges.
  if (config.converter == "semantic_segmentation" && config.layout == "NCHW")
    return {&kSegmentation, config.classes == 1};  // mattings take several ranges, too
  if (config.converter.starts_with("rfdetr")) return {&kTransformers, true};
  if (config.converter == "text_detection_db") return {&kTexts, false};
  if (config.converter == "depth_estimation") return {&kDepths, true};
  if (config.converter == "keypoints_hrnet") return {&kPersons, true};
  if (config.converter == "embedding" && picture.size() == 4 && picture[1] == 3) {
    if (picture[2] == picture[3] && (picture[2] == 112 || picture[2] == 160))
      return {&kFaces, false};
    if (picture[2] == 2 * picture[3]) return {&kPersons, true};
  }
  return {};
}

/// Pixels of the scale that the first convolution was trained for, where that is certain and
/// another than assumed; what the family is then does not fix it.
void correct_scale(const Value& input, bool has_family, bool classifies,
                   PictureAssumption& assumption) {
  PreprocessDesc& desc = assumption.input.preprocess;
  const PixelScale scale = pixel_scale(input);
  const bool are_bytes = desc.range_high / desc.std[0] > 20.0f;
  if (scale == PixelScale::Unknown || (scale == PixelScale::Bytes) == are_bytes) return;
  if (scale == PixelScale::Units && classifies) {
    desc = preparation_of(kImageNet);
  } else {
    desc.range_high = scale == PixelScale::Bytes ? 255.0f : 1.0f;
    desc.mean.fill(0.0f);
    desc.std.fill(1.0f);
  }
  assumption.is_guess = true;
  assumption.reason += fmt::format("{}; its first convolution was trained for pixels of {}",
                                   has_family ? ", but for their scale" : "",
                                   scale == PixelScale::Bytes ? "0..255" : "about 0..1");
}

}  // namespace

PictureAssumption assume_pictures(const DecoderConfig& config, const Model& model,
                                  const Value& input) {
  PictureAssumption assumption;
  PreprocessDesc& desc = assumption.input.preprocess;
  const Choice choice = family_of(config, model, input.desc().shape);
  assumption.is_guess = choice.is_guess;
  if (choice.family != nullptr) {
    desc = preparation_of(*choice.family);
    assumption.input.color_given = true;
    assumption.reason = fmt::format("as is usual with {}", choice.family->name);
  } else {
    assumption.reason = "nothing says how";
  }
  const Shape& shape = input.desc().shape;
  const bool is_grey = shape.size() == 4 && shape[1] != 3 && (shape[1] == 1 || shape[3] == 1);
  const bool is_bytes = input.desc().type == ElementType::UInt8;
  if (const auto evidence = pixel_evidence(input)) {
    desc.range_high = evidence->range_high;
    desc.mean = evidence->mean;
    desc.std = evidence->std;
    if (evidence->order) desc.color_order = *evidence->order;
    assumption.input.color_given = assumption.input.color_given || evidence->order.has_value();
    // The order of channels stays open where neither family nor means tell it; grey has none.
    assumption.is_guess = choice.is_guess && !evidence->order && !is_grey;
    assumption.reason += fmt::format("; {}", evidence->what);
  } else if (is_bytes) {
    desc.range_high = 255.0f;
    desc.mean.fill(0.0f);
    desc.std.fill(1.0f);
    assumption.reason += "; its input takes bytes";
  } else {
    correct_scale(input, choice.family != nullptr, config.converter == "label" && !is_grey,
                  assumption);
  }
  if (is_grey) assumption.input.color_given = false;
  return assumption;
}

}  // namespace het
