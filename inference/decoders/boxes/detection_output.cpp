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

constexpr std::string_view kDetectionOutputName = "detection_output";
constexpr float kDetectionOutputThreshold = 0.5f;
constexpr int64_t kDetectionOutputRowValues = 7;

/// The shape that an output of this rank has: ones before the rows.
Shape row_shape(size_t rank) {
  Shape shape(rank == 2 || rank == 3 ? rank : 4, 1);
  shape[shape.size() - 2] = kUnknownDim;
  shape.back() = kDetectionOutputRowValues;
  return shape;
}

/// The tensor of OpenVINO's DetectionOutput: [1, 1, N, 7] (or [N, 7], [1, N, 7]) with rows
/// [image_id, label, confidence, x_min, y_min, x_max, y_max], coordinates as shares of the input
/// picture. image_id is the batch item; the first negative one ends the list. Suppression has
/// happened in the graph.
class DetectionOutputDecoder final : public Decoder {
 public:
  DetectionOutputDecoder(DecoderConfig config, size_t output)
      : config_(std::move(config)), output_(output) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_TRY(expect_shape(kDetectionOutputName, tensor, row_shape(tensor.shape().size())));
    HET_ASSIGN(const OutputValues values, OutputValues::whole(tensor));
    const float threshold =
        effective_threshold(context, config_.threshold, kDetectionOutputThreshold);
    const auto width = static_cast<float>(context.input_width);
    const auto height = static_cast<float>(context.input_height);
    const auto item = static_cast<float>(context.batch_index);
    std::vector<Candidate> candidates;
    for (int64_t n = 0; n < tensor.shape()[tensor.shape().size() - 2]; ++n) {
      const float* row = values.data() + n * kDetectionOutputRowValues;
      if (!(row[0] >= 0.0f)) break;
      if (row[0] != item) continue;
      const float label = row[1];
      if (!(row[2] >= threshold) || !is_label_id(label)) continue;
      candidates.push_back({row[3] * width, row[4] * height, row[5] * width, row[6] * height,
                            row[2], static_cast<int>(label)});
    }
    return to_results(sorted_by_score(std::move(candidates)), config_.labels, context.transform);
  }

 private:
  DecoderConfig config_;
  size_t output_;
};

Result<std::unique_ptr<Decoder>> create_detection_output(const DecoderConfig& config,
                                                         const std::vector<Port>&,
                                                         const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  HET_TRY(expect_shape(kDetectionOutputName, outputs[output],
                       row_shape(outputs[output].desc.shape.size())));
  return std::make_unique<DetectionOutputDecoder>(config, output);
}

}  // namespace

HET_REGISTRATION void register_detection_output_decoder(DecoderRegistry& registry) {
  registry.add({kDetectionOutputName, {"labels", "threshold"}, create_detection_output});
}

}  // namespace het
