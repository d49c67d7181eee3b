#include <algorithm>
#include <optional>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/boxes/object_parts.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kMaskRcnnName = "mask_rcnn";
constexpr float kMaskRcnnThreshold = 0.5f;
constexpr float kMaskRcnnIouThreshold = 0.4f;
constexpr int64_t kPlainRow = 5;
constexpr int64_t kSsdRow = 7;

struct MaskRcnnOutputs {
  size_t boxes = 0;
  size_t masks = 0;
  std::optional<size_t> labels;  ///< none: the boxes have them
};

/// Rows of a tensor with or without a batch dimension before them.
struct Rows {
  OutputValues values;
  int64_t count = 0;
};

/// Mask R-CNN in the two forms of Open Model Zoo and DL Streamer:
/// - boxes [N, 5] or [batch, N, 5] with x_min, y_min, x_max, y_max, score in pixels of the input
///   picture, labels [N] and masks [N, height, width] (each with the batch before it where the
///   boxes have it);
/// - boxes [N, 7] with image, label, score and corners as shares of the picture, as DetectionOutput
///   has them, and masks [N, classes, height, width], of which class label - 1 counts (label 0 is
///   the background).
/// A mask holds probabilities and is stretched over its box.
class MaskRcnnDecoder final : public Decoder {
 public:
  MaskRcnnDecoder(DecoderConfig config, MaskRcnnOutputs outputs)
      : config_(std::move(config)), outputs_(outputs) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    std::vector<Candidate> candidates;
    if (outputs_.labels) {
      HET_TRY(find_labelled(outputs, context, candidates));
    } else {
      HET_TRY(find_ssd(outputs[outputs_.boxes], context, candidates));
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kMaskRcnnIouThreshold));
    Results results = to_results(candidates, config_.labels, context.transform);
    HET_TRY(add_masks(outputs, candidates, context, results));
    return results;
  }

 private:
  static Result<Rows> read(const Tensor& tensor, size_t unbatched_rank, int64_t batch_index) {
    if (tensor.empty())
      return error(StatusCode::InvalidArgument,
                   "converter '{}' cannot decode an output that was never computed", kMaskRcnnName);
    if (tensor.rank() == static_cast<int64_t>(unbatched_rank) + 1) {
      HET_ASSIGN(OutputValues values, OutputValues::batch_item(tensor, batch_index));
      return Rows{std::move(values), tensor.shape()[1]};
    }
    if (tensor.rank() != static_cast<int64_t>(unbatched_rank) || batch_index != 0)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' cannot read batch item {} of an output {}", kMaskRcnnName,
                   batch_index, to_string(tensor.desc()));
    HET_ASSIGN(OutputValues values, OutputValues::whole(tensor));
    return Rows{std::move(values), tensor.shape()[0]};
  }

  Status find_labelled(std::span<const Tensor> outputs, const DecodeContext& context,
                       std::vector<Candidate>& candidates) const {
    HET_ASSIGN(const Rows boxes, read(outputs[outputs_.boxes], 2, context.batch_index));
    HET_ASSIGN(const Rows labels, read(outputs[*outputs_.labels], 1, context.batch_index));
    if (boxes.values.size() != static_cast<size_t>(boxes.count * kPlainRow) ||
        labels.count != boxes.count)
      return error(StatusCode::ShapeMismatch, "converter '{}' got boxes {} and labels {}",
                   kMaskRcnnName, to_string(outputs[outputs_.boxes].desc()),
                   to_string(outputs[*outputs_.labels].desc()));
    const float threshold = effective_threshold(context, config_.threshold, kMaskRcnnThreshold);
    for (int64_t n = 0; n < boxes.count; ++n) {
      const float* row = boxes.values.data() + n * kPlainRow;
      const float label = labels.values[static_cast<size_t>(n)];
      if (!(row[4] >= threshold) || !is_label_id(label)) continue;
      candidates.push_back({row[0], row[1], row[2], row[3], row[4], static_cast<int>(label), n});
    }
    return {};
  }

  Status find_ssd(const Tensor& tensor, const DecodeContext& context,
                  std::vector<Candidate>& candidates) const {
    HET_TRY(expect_shape(kMaskRcnnName, tensor, {kUnknownDim, kSsdRow}));
    HET_ASSIGN(const OutputValues values, OutputValues::whole(tensor));
    const float threshold = effective_threshold(context, config_.threshold, kMaskRcnnThreshold);
    const auto width = static_cast<float>(context.input_width);
    const auto height = static_cast<float>(context.input_height);
    for (int64_t n = 0; n < tensor.shape()[0]; ++n) {
      const float* row = values.data() + n * kSsdRow;
      if (row[0] != static_cast<float>(context.batch_index) || !(row[2] >= threshold) ||
          !is_label_id(row[1]))
        continue;
      candidates.push_back({row[3] * width, row[4] * height, row[5] * width, row[6] * height,
                            row[2], static_cast<int>(row[1]), n});
    }
    return {};
  }

  Status add_masks(std::span<const Tensor> outputs, const std::vector<Candidate>& candidates,
                   const DecodeContext& context, Results& results) const {
    const Tensor& tensor = outputs[outputs_.masks];
    const bool by_class = !outputs_.labels;
    HET_ASSIGN(const Rows masks,
               by_class ? read(tensor, 4, 0) : read(tensor, 3, context.batch_index));
    const Shape& shape = tensor.shape();
    const int64_t width = shape[shape.size() - 1];
    const int64_t height = shape[shape.size() - 2];
    const int64_t classes = by_class ? shape[shape.size() - 3] : 1;
    for (size_t i = 0; i < std::min(candidates.size(), kMaxMasks); ++i) {
      const Candidate& box = candidates[i];
      const int64_t layer = by_class ? box.label_id - 1 : 0;
      if (box.row >= masks.count || layer < 0 || layer >= classes) continue;
      const float* values = masks.values.data() + (box.row * classes + layer) * width * height;
      results.detections[i].mask = {static_cast<int>(width), static_cast<int>(height),
                                    std::vector<float>(values, values + width * height)};
    }
    return {};
  }

  DecoderConfig config_;
  MaskRcnnOutputs outputs_;
};

