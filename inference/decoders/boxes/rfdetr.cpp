#include <algorithm>
#include <optional>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/detr_queries.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/boxes/object_parts.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr float kRfdetrThreshold = 0.5f;
constexpr size_t kLeastObjects = 100;  ///< that may be found, however few queries there are

struct QueryOutputs {
  size_t logits = 0;
  size_t boxes = 0;
  std::optional<size_t> masks;
};

class DetrQueriesDecoder final : public Decoder {
 public:
  DetrQueriesDecoder(DecoderConfig config, QueryOutputs outputs)
      : config_(std::move(config)), outputs_(outputs) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& box_tensor = outputs[outputs_.boxes];
    HET_TRY(expect_shape(config_.converter, box_tensor, {kUnknownDim, kUnknownDim, 4}));
    const int64_t queries = box_tensor.shape()[1];
    HET_TRY(expect_shape(config_.converter, outputs[outputs_.logits],
                         {kUnknownDim, queries, kUnknownDim}));
    HET_ASSIGN(const OutputValues boxes, OutputValues::batch_item(box_tensor, context.batch_index));
    HET_ASSIGN(const OutputValues logits,
               OutputValues::batch_item(outputs[outputs_.logits], context.batch_index));
    const std::vector<Candidate> candidates =
        find(boxes, logits, static_cast<size_t>(outputs[outputs_.logits].shape()[2]), context);
    Results results = to_results(candidates, config_.labels, context.transform);
    if (outputs_.masks)
      HET_TRY(add_masks(outputs[*outputs_.masks], queries, candidates, context, results));
    return results;
  }

 private:
  std::vector<Candidate> find(const OutputValues& boxes, const OutputValues& logits, size_t classes,
                              const DecodeContext& context) const {
    const float threshold = effective_threshold(context, config_.threshold, kRfdetrThreshold);
    const auto width = static_cast<float>(context.input_width);
    const auto height = static_cast<float>(context.input_height);
    const size_t real = config_.labels.empty() ? classes : std::min(classes, config_.labels.size());
    const size_t queries = classes > 0 ? logits.size() / classes : 0;
    std::vector<float> scores(classes);
    std::vector<Candidate> candidates;
    const auto add = [&](size_t q, int label, float score) {
      const float* box = boxes.data() + 4 * q;
      candidates.push_back(centred_candidate(box[0] * width, box[1] * height, box[2] * width,
                                             box[3] * height, score, label,
                                             static_cast<int64_t>(q)));
    };
    for (size_t q = 0; q < queries; ++q) {
      std::copy_n(logits.data() + q * classes, classes, scores.begin());
      if (config_.class_softmax) {
        softmax(scores);
        const BestClass best = best_class(scores.data(), real);
        if (best.id >= 0 && best.score >= threshold) add(q, best.id, best.score);
        continue;
      }
      // Classes by themselves: a box may have several.
      for (size_t c = 0; c < real; ++c) {
        const float score = sigmoid(scores[c]);
        if (score >= threshold) add(q, static_cast<int>(c), score);
      }
    }
    candidates = sorted_by_score(std::move(candidates));
    const size_t most = std::max(queries, kLeastObjects);
    if (candidates.size() > most) candidates.resize(most);
    return candidates;
  }

  Status add_masks(const Tensor& tensor, int64_t queries, const std::vector<Candidate>& candidates,
                   const DecodeContext& context, Results& results) const {
    HET_TRY(
        expect_shape(config_.converter, tensor, {kUnknownDim, queries, kUnknownDim, kUnknownDim}));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const int64_t height = tensor.shape()[2];
    const int64_t width = tensor.shape()[3];
    const float whole = 1.0f;
    for (size_t i = 0; i < std::min(candidates.size(), kMaxMasks); ++i) {
      const float* logits = values.data() + candidates[i].row * width * height;
      results.detections[i].mask =
          mask_of_box({logits, 1, width, height}, &whole, 1, candidates[i], context);
    }
    return {};
  }

  DecoderConfig config_;
  QueryOutputs outputs_;
};

template <bool Masks>
Result<std::unique_ptr<Decoder>> create_rfdetr(const DecoderConfig& config,
                                               const std::vector<Port>&,
                                               const std::vector<Port>& outputs) {
  return create_detr_queries(config, Masks, outputs);
}

}  // namespace

Result<std::unique_ptr<Decoder>> create_detr_queries(const DecoderConfig& config, bool masks,
                                                     const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::vector<size_t> rows;
  std::vector<size_t> pictures;
  for (size_t index : selected) {
    if (outputs[index].desc.shape.size() == 3) rows.push_back(index);
    if (outputs[index].desc.shape.size() == 4) pictures.push_back(index);
  }
  if (rows.size() != 2 || (masks && pictures.size() != 1))
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads class logits [batch,queries,classes] and boxes "
                 "[batch,queries,4]{}, the model has {}",
                 config.converter, masks ? " and masks [batch,queries,height,width]" : "",
                 describe(outputs, selected));
  const Shape box_shape{kUnknownDim, kUnknownDim, 4};
  size_t boxes = rows[0];
  size_t logits = rows[1];
  const bool named = outputs[logits].name.find("box") != std::string::npos;
  if (matches(outputs[logits].desc.shape, box_shape) &&
      (named || !matches(outputs[boxes].desc.shape, box_shape)))
    std::swap(boxes, logits);
  HET_TRY(expect_shape(config.converter, outputs[boxes], box_shape));
  HET_TRY(expect_shape(config.converter, outputs[logits],
                       {kUnknownDim, dimension(outputs[boxes], 1), kUnknownDim}));
  const int64_t classes = dimension(outputs[logits], 2);
  if (classes != kUnknownDim && static_cast<int64_t>(config.labels.size()) > classes)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' has {} labels, output '{}' {} has {} classes", config.converter,
                 config.labels.size(), outputs[logits].name, to_string(outputs[logits].desc),
                 classes);
  QueryOutputs found{logits, boxes, std::nullopt};
  if (masks) found.masks = pictures.front();
  return std::make_unique<DetrQueriesDecoder>(config, found);
}

HET_REGISTRATION void register_rfdetr_decoder(DecoderRegistry& registry) {
  registry.add({"rfdetr", {"labels", "threshold", "do_cls_softmax"}, create_rfdetr<false>});
  registry.add({"rfdetr_seg", {"labels", "threshold", "do_cls_softmax"}, create_rfdetr<true>});
}

}  // namespace het
