#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/maps/map_output.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kSemanticSegmentationName = "semantic_segmentation";
constexpr float kSemanticSegmentationThreshold = 0.5f;
constexpr float kMaxClassId = std::numeric_limits<uint16_t>::max();

/// The class of each pixel (DL Streamer's semantic_segmentation). Scores [batch,C,rows,columns] or
/// [batch,rows,columns,C]: the class with the largest one, the first of equal ones, 0 where all are
/// NaN. One channel of floats: 1 from the threshold (0.5) on, else 0. One channel of integers:
/// class ids as they are, 0 for what is no id in 0..65535.
class SegmentationDecoder final : public Decoder {
 public:
  SegmentationDecoder(DecoderConfig config, std::vector<size_t> outputs,
                      std::vector<std::string> attributes, std::vector<std::string> layers)
      : config_(std::move(config)),
        outputs_(std::move(outputs)),
        attributes_(std::move(attributes)),
        layers_(std::move(layers)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    Results results;
    const SourceBox box = picture_box(context);
    for (size_t i = 0; i < outputs_.size(); ++i) {
      const Tensor& tensor = outputs[outputs_[i]];
      HET_ASSIGN(const OutputValues values, map_values(config_, tensor, context.batch_index));
      HET_ASSIGN(const MapShape map, map_shape(config_, tensor.desc()));
      if (map.channels > 1) HET_TRY(expect_labels(config_, map.channels));
      Segmentation found;
      found.attribute = attributes_[i];
      found.layer = layers_[i];
      found.x_min = box.low.x;
      found.y_min = box.low.y;
      found.x_max = box.high.x;
      found.y_max = box.high.y;
      found.width = static_cast<int>(map.columns);
      found.height = static_cast<int>(map.rows);
      found.labels = config_.labels;
      if (map.channels > 1) {
        found.class_ids = best_classes(values.values(), map);
      } else if (is_float(tensor.type())) {
        found.class_ids = foreground(values.values(), context);
      } else {
        found.class_ids = class_ids(values.values());
      }
      results.segmentations.push_back(std::move(found));
    }
    return results;
  }

 private:
  static std::vector<uint16_t> best_classes(std::span<const float> scores, const MapShape& map) {
    const auto cells = static_cast<size_t>(map.cells());
    const auto channels = static_cast<size_t>(map.channels);
    const size_t channel_step = map.channels_last ? 1 : cells;
    const size_t cell_step = map.channels_last ? channels : 1;
    std::vector<uint16_t> ids(cells, 0);
    if (map.channels_last) {
      for (size_t cell = 0; cell < cells; ++cell) {
        const std::span<const float> row = scores.subspan(cell * cell_step, channels);
        float best = -std::numeric_limits<float>::infinity();
        for (size_t c = 0; c < channels; ++c) {
          if (!(row[c] > best)) continue;
          best = row[c];
          ids[cell] = static_cast<uint16_t>(c);
        }
      }
      return ids;
    }
    // Plane by plane, as the values lie.
    std::vector<float> best(cells, -std::numeric_limits<float>::infinity());
    for (size_t c = 0; c < channels; ++c) {
      const std::span<const float> plane = scores.subspan(c * channel_step, cells);
      for (size_t cell = 0; cell < cells; ++cell) {
        if (!(plane[cell] > best[cell])) continue;
        best[cell] = plane[cell];
        ids[cell] = static_cast<uint16_t>(c);
      }
    }
    return ids;
  }

  std::vector<uint16_t> foreground(std::span<const float> values,
                                   const DecodeContext& context) const {
    const float threshold =
        effective_threshold(context, config_.threshold, kSemanticSegmentationThreshold);
    std::vector<uint16_t> ids(values.size());
    std::transform(values.begin(), values.end(), ids.begin(),
                   [&](float value) { return static_cast<uint16_t>(value >= threshold ? 1 : 0); });
    return ids;
  }

  static std::vector<uint16_t> class_ids(std::span<const float> values) {
    std::vector<uint16_t> ids(values.size());
    std::transform(values.begin(), values.end(), ids.begin(), [](float value) {
      return static_cast<uint16_t>(value >= 0.0f && value <= kMaxClassId ? value : 0.0f);
    });
    return ids;
  }

  DecoderConfig config_;
  std::vector<size_t> outputs_;
  std::vector<std::string> attributes_;
  std::vector<std::string> layers_;
};

Result<std::unique_ptr<Decoder>> create_semantic_segmentation(const DecoderConfig& config,
                                                              const std::vector<Port>& inputs,
                                                              const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::vector<std::string> layers;
  for (size_t index : selected) {
    const Port& port = outputs[index];
    layers.push_back(port.name);
    HET_TRY(expect_map(config, inputs, port));
    if (!port.desc.is_static()) continue;
    HET_ASSIGN(const MapShape map, map_shape(config, port.desc));
    if (map.channels > 1) HET_TRY(expect_labels(config, map.channels));
  }
  return std::make_unique<SegmentationDecoder>(
      config, selected, attribute_names(config, outputs, selected), std::move(layers));
}

}  // namespace

HET_REGISTRATION void register_semantic_segmentation_decoder(DecoderRegistry& registry) {
  registry.add({kSemanticSegmentationName,
                {"labels", "classes", "threshold", "layout"},
                create_semantic_segmentation});
}

}  // namespace het