Result<std::unique_ptr<Decoder>> create_mask_rcnn(const DecoderConfig& config,
                                                  const std::vector<Port>&,
                                                  const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::optional<size_t> boxes;
  std::optional<size_t> labels;
  std::optional<size_t> masks;
  bool ssd = false;
  for (size_t index : selected) {
    const Port& port = outputs[index];
    const Shape& shape = port.desc.shape;
    if (matches(shape, {kUnknownDim, kSsdRow}) && is_float(port.desc.type)) {
      boxes = index;
      ssd = true;
    } else if (matches(shape, {kUnknownDim, kPlainRow}) ||
               matches(shape, {kUnknownDim, kUnknownDim, kPlainRow})) {
      boxes = index;
    } else if (shape.size() >= 3) {
      masks = index;
    } else if (!shape.empty()) {
      labels = index;
    }
  }
  const bool complete = boxes && masks && (ssd || labels);
  if (!complete || selected.size() != (ssd ? 2u : 3u))
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads boxes [N,5], labels [N] and masks [N,height,width] (or with "
                 "a batch dimension before), or boxes [N,7] and masks [N,classes,height,width]; "
                 "the model has {}",
                 kMaskRcnnName, describe(outputs, selected));
  return std::make_unique<MaskRcnnDecoder>(
      config, MaskRcnnOutputs{*boxes, *masks, ssd ? std::nullopt : labels});
}

}  // namespace

HET_REGISTRATION void register_mask_rcnn_decoder(DecoderRegistry& registry) {
  registry.add({kMaskRcnnName, {"labels", "threshold", "iou_threshold"}, create_mask_rcnn});
}

}  // namespace het
