#include "inference/decoders/descriptors/model_metadata.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <utility>

#include "inference/base/log.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/descriptors/metadata_values.h"
#include "inference/decoders/labels.h"

namespace het {
namespace {

using Values = std::map<std::string, std::string>;

std::string value_of(const Values& values, const std::string& key) {
  const auto found = values.find(key);
  return found == values.end() ? "" : found->second;
}

void warn(std::string_view source, std::string_view key, std::string_view value,
          std::string_view expected) {
  log(LogLevel::Warning, "{}: {} is '{}', {} was expected; the key is left out", source, key,
      value.substr(0, 80), expected);
}

/// The value of a key that shall be a number in a range, or nothing.
std::optional<float> number_of(const Values& values, const std::string& key, float low, float high,
                               std::string_view source) {
  const std::string text = value_of(values, key);
  if (text.empty()) return std::nullopt;
  const std::vector<float> numbers = metadata_numbers(text);
  if (numbers.size() == 1 && numbers[0] >= low && numbers[0] <= high) return numbers[0];
  warn(source, key, text, fmt::format("a number in {}..{}", low, high));
  return std::nullopt;
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

/// Converters by the model_type of OpenVINO Model API and DL Streamer, in lower case. Empty: the
/// graph decides.
std::string converter_for(const std::string& model_type) {
  static const std::map<std::string, std::string> kConverters{
      {"ssd", ""},
      {"yolo", ""},
      {"yolov3-onnx", ""},
      {"yolov4", "yolo_v4"},
      {"yolov5", ""},
      {"yolox", "yolo_x"},
      {"yolov8", "yolo_v8"},
      {"yolov9", "yolo_v9"},
      {"yolov10", "yolo_v10"},
      {"yolo11", "yolo_v11"},
      {"yolo26", "yolo_v26"},
      {"nanodet", "nanodet"},
      {"maskrcnn", "mask_rcnn"},
      {"centernet", "centernet"},
      {"classification", "label"},
      {"segmentation", "semantic_segmentation"},
      {"openpose", "keypoints_openpose"},
  };
  const std::string type = lower(model_type);
  if (const auto found = kConverters.find(type); found != kConverters.end()) return found->second;
  for (const DecoderDef& def : decoder_registry().all()) {
    if (lower(std::string(def.converter)) == type) return std::string(def.converter);
  }
  return "";
}

void read_resize(const Values& values, std::string_view source, PreprocessDesc& desc) {
  const std::string type = value_of(values, "resize_type");
  if (type == "fit_to_window_letterbox") {
    desc.resize = ResizeMode::LetterboxCentre;
  } else if (type == "fit_to_window") {
    desc.resize = ResizeMode::LetterboxTopLeft;
  } else if (type == "crop") {
    desc.resize = ResizeMode::CentralCrop;
  } else if (!type.empty() && type != "standard") {
    warn(source, "resize_type", type, "crop, standard, fit_to_window or fit_to_window_letterbox");
  }
  if (const auto pad = number_of(values, "pad_value", 0.0f, 255.0f, source))
    desc.pad_value.fill(*pad);
}

/// Model API: (picture - mean_values) / scale_values, after the channels were reversed.
void read_normalisation(const Values& values, std::string_view source, PreprocessDesc& desc) {
  for (const char* key : {"mean_values", "scale_values"}) {
    const std::string text = value_of(values, key);
    if (metadata_numbers(text).empty()) continue;  // "()", "None" and the like: nothing to do
    const auto channels = metadata_channels(text);
    const bool scale = std::string_view(key) == "scale_values";
    const bool fits = channels && (!scale || std::all_of(channels->begin(), channels->end(),
                                                         [](float value) { return value > 0.0f; }));
    if (!fits) {
      warn(source, key, text, "one number or three, scales above 0");
    } else if (scale) {
      desc.std = *channels;
    } else {
      desc.mean = *channels;
    }
  }
}

}  // namespace

ModelMetadata read_model_api_metadata(const Values& values) {
  ModelMetadata metadata;
  if (values.empty()) return metadata;
  metadata.source = "rt_info/model_info of the file";
  metadata.plain_pictures = true;
  const std::string type = value_of(values, "model_type");
  metadata.output.converter = converter_for(type);
  if (!type.empty()) metadata.source += fmt::format(" (model_type {})", type);
  metadata.output.threshold =
      number_of(values, "confidence_threshold", 0.0f, 1.0f, metadata.source);
  metadata.output.iou_threshold = number_of(values, "iou_threshold", 0.0f, 1.0f, metadata.source);
  metadata.output.labels = metadata_labels(value_of(values, "labels"));
  const bool multi = metadata_flag(value_of(values, "multilabel"));
  const bool raw = metadata_flag(value_of(values, "output_raw_scores"));
  if (multi || raw) metadata.output.method = multi ? (raw ? "softmax_multi" : "multi") : "softmax";
  metadata.output.anchors = metadata_numbers(value_of(values, "anchors"));
  for (float mask : metadata_numbers(value_of(values, "masks")))
    metadata.output.masks.push_back(static_cast<int>(std::clamp(mask, -1.0f, 1e6f)));

  InputPreproc input;
  PreprocessDesc& desc = input.preprocess;
  read_resize(values, metadata.source, desc);
  read_normalisation(values, metadata.source, desc);
  input.color_given = values.contains("reverse_input_channels");
  if (metadata_flag(value_of(values, "reverse_input_channels"))) desc.color_order = ColorOrder::RGB;
  if (desc != PreprocessDesc{}) metadata.input = input;
  return metadata;
}

Status override_preparation(const Values& values, InputPreproc& input) {
  PreprocessDesc& desc = input.preprocess;
  for (const auto& [key, value] : values) {
    const auto wrong = [&, &name = key, &text = value](std::string_view expected) {
      return error(StatusCode::InvalidArgument, "{}='{}': {} was expected", name, text, expected);
    };
    if (key == "resize_type") {
      if (value == "standard") {
        desc.resize = ResizeMode::Stretch;
      } else if (value == "fit_to_window_letterbox") {
        desc.resize = ResizeMode::LetterboxCentre;
      } else if (value == "fit_to_window") {
        desc.resize = ResizeMode::LetterboxTopLeft;
      } else if (value == "crop") {
        desc.resize = ResizeMode::CentralCrop;
      } else {
        return wrong("crop, standard, fit_to_window or fit_to_window_letterbox");
      }
    } else if (key == "pad_value") {
      const std::vector<float> numbers = metadata_numbers(value);
      if (numbers.size() != 1 || numbers[0] < 0.0f || numbers[0] > 255.0f)
        return wrong("a number in 0..255");
      desc.pad_value.fill(numbers[0]);
    } else if (key == "reverse_input_channels") {
      input.color_given = true;
      desc.color_order = metadata_flag(value) ? ColorOrder::RGB : ColorOrder::BGR;
    } else if (key == "mean_values" || key == "scale_values") {
      const bool scale = key == "scale_values";
      const auto channels = metadata_channels(value);
      const bool fits =
          channels && (!scale || std::all_of(channels->begin(), channels->end(),
                                             [](float factor) { return factor > 0.0f; }));
      if (!fits) return wrong("one number or three, scales above 0");
      (scale ? desc.std : desc.mean) = *channels;
    } else {
      return error(StatusCode::InvalidArgument,
                   "'{}' is none of resize_type, pad_value, reverse_input_channels, mean_values, "
                   "scale_values",
                   key);
    }
  }
  return {};
}

ModelMetadata read_ultralytics_metadata(const Values& values) {
  ModelMetadata metadata;
  const std::vector<std::string> names = metadata_names(value_of(values, "names"));
  const bool known = !names.empty() && values.contains("stride");
  if (!known) return metadata;
  metadata.source = "Ultralytics' metadata";
  metadata.ultralytics = true;
  metadata.task = value_of(values, "task");
  metadata.output.labels = names;
  const std::string description = value_of(values, "description");
  metadata.end_to_end = metadata_flag(value_of(values, "end2end")) ||
                        description.find("YOLOv10") != std::string::npos ||
                        description.find("YOLO26") != std::string::npos;
  // "[17, 3]": points and values of each.
  const std::vector<float> points = metadata_numbers(value_of(values, "kpt_shape"));
  if (points.size() == 2 && points[0] >= 1.0f && points[0] <= 1e4f && points[1] >= 2.0f &&
      points[1] <= 3.0f)
    metadata.point_values = static_cast<int64_t>(points[0]) * static_cast<int64_t>(points[1]);
  InputPreproc input;
  input.color_given = true;
  PreprocessDesc& desc = input.preprocess;
  desc.color_order = ColorOrder::RGB;
  desc.range_high = 1.0f;
  const std::string head = value_of(values, "head");
  metadata.queries = head.find("RTDETR") != std::string::npos ||
                     description.find("RT-DETR") != std::string::npos ||
                     description.find("rtdetr") != std::string::npos;
  if (metadata.task == "classify") {
    desc.resize = ResizeMode::CentralCrop;
  } else if (metadata.task == "depth" || metadata.queries) {
    desc.resize = ResizeMode::Stretch;
  } else {
    desc.resize = ResizeMode::LetterboxCentre;
    desc.pad_value.fill(114.0f);
  }
  const std::vector<float> size = metadata_numbers(value_of(values, "imgsz"));
  const auto plausible = [](float side) { return side >= 1.0f && side <= 65536.0f; };
  if (size.size() == 2 && plausible(size[0]) && plausible(size[1]))
    input.shape = {kUnknownDim, 3, static_cast<int64_t>(size[0]), static_cast<int64_t>(size[1])};
  metadata.input = input;
  return metadata;
}

ModelMetadata read_paddle_ocr_metadata(const Values& values) {
  ModelMetadata metadata;
  const std::string characters = value_of(values, "character");
  if (characters.empty()) return metadata;
  Result<std::vector<std::string>> labels = parse_labels(characters, "character of the metadata");
  if (!labels || labels->size() > kMaxLabels) return metadata;
  metadata.source = "PaddleOCR's metadata (character)";
  metadata.output.converter = "paddle_ocr_ctc";
  metadata.output.labels = std::move(*labels);
  // Its own reader: the height of the input, the width by the aspect ratio, grey behind it.
  InputPreproc input;
  input.preprocess.range_low = -1.0f;
  input.preprocess.range_high = 1.0f;
  input.preprocess.resize = ResizeMode::LetterboxTopLeft;
  input.preprocess.pad_value.fill(127.5f);
  input.color_given = true;
  input.shape = {kUnknownDim, 3, 48, kUnknownDim};  // where the file leaves it open
  input.widths = {160, 320, 640};
  metadata.input = input;
  return metadata;
}

Values parse_flat_yaml(const std::string& text) {
  Values values;
  std::string list;  // key of the map or list whose indented lines follow
  size_t start = 0;
  while (start < text.size()) {
    const size_t end = std::min(text.find('\n', start), text.size());
    std::string line = text.substr(start, end - start);
    start = end + 1;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty() || line.front() == '#') continue;
    const bool nested = line.front() == ' ' || line.front() == '-';
    const size_t first = line.find_first_not_of(" -");
    if (nested && !list.empty() && first != std::string::npos) {
      std::string item = line.substr(first);
      const size_t colon = item.find(": ");
      // Names stand without quotes; they get them, so that one parser serves both notations.
      if (list == "names" && colon != std::string::npos) {
        std::string name = item.substr(colon + 2);
        if (name.size() < 2 || (name.front() != '\'' && name.front() != '"')) {
          std::string escaped;
          for (char c : name) {
            if (c == '\'' || c == '\\') escaped += '\\';
            escaped += c;
          }
          name = "'" + escaped + "'";
        }
        item = item.substr(0, colon) + ": " + name;
      }
      std::string& joined = values[list];
      joined += (joined.empty() ? "" : ", ") + item;
      continue;
    }
    const size_t colon = line.find(':');
    if (nested || colon == std::string::npos) continue;
    const std::string key = line.substr(0, colon);
    const size_t value = line.find_first_not_of(' ', colon + 1);
    list = value == std::string::npos ? key : "";
    values[key] = value == std::string::npos ? "" : line.substr(value);
  }
  if (const std::string names = value_of(values, "names"); !names.empty() && names.front() != '{')
    values["names"] = "{" + names + "}";
  return values;
}

namespace {

/// The model as if it lay one folder higher, where that is the place of what describes it: Hugging
/// Face's repositories have their ONNX files in a folder `onnx`.
std::string above_onnx_folder(const std::string& model_path) {
  const std::filesystem::path path = std::filesystem::path(model_path).lexically_normal();
  if (path.parent_path().filename() != "onnx") return "";
  return (path.parent_path().parent_path() / path.filename()).string();
}

/// The content of a file in the model's folder; empty when there is none that can be read.
std::string companion(const std::string& model_path, const char* name) {
  const std::filesystem::path path = std::filesystem::path(model_path).replace_filename(name);
  std::error_code failure;
  if (!std::filesystem::is_regular_file(path, failure)) return "";
  Result<std::string> text = read_text_file(path.string(), kMaxModelProcBytes, "model metadata");
  if (text) return std::move(*text);
  log(LogLevel::Warning, "model metadata beside '{}' are left out: {}", model_path,
      text.error().message());
  return "";
}

/// GStreamer's file beside the model: of the two that it may be the first that can be read, as
/// there.
ModelMetadata modelinfo_beside(const Model& model, const std::string& model_path) {
  const std::filesystem::path path(model_path);
  for (const std::string& name :
       {path.filename().string() + ".modelinfo", path.stem().string() + ".modelinfo"}) {
    const std::string text = companion(model_path, name.c_str());
    if (text.empty()) continue;
    Result<ModelMetadata> own = read_modelinfo(text, name + " beside the file", model);
    if (own) return std::move(*own);
    log(LogLevel::Warning, "'{}' beside model '{}' is left out: {}", name, model_path,
        own.error().message());
    if (own.error().code() != StatusCode::InvalidArgument) break;
  }
  return {};
}

/// The first source that says something, but for a .modelinfo file.
ModelMetadata first_source(const Model& model, const std::string& model_path) {
  ModelMetadata own = read_ultralytics_metadata(model.metadata());
  if (!own.source.empty()) return own;
  own = read_paddle_ocr_metadata(model.metadata());
  if (!own.source.empty()) return own;
  constexpr std::string_view kPrefix = "model_info/";
  Values values;
  for (const auto& [key, value] : model.metadata()) {
    if (key.starts_with(kPrefix)) values[key.substr(kPrefix.size())] = value;
  }
  own = read_model_api_metadata(values);
  const bool exported = value_of(values, "model_type") == "YOLO" || own.source.empty();
  if (exported) {
    ModelMetadata beside =
        read_ultralytics_metadata(parse_flat_yaml(companion(model_path, "metadata.yaml")));
    if (!beside.source.empty()) {
      beside.source += " (metadata.yaml)";
      // Its exporter writes no resize_type for classifiers, which crop, and that of detectors for
      // what stretches.
      if (own.input && beside.input) {
        PreprocessDesc& desc = own.input->preprocess;
        const bool stretches = beside.task == "depth" || beside.queries;
        if (value_of(values, "resize_type").empty() || stretches) {
          desc.resize = beside.input->preprocess.resize;
          desc.pad_value = beside.input->preprocess.pad_value;
        }
        own.input->shape = beside.input->shape;
        beside.input = own.input;
      }
      if (own.output.threshold) beside.output.threshold = own.output.threshold;
      if (own.output.iou_threshold) beside.output.iou_threshold = own.output.iou_threshold;
      return beside;
    }
  }
  if (!own.source.empty()) return own;
  for (const std::string& place : {model_path, above_onnx_folder(model_path)}) {
    const std::string config = place.empty() ? "" : companion(place, "config.json");
    if (config.empty()) continue;
    own = read_hugging_face_metadata(config, companion(place, "preprocessor_config.json"));
    if (!own.source.empty()) return own;
  }
  return own;
}

}  // namespace

ModelMetadata read_model_metadata(const Model& model, const std::string& model_path) {
  ModelMetadata own = first_source(model, model_path);
  ModelMetadata info = modelinfo_beside(model, model_path);
  if (own.source.empty()) return info;
  own.group_id = std::move(info.group_id);
  own.tensor_ids = std::move(info.tensor_ids);
  if (!own.input && !own.plain_pictures && info.input) {
    own.input = std::move(info.input);
    own.is_resize_open = info.is_resize_open;
  }
  if (info.is_reader_by_ids && own.output.converter.empty() && !own.ultralytics) {
    DecoderConfig reader = std::move(info.output);
    reader.labels = std::move(own.output.labels);
    reader.threshold = own.output.threshold;
    reader.iou_threshold = own.output.iou_threshold;
    own.output = std::move(reader);
    own.is_reader_by_ids = true;
    own.source += ", ids in " + info.source;
  }
  return own;
}

}  // namespace het
