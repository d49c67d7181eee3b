#include <optional>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kNmsIndicesName = "nms_indices";
constexpr float kNmsIndicesThreshold = 0.5f;

/// What ONNX' NonMaxSuppression takes and gives, as outputs of a model: boxes [batch, N, 4] as
/// y_min, x_min, y_max, x_max in pixels of the input picture, scores [batch, classes, N], and
/// indices [M, 3] of picture, class and box (also [1, M, 3], as Keras' YOLOv3 has it).
class NmsIndicesDecoder final : public Decoder {
 public:
  NmsIndicesDecoder(DecoderConfig config, size_t boxes, size_t scores, size_t indices)
      : config_(std::move(config)), boxes_(boxes), scores_(scores), indices_(indices) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_TRY(expect_shape(kNmsIndicesName, outputs[boxes_], {kUnknownDim, kUnknownDim, 4}));
    const int64_t count = outputs[boxes_].shape()[1];
    HET_TRY(expect_shape(kNmsIndicesName, outputs[scores_], {kUnknownDim, kUnknownDim, count}));
    const int64_t classes = outputs[scores_].shape()[1];
    HET_ASSIGN(const OutputValues boxes,
               OutputValues::batch_item(outputs[boxes_], context.batch_index));
    HET_ASSIGN(const OutputValues scores,
               OutputValues::batch_item(outputs[scores_], context.batch_index));
    HET_ASSIGN(const OutputValues indices, OutputValues::whole(outputs[indices_]));
    const float threshold = effective_threshold(context, config_.threshold, kNmsIndicesThreshold);
    std::vector<Candidate> candidates;
    for (size_t n = 0; n + 2 < indices.size(); n += 3) {
      const float label = indices[n + 1];
      const float box = indices[n + 2];
      if (indices[n] != static_cast<float>(context.batch_index)) continue;
      if (!(label >= 0.0f && label < static_cast<float>(classes) && box >= 0.0f &&
            box < static_cast<float>(count)))
        continue;
      const auto place = static_cast<size_t>(box);
      const float score = scores[static_cast<size_t>(label) * static_cast<size_t>(count) + place];
      if (!(score >= threshold)) continue;
      const float* corners = boxes.data() + 4 * place;
      candidates.push_back(
          {corners[1], corners[0], corners[3], corners[2], score, static_cast<int>(label)});
    }
    return to_results(sorted_by_score(std::move(candidates)), config_.labels, context.transform);
  }

 private:
  DecoderConfig config_;
  size_t boxes_;
  size_t scores_;
  size_t indices_;
};

Result<std::unique_ptr<Decoder>> create_nms_indices(const DecoderConfig& config,
                                                    const std::vector<Port>&,
                                                    const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::optional<size_t> boxes;
  std::optional<size_t> scores;
  std::optional<size_t> indices;
  for (const size_t index : selected) {
    const Port& port = outputs[index];
    const Shape& shape = port.desc.shape;
    if (is_integer(port.desc.type) && !shape.empty() && shape.back() == 3 &&
        (shape.size() == 2 || matches(shape, {1, kUnknownDim, 3}))) {
      indices = index;
    } else if (!boxes && is_float(port.desc.type) &&
               matches(shape, {kUnknownDim, kUnknownDim, 4})) {
      boxes = index;
    } else if (is_float(port.desc.type) && shape.size() == 3) {
      scores = index;
    }
  }
  if (selected.size() != 3 || !boxes || !scores || !indices ||
      !matches(outputs[*scores].desc.shape,
               {kUnknownDim, kUnknownDim, dimension(outputs[*boxes], 1)}))
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads boxes [batch,N,4], scores [batch,classes,N] and indices "
                 "[M,3] (integers), the model has {}",
                 kNmsIndicesName, describe(outputs, selected));
  HET_TRY(expect_labels(config, dimension(outputs[*scores], 1)));
  return std::make_unique<NmsIndicesDecoder>(config, *boxes, *scores, *indices);
}

}  // namespace

HET_REGISTRATION void register_nms_indices_decoder(DecoderRegistry& registry) {
  registry.add({kNmsIndicesName, {"labels", "threshold", "classes"}, create_nms_indices});
}

}  // namespace het
