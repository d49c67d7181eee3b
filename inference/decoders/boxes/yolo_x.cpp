#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kYoloXName = "yolo_x";
constexpr float kYoloXThreshold = 0.5f;
constexpr float kYoloXIouThreshold = 0.4f;
constexpr int64_t kYoloXBoxValues = 5;  // centre x, y, width, height, objectness

int64_t row_count(const std::vector<int>& strides, int64_t width, int64_t height) {
  int64_t rows = 0;
  for (int stride : strides) rows += (width / stride) * (height / stride);
  return rows;
}

/// YOLOX without the decoding in the graph (YOLOX demo/ONNXRuntime, demo_postprocess): one row per
/// grid cell, strides ascending, cells row by row: [dx, dy, log w, log h, objectness, classes...];
/// centre = (d + cell) * stride, size = exp(log) * stride, score = objectness * best class.
class YoloXDecoder final : public Decoder {
 public:
  YoloXDecoder(DecoderConfig config, size_t output) : config_(std::move(config)), output_(output) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    const int64_t rows = row_count(config_.strides, context.input_width, context.input_height);
    HET_TRY(expect_shape(kYoloXName, tensor, {kUnknownDim, rows, kUnknownDim}));
    const int64_t row_size = tensor.shape()[2];
    if (row_size <= kYoloXBoxValues)
      return error(StatusCode::ShapeMismatch, "converter '{}' finds no classes in {}", kYoloXName,
                   to_string(tensor.desc()));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));

    const float threshold = effective_threshold(context, config_.threshold, kYoloXThreshold);
    std::vector<Candidate> candidates;
    const float* row = values.data();
    for (int stride : config_.strides) {
      const auto grid_width = context.input_width / stride;
      const auto grid_height = context.input_height / stride;
      for (int y = 0; y < grid_height; ++y) {
        for (int x = 0; x < grid_width; ++x, row += row_size)
          add_cell(row, row_size, x, y, static_cast<float>(stride), threshold, candidates);
      }
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kYoloXIouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  static void add_cell(const float* row, int64_t row_size, int x, int y, float stride,
                       float threshold, std::vector<Candidate>& candidates) {
    const float objectness = row[4];
    if (!(objectness >= threshold)) return;  // also drops NaN
    int64_t best = kYoloXBoxValues;
    for (int64_t i = kYoloXBoxValues + 1; i < row_size; ++i) {
      if (row[i] > row[best]) best = i;
    }
    const float score = objectness * row[best];
    if (!(score >= threshold)) return;
    const float centre_x = (row[0] + static_cast<float>(x)) * stride;
    const float centre_y = (row[1] + static_cast<float>(y)) * stride;
    const float half_width = std::exp(row[2]) * stride / 2.0f;
    const float half_height = std::exp(row[3]) * stride / 2.0f;
    candidates.push_back({centre_x - half_width, centre_y - half_height, centre_x + half_width,
                          centre_y + half_height, score, static_cast<int>(best - kYoloXBoxValues)});
  }

  DecoderConfig config_;
  size_t output_;
};

Result<std::unique_ptr<Decoder>> create_yolo_x(const DecoderConfig& config,
                                               const std::vector<Port>& inputs,
                                               const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  DecoderConfig complete = config;
  if (complete.strides.empty()) complete.strides = {8, 16, 32};
  const InputSize size = picture_input_size(inputs);
  int64_t rows = kUnknownDim;
  if (size.width != kUnknownDim && size.height != kUnknownDim)
    rows = row_count(complete.strides, size.width, size.height);
  HET_TRY(expect_shape(kYoloXName, outputs[output], {kUnknownDim, rows, kUnknownDim}));
  const int64_t row_size = dimension(outputs[output], 2);
  if (row_size != kUnknownDim) {
    if (row_size <= kYoloXBoxValues)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads rows of 5 values and one score per class, '{}' is {}",
                   kYoloXName, outputs[output].name, to_string(outputs[output].desc));
    HET_TRY(expect_labels(config, row_size - kYoloXBoxValues));
  }
  return std::make_unique<YoloXDecoder>(std::move(complete), output);
}

}  // namespace

HET_REGISTRATION void register_yolo_x_decoder(DecoderRegistry& registry) {
  registry.add(
      {kYoloXName, {"labels", "threshold", "iou_threshold", "classes", "strides"}, create_yolo_x});
}

}  // namespace het
