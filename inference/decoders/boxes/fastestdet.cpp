#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kFastestdetName = "fastestdet";
constexpr float kFastestdetThreshold = 0.65f;
constexpr float kFastestdetIouThreshold = 0.45f;
constexpr int64_t kBoxChannels = 5;  // objectness, dx, dy, width, height

/// FastestDet (example/onnx-runtime/runtime.py): one output [batch, 5 + classes, rows, columns];
/// score = objectness^0.6 * best class^0.4; centre = (cell + tanh(d)) / cells and size = sigmoid,
/// both as shares of the input picture.
class FastestDetDecoder final : public Decoder {
 public:
  FastestDetDecoder(DecoderConfig config, size_t output)
      : config_(std::move(config)), output_(output) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_TRY(expect_shape(kFastestdetName, tensor,
                         {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
    const int64_t channels = tensor.shape()[1];
    const int64_t rows = tensor.shape()[2];
    const int64_t columns = tensor.shape()[3];
    const int64_t plane = rows * columns;
    if (channels <= kBoxChannels)
      return error(StatusCode::ShapeMismatch, "converter '{}' finds no classes in {}",
                   kFastestdetName, to_string(tensor.desc()));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));

    const float threshold = effective_threshold(context, config_.threshold, kFastestdetThreshold);
    const auto width = static_cast<float>(context.input_width);
    const auto height = static_cast<float>(context.input_height);
    std::vector<Candidate> candidates;
    for (int64_t cell = 0; cell < plane; ++cell) {
      const float* value = values.data() + cell;
      int64_t best = kBoxChannels;
      for (int64_t c = kBoxChannels + 1; c < channels; ++c) {
        if (value[c * plane] > value[best * plane]) best = c;
      }
      const float score = std::pow(value[0], 0.6f) * std::pow(value[best * plane], 0.4f);
      if (!(score >= threshold)) continue;
      const auto x = static_cast<float>(cell % columns);
      const auto y = static_cast<float>(cell / columns);
      const float centre_x = (x + std::tanh(value[plane])) / static_cast<float>(columns) * width;
      const float centre_y = (y + std::tanh(value[2 * plane])) / static_cast<float>(rows) * height;
      const float half_width = sigmoid(value[3 * plane]) * width / 2.0f;
      const float half_height = sigmoid(value[4 * plane]) * height / 2.0f;
      candidates.push_back({centre_x - half_width, centre_y - half_height, centre_x + half_width,
                            centre_y + half_height, score, static_cast<int>(best - kBoxChannels)});
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kFastestdetIouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  DecoderConfig config_;
  size_t output_;
};

Result<std::unique_ptr<Decoder>> create_fastestdet(const DecoderConfig& config,
                                                   const std::vector<Port>&,
                                                   const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  const Port& port = outputs[output];
  HET_TRY(
      expect_shape(kFastestdetName, port, {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
  const int64_t channels = dimension(port, 1);
  if (channels != kUnknownDim) {
    if (channels <= kBoxChannels)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads 5 channels and one per class, '{}' is {}", kFastestdetName,
                   port.name, to_string(port.desc));
    HET_TRY(expect_labels(config, channels - kBoxChannels));
  }
  return std::make_unique<FastestDetDecoder>(config, output);
}

}  // namespace

HET_REGISTRATION void register_fastestdet_decoder(DecoderRegistry& registry) {
  registry.add(
      {kFastestdetName, {"labels", "threshold", "iou_threshold", "classes"}, create_fastestdet});
}

}  // namespace het
