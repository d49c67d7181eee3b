#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/boxes/yolo_grid.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr float kYoloV5Threshold = 0.5f;
constexpr float kYoloV5IouThreshold = 0.4f;
constexpr int64_t kYoloV5BoxValues = 5;

/// YOLO v5 and v7 with the decoding in the graph, as their export scripts make it: [batch, N, 5 +
/// classes], rows [centre x, centre y, width, height, objectness, classes...] in pixels of the
/// input picture; score = objectness * best class.
class YoloRowsDecoder final : public Decoder {
 public:
  YoloRowsDecoder(DecoderConfig config, size_t output)
      : config_(std::move(config)), output_(output) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_TRY(expect_shape(config_.converter, tensor, {kUnknownDim, kUnknownDim, kUnknownDim}));
    const int64_t row_size = tensor.shape()[2];
    if (row_size <= kYoloV5BoxValues)
      return error(StatusCode::ShapeMismatch, "converter '{}' finds no classes in {}",
                   config_.converter, to_string(tensor.desc()));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const float threshold = effective_threshold(context, config_.threshold, kYoloV5Threshold);
    std::vector<Candidate> candidates;
    for (int64_t n = 0; n < tensor.shape()[1]; ++n) {
      const float* row = values.data() + n * row_size;
      if (!(row[4] >= threshold)) continue;  // also drops NaN
      const BestClass best =
          best_class(row + kYoloV5BoxValues, static_cast<size_t>(row_size - kYoloV5BoxValues));
      const float score = row[4] * best.score;
      if (best.id < 0 || !(score >= threshold)) continue;
      candidates.push_back(centred_candidate(row[0], row[1], row[2], row[3], score, best.id));
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kYoloV5IouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  DecoderConfig config_;
  size_t output_;
};

/// Decoded rows where an output of rank 3 is among them (exports in training mode add the feature
/// maps), else the feature maps.
Result<std::unique_ptr<Decoder>> create_yolo_v5(const DecoderConfig& config,
                                                const std::vector<Port>& inputs,
                                                const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::vector<size_t> rows;
  for (size_t index : selected) {
    if (outputs[index].desc.shape.size() == 3 || is_sized_at_run_time(outputs[index]))
      rows.push_back(index);
  }
  if (rows.empty() && !config.anchors.empty())
    return create_yolo_grid(config, AnchorFormula::Scaled, inputs, outputs);
  if (rows.size() != 1)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads one output [batch,N,5+classes], or feature maps with "
                 "\"anchors\"; the model has {}",
                 config.converter, describe(outputs, selected));
  const Port& port = outputs[rows.front()];
  const int64_t row_size = dimension(port, 2);
  if (row_size != kUnknownDim) {
    if (row_size <= kYoloV5BoxValues)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads rows of 5 values and one score per class, '{}' is {}",
                   config.converter, port.name, to_string(port.desc));
    HET_TRY(expect_labels(config, row_size - kYoloV5BoxValues));
  }
  return std::make_unique<YoloRowsDecoder>(config, rows.front());
}

}  // namespace

HET_REGISTRATION void register_yolo_v5_decoder(DecoderRegistry& registry) {
  registry.add({"yolo_v5", yolo_grid_keys(), create_yolo_v5});
  registry.add({"yolo_v7", yolo_grid_keys(), create_yolo_v5});
}

}  // namespace het
