#include "inference/decoders/alternatives.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace het {
namespace {

constexpr size_t kMostTold = 6;
constexpr size_t kNearest = 3;

/// Converters that read nearly anything and so say little when they fit, the vaguest last.
constexpr std::string_view kVague[] = {"keypoints_hrnet",
                                       "keypoints_vitpose",
                                       "heatmap_boxes",
                                       "text_detection_db",
                                       "paddle_ocr_ctc",
                                       "semantic_segmentation",
                                       "depth_estimation",
                                       "AnomalyDetection",
                                       "label",
                                       "paddle_ocr",
                                       "docTR_ocr",
                                       "attention_text",
                                       "picture",
                                       "landmarks",
                                       "embedding",
                                       "text",
                                       "clip_token"};
/// Converters that are no reading: copies, the user's own library, and other names of one.
constexpr std::string_view kNoReading[] = {"raw_data_copy", "custom_to", "yolo_v9", "yolo_v10",
                                           "yolo_v11"};

/// Converters of maps over the picture: a vector is one whose rows and columns are 1.
constexpr std::string_view kMaps[] = {
    "fastestdet",       "keypoints_hrnet",   "keypoints_vitpose",
    "heatmap_boxes",    "text_detection_db", "semantic_segmentation",
    "depth_estimation", "AnomalyDetection",  "picture"};

bool is_vector(const Port& port) {
  const Shape& shape = port.desc.shape;
  return is_static(shape) && shape.size() == 4 && shape[2] == 1 && shape[3] == 1;
}

size_t vagueness(std::string_view converter) {
  const auto* const found = std::ranges::find(kVague, converter);
  return found == std::end(kVague) ? 0 : static_cast<size_t>(found - std::begin(kVague)) + 1;
}

/// Entries with what a user would have to add, as far as the shapes tell it: labels of texts, the
/// anchors and classes of maps, thresholds of anomalies.
std::vector<DecoderConfig> completed(const DecoderConfig& config,
                                     const std::vector<Port>& outputs) {
  std::vector<DecoderConfig> entries;
  for (const Port& port : outputs) {
    const Shape& shape = port.desc.shape;
    if (shape.size() < 3) continue;
    for (const int64_t none : {0, 1, 2}) {
      DecoderConfig entry = config;
      entry.image_threshold = entry.normalization_scale = 1.0f;
      if (shape.size() == 4) entry.layout = "NCHW";
      const int64_t classes = shape[2] - none;
      if (entry.labels.empty() && classes > 0 && classes <= 1 << 16)
        entry.labels.assign(static_cast<size_t>(classes), "?");
      entries.push_back(std::move(entry));
    }
    for (const int64_t boxes : {3, 5}) {
      DecoderConfig entry = config;
      if (shape[1] % boxes != 0 || shape[1] / boxes <= 5) continue;
      entry.classes = static_cast<int>(shape[1] / boxes) - 5;
      entry.anchors.assign(2 * static_cast<size_t>(boxes) * outputs.size(), 1.0f);
      entries.push_back(std::move(entry));
    }
  }
  return entries;
}

Alternative try_out(const std::string& converter, const DecoderConfig& entry,
                    const std::vector<Port>& inputs, const std::vector<Port>& outputs) {
  Alternative alternative{converter, fmt::format("{{\"converter\": \"{}\"}}", converter)};
  DecoderConfig config = entry;
  config.converter = converter;
  if (converter == "label") alternative.method = config.method;
  if (alternative.method != "max")
    alternative.line =
        fmt::format("{{\"converter\": \"label\", \"method\": \"{}\"}}", config.method);
  const Result<std::unique_ptr<Decoder>> made = create_decoder(config, inputs, outputs);
  alternative.fits = made.has_value();
  if (made) return alternative;
  alternative.reason = made.error().message();
  if (made.error().code() != StatusCode::InvalidArgument) return alternative;
  alternative.fits = std::ranges::any_of(completed(config, outputs), [&](const auto& complete) {
    return create_decoder(complete, inputs, outputs).has_value();
  });
  return alternative;
}

}  // namespace

std::vector<Alternative> alternatives_for(const DecoderConfig& entry,
                                          const std::vector<Port>& inputs,
                                          const std::vector<Port>& outputs,
                                          const std::vector<std::string>& likely) {
  std::vector<Alternative> found;
  const bool vectors = !outputs.empty() && std::ranges::all_of(outputs, is_vector);
  for (const std::string& converter : converter_names()) {
    const auto begins = [&](std::string_view name) { return converter.starts_with(name); };
    if (std::ranges::any_of(kNoReading, begins)) continue;
    if (vectors && std::ranges::find(kMaps, converter) != std::end(kMaps)) continue;
    found.push_back(try_out(converter, entry, inputs, outputs));
  }
  const auto place = [&](const Alternative& alternative) {
    const auto rank = std::ranges::find(likely, alternative.converter) - likely.begin();
    return std::array<size_t, 4>{alternative.fits ? 0u : 1u, static_cast<size_t>(rank),
                                 vagueness(alternative.converter),
                                 alternative.reason.empty() ? 0u : 1u};
  };
  std::ranges::stable_sort(found, {}, place);
  return found;
}

std::string describe(const std::vector<Alternative>& alternatives) {
  std::string text;
  size_t told = 0;
  for (const Alternative& alternative : alternatives) {
    if (!alternative.fits || told == kMostTold) break;
    text += fmt::format("{}{}", told++ == 0 ? "" : ", ", alternative.line);
    if (!alternative.reason.empty()) text += fmt::format(" ({})", alternative.reason);
  }
  if (told > 0)
    return fmt::format(
        "such shapes are read by {}; write the one that is right into \"output_postproc\" of a "
        "model-proc file, or give a library of your own (custom-postproc-lib)",
        text);
  for (const Alternative& alternative : alternatives) {
    if (told == kNearest) break;
    text += fmt::format("{}{}", told++ == 0 ? "" : "; ", alternative.reason);
  }
  return fmt::format(
      "no converter reads such shapes, and nearest are: {}; a library of your own can read them "
      "(custom-postproc-lib)",
      text);
}

}  // namespace het
