#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/maps/map_output.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kMaskFormerName = "maskformer";
constexpr const char* kClassesName = "class_queries_logits";
constexpr const char* kMasksName = "masks_queries_logits";
constexpr size_t kBlock = 256;  // places at once: what is added stays in the nearest cache
constexpr float kNothing = std::numeric_limits<float>::epsilon();
constexpr int64_t kMostClasses = std::numeric_limits<uint16_t>::max();

struct MaskFormerOutputs {
  size_t classes = 0;
  size_t masks = 0;
};

/// A query's share of a class.
struct Share {
  size_t query = 0;
  float probability = 0.0f;
};

/// The class of each pixel by queries (MaskFormer, Mask2Former, OneFormer, EoMT): class logits
/// [batch, Q, C + 1], the last of them "no object", and mask logits [batch, Q, rows, columns]. As
/// transformers' post_process_semantic_segmentation has it: a class counts at a place what its
/// probabilities there are together, query by query that of the class after a softmax times that of
/// the place after a sigmoid. The map has the masks' size.
class MaskFormerDecoder final : public Decoder {
 public:
  MaskFormerDecoder(DecoderConfig config, MaskFormerOutputs outputs, std::string attribute,
                    std::string layer)
      : config_(std::move(config)),
        outputs_(outputs),
        attribute_(std::move(attribute)),
        layer_(std::move(layer)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& classes = outputs[outputs_.classes];
    const Tensor& masks = outputs[outputs_.masks];
    HET_TRY(expect_shape(kMaskFormerName, classes, {kUnknownDim, kUnknownDim, kUnknownDim}));
    const int64_t queries = classes.shape()[1];
    const int64_t real = classes.shape()[2] - 1;
    HET_TRY(expect_shape(kMaskFormerName, masks, {kUnknownDim, queries, kUnknownDim, kUnknownDim}));
    if (real < 1 || real > kMostClasses)
      return error(StatusCode::ShapeMismatch, "converter '{}' cannot read classes {}",
                   kMaskFormerName, to_string(classes.desc()));
    HET_TRY(expect_labels(config_, real));
    HET_ASSIGN(const OutputValues logits, OutputValues::batch_item(classes, context.batch_index));
    HET_ASSIGN(const OutputValues places, OutputValues::batch_item(masks, context.batch_index));
    Results results;
    const SourceBox box = picture_box(context);
    Segmentation found;
    found.attribute = attribute_;
    found.layer = layer_;
    found.x_min = box.low.x;
    found.y_min = box.low.y;
    found.x_max = box.high.x;
    found.y_max = box.high.y;
    found.width = static_cast<int>(masks.shape()[3]);
    found.height = static_cast<int>(masks.shape()[2]);
    found.labels = config_.labels;
    found.class_ids = best_classes(
        shares_of_classes(logits, static_cast<size_t>(queries), static_cast<size_t>(real)), places,
        static_cast<size_t>(queries), static_cast<size_t>(masks.shape()[2] * masks.shape()[3]));
    results.segmentations.push_back(std::move(found));
    return results;
  }

 private:
  /// Of each class the queries with a share that counts in a sum of floats.
  static std::vector<std::vector<Share>> shares_of_classes(const OutputValues& logits,
                                                           size_t queries, size_t classes) {
    std::vector<std::vector<Share>> shares(classes);
    std::vector<float> row(classes + 1);
    for (size_t q = 0; q < queries; ++q) {
      std::copy_n(logits.data() + q * row.size(), row.size(), row.begin());
      softmax(row);
      for (size_t c = 0; c < classes; ++c) {
        if (row[c] > kNothing) shares[c].push_back({q, row[c]});
      }
    }
    return shares;
  }

  static std::vector<uint16_t> best_classes(const std::vector<std::vector<Share>>& shares,
                                            const OutputValues& masks, size_t queries,
                                            size_t cells) {
    std::vector<uint16_t> ids(cells, 0);
    std::vector<float> inside(queries * kBlock);
    std::vector<float> score(kBlock);
    std::vector<float> best(kBlock);
    for (size_t first = 0; first < cells; first += kBlock) {
      const size_t count = std::min(kBlock, cells - first);
      for (size_t q = 0; q < queries; ++q) {
        const float* logits = masks.data() + q * cells + first;
        float* shown = inside.data() + q * kBlock;
        for (size_t i = 0; i < count; ++i) {
          const float share = sigmoid(logits[i]);
          shown[i] = std::isnan(share) ? 0.0f : share;
        }
      }
      std::fill(best.begin(), best.end(), 0.0f);
      for (size_t c = 0; c < shares.size(); ++c) {
        std::fill(score.begin(), score.end(), 0.0f);
        for (const Share& share : shares[c]) {
          const float* shown = inside.data() + share.query * kBlock;
          for (size_t i = 0; i < count; ++i) score[i] += share.probability * shown[i];
        }
        for (size_t i = 0; i < count; ++i) {
          if (!(score[i] > best[i])) continue;
          best[i] = score[i];
          ids[first + i] = static_cast<uint16_t>(c);
        }
      }
    }
    return ids;
  }

  DecoderConfig config_;
  MaskFormerOutputs outputs_;
  std::string attribute_;
  std::string layer_;
};

/// The output of this rank: that of transformers' name if there is one, else the only one.
std::optional<size_t> output_of(const std::vector<Port>& outputs,
                                const std::vector<size_t>& selected, size_t rank,
                                std::string_view name) {
  std::vector<size_t> fitting;
  for (const size_t index : selected) {
    const Port& port = outputs[index];
    if (port.desc.shape.size() != rank || !is_float(port.desc.type)) continue;
    if (port.name == name) return index;
    fitting.push_back(index);
  }
  return fitting.size() == 1 ? std::optional(fitting.front()) : std::nullopt;
}

Result<std::unique_ptr<Decoder>> create_maskformer(const DecoderConfig& config,
                                                   const std::vector<Port>&,
                                                   const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  const std::optional<size_t> classes = output_of(outputs, selected, 3, kClassesName);
  const std::optional<size_t> masks = output_of(outputs, selected, 4, kMasksName);
  const bool complete =
      classes && masks &&
      matches(outputs[*masks].desc.shape,
              {kUnknownDim, dimension(outputs[*classes], 1), kUnknownDim, kUnknownDim}) &&
      dimension(outputs[*classes], 2) != 1;
  if (!complete)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads class logits [batch,Q,C+1] and mask logits "
                 "[batch,Q,rows,columns] of as many queries; the model has {}; name both with "
                 "layer_names",
                 kMaskFormerName, describe(outputs, selected));
  const int64_t values = dimension(outputs[*classes], 2);
  if (values != kUnknownDim) HET_TRY(expect_labels(config, values - 1));
  return std::make_unique<MaskFormerDecoder>(config, MaskFormerOutputs{*classes, *masks},
                                             attribute_names(config, outputs, {*masks}).front(),
                                             outputs[*masks].name);
}

}  // namespace

HET_REGISTRATION void register_maskformer_decoder(DecoderRegistry& registry) {
  registry.add({kMaskFormerName, {"labels", "classes"}, create_maskformer});
}

}  // namespace het
