#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/distance_bins.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kNanodetName = "nanodet";
constexpr float kNanodetThreshold = 0.4f;
constexpr float kNanodetIouThreshold = 0.6f;

struct NanodetLevel {
  int stride = 0;
  size_t scores = 0;
  size_t distances = 0;
};

/// NanoDet with generalised focal loss heads (nanodet/model/head/gfl_head.py): per stride class
/// scores [batch, cells, classes] after the sigmoid and [batch, cells, 4 * (reg_max + 1)] logits of
/// the distance distribution of each side. Distance = sum(i * softmax_i) * stride, measured from
/// the cell's centre (x + 0.5, y + 0.5) * stride. PicoDet has the same with a fourth stride.
class NanoDetDecoder final : public Decoder {
 public:
  NanoDetDecoder(DecoderConfig config, std::vector<NanodetLevel> levels)
      : config_(std::move(config)), levels_(std::move(levels)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const float threshold = effective_threshold(context, config_.threshold, kNanodetThreshold);
    std::vector<Candidate> candidates;
    for (const NanodetLevel& level : levels_) {
      HET_TRY(add_level(level, outputs[level.scores], outputs[level.distances], context, threshold,
                        candidates));
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kNanodetIouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  static Status add_level(const NanodetLevel& level, const Tensor& scores, const Tensor& distances,
                          const DecodeContext& context, float threshold,
                          std::vector<Candidate>& candidates) {
    const Grid grid = make_grid(level.stride, context.input_width, context.input_height);
    const Shape pattern{kUnknownDim, grid.cells(), kUnknownDim};
    HET_TRY(expect_shape(kNanodetName, scores, pattern));
    HET_TRY(expect_shape(kNanodetName, distances, pattern));
    const int64_t classes = scores.shape()[2];
    const int64_t bins = distances.shape()[2] / kBoxSides;
    HET_ASSIGN(const OutputValues score_values,
               OutputValues::batch_item(scores, context.batch_index));
    HET_ASSIGN(const OutputValues distance_values,
               OutputValues::batch_item(distances, context.batch_index));
    const auto stride = static_cast<float>(level.stride);
    for (int64_t cell = 0; cell < grid.cells(); ++cell) {
      const float* row = score_values.data() + cell * classes;
      const float* best = std::max_element(row, row + classes);
      if (!(*best >= threshold)) continue;
      const float centre_x = (static_cast<float>(cell % grid.width) + 0.5f) * stride;
      const float centre_y = (static_cast<float>(cell / grid.width) + 0.5f) * stride;
      const float* logits = distance_values.data() + cell * bins * kBoxSides;
      const auto side = expected_distances(logits, bins, stride);
      candidates.push_back({centre_x - side[0], centre_y - side[1], centre_x + side[2],
                            centre_y + side[3], *best, static_cast<int>(best - row)});
    }
    return {};
  }

  DecoderConfig config_;
  std::vector<NanodetLevel> levels_;
};

/// Which of the two outputs of a stride holds the class scores: told by the number of classes, else
/// by the width (a distribution has a multiple of four columns), else by the name.
Result<NanodetLevel> make_level(const DecoderConfig& config, const GridOutputs& group,
                                const std::vector<Port>& outputs) {
  const size_t a = group.outputs[0];
  const size_t b = group.outputs[1];
  const int64_t columns_a = outputs[a].desc.shape[2];
  const int64_t columns_b = outputs[b].desc.shape[2];
  int64_t classes = config.classes.value_or(static_cast<int>(config.labels.size()));
  if (classes > 0 && columns_a == classes && columns_b != classes)
    return NanodetLevel{group.stride, a, b};
  if (classes > 0 && columns_b == classes && columns_a != classes)
    return NanodetLevel{group.stride, b, a};
  if (columns_a % kBoxSides != 0 && columns_b % kBoxSides == 0)
    return NanodetLevel{group.stride, a, b};
  if (columns_b % kBoxSides != 0 && columns_a % kBoxSides == 0)
    return NanodetLevel{group.stride, b, a};
  const bool named_a = outputs[a].name.find("cls") != std::string::npos;
  const bool named_b = outputs[b].name.find("cls") != std::string::npos;
  if (named_a != named_b)
    return named_a ? NanodetLevel{group.stride, a, b} : NanodetLevel{group.stride, b, a};
  return error(StatusCode::ShapeMismatch,
               "converter '{}' cannot tell class scores from box distributions among {}; give "
               "'classes' or 'labels'",
               kNanodetName, describe(outputs, group.outputs));
}

Result<std::unique_ptr<Decoder>> create_nanodet(const DecoderConfig& config,
                                                const std::vector<Port>& inputs,
                                                const std::vector<Port>& outputs) {
  std::vector<int> strides = config.strides;
  if (strides.empty()) {
    strides = {8, 16, 32};
    HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
    if (selected.size() == 8) strides.push_back(64);  // PicoDet and NanoDet-Plus
  }
  HET_ASSIGN(const std::vector<GridOutputs> groups,
             group_by_stride(config, strides, 2, inputs, outputs));
  std::vector<NanodetLevel> levels;
  for (const GridOutputs& group : groups) {
    HET_ASSIGN(const NanodetLevel level, make_level(config, group, outputs));
    const Port& distances = outputs[level.distances];
    const int64_t classes = outputs[level.scores].desc.shape[2];
    const int64_t columns = distances.desc.shape[2];
    if (columns < 2 * kBoxSides || columns % kBoxSides != 0)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads box distributions of 4 * (reg_max + 1) columns, '{}' is "
                   "{}",
                   kNanodetName, distances.name, to_string(distances.desc));
    if (classes < 1)
      return error(StatusCode::ShapeMismatch, "converter '{}' finds no classes in '{}' {}",
                   kNanodetName, outputs[level.scores].name, to_string(outputs[level.scores].desc));
    HET_TRY(expect_labels(config, classes));
    levels.push_back(level);
  }
  return std::make_unique<NanoDetDecoder>(config, std::move(levels));
}

}  // namespace

HET_REGISTRATION void register_nanodet_decoder(DecoderRegistry& registry) {
  registry.add({kNanodetName,
                {"labels", "threshold", "iou_threshold", "classes", "strides"},
                create_nanodet});
}

}  // namespace het
