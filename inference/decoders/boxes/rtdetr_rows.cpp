#include <algorithm>
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

constexpr std::string_view kRtdetrRowsName = "rtdetr_rows";
constexpr float kRtdetrRowsThreshold = 0.5f;
constexpr int64_t kBoxValues = 4;
constexpr int64_t kRowValues = 6;

/// RT-DETR as Ultralytics exports it: [batch, N, 6] with centre x, centre y, width and height as
/// shares of the input picture, score and label (from its version 8.4 on), or [batch, N, 4 +
/// classes] with a score (after the sigmoid) for each class behind the box, of which the best
/// counts. No suppression. Source: Ultralytics' documentation of RTDETR and its predictor.
class RtdetrRowsDecoder final : public Decoder {
 public:
  RtdetrRowsDecoder(DecoderConfig config, size_t output)
      : config_(std::move(config)), output_(output) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_TRY(expect_shape(kRtdetrRowsName, tensor, {kUnknownDim, kUnknownDim, kUnknownDim}));
    const int64_t width = tensor.shape()[2];
    HET_TRY(expect_width(config_, width));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const float threshold = effective_threshold(context, config_.threshold, kRtdetrRowsThreshold);
    const auto columns = static_cast<float>(context.input_width);
    const auto rows = static_cast<float>(context.input_height);
    std::vector<Candidate> candidates;
    for (int64_t n = 0; n < tensor.shape()[1]; ++n) {
      const float* row = values.data() + n * width;
      float score = row[kBoxValues];
      float label = row[kBoxValues + 1];
      if (width != kRowValues) {
        const BestClass best =
            best_class(row + kBoxValues, static_cast<size_t>(width - kBoxValues));
        score = best.score;
        label = static_cast<float>(best.id);
      }
      if (!(score >= threshold) || !is_label_id(label)) continue;
      candidates.push_back(centred_candidate(row[0] * columns, row[1] * rows, row[2] * columns,
                                             row[3] * rows, score, static_cast<int>(label), n));
    }
    return to_results(sorted_by_score(std::move(candidates)), config_.labels, context.transform);
  }

  static Status expect_width(const DecoderConfig& config, int64_t width) {
    const auto classes = static_cast<int64_t>(config.labels.size());
    const bool fits = width == kRowValues || width == kUnknownDim ||
                      (classes > 0 ? width == kBoxValues + classes : width > kRowValues);
    if (fits) return {};
    return error(
        StatusCode::ShapeMismatch,
        "converter '{}' reads rows of 6 values, or of 4 and one for each of the {} classes; "
        "the output's have {}",
        kRtdetrRowsName, classes, width);
  }

 private:
  DecoderConfig config_;
  size_t output_;
};

Result<std::unique_ptr<Decoder>> create_rtdetr_rows(const DecoderConfig& config,
                                                    const std::vector<Port>&,
                                                    const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  HET_TRY(expect_shape(kRtdetrRowsName, outputs[output], {kUnknownDim, kUnknownDim, kUnknownDim}));
  HET_TRY(RtdetrRowsDecoder::expect_width(config, dimension(outputs[output], 2)));
  return std::make_unique<RtdetrRowsDecoder>(config, output);
}

}  // namespace

HET_REGISTRATION void register_rtdetr_rows_decoder(DecoderRegistry& registry) {
  registry.add({kRtdetrRowsName, {"labels", "threshold"}, create_rtdetr_rows});
}

}  // namespace het
