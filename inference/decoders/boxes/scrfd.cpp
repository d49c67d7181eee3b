#include <algorithm>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/activations.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/grid_outputs.h"
#include "inference/decoders/boxes/pointed_objects.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"

namespace het {
namespace {

constexpr float kScrfdThreshold = 0.5f;
constexpr float kScrfdIouThreshold = 0.4f;
constexpr int64_t kScrfdSides = 4;  // left, top, right, bottom
constexpr int64_t kMostScrfdAnchors = 16;

/// The outputs of one kind, the finest grid first.
struct ScrfdPart {
  std::vector<size_t> outputs;
  int64_t columns = 0;
};

struct ScrfdOutputs {
  std::vector<int> strides;
  int64_t anchors = 1;  ///< of each cell
  ScrfdPart scores, boxes, points;
};

/// SCRFD (Guo et al., arXiv 2105.04714) as InsightFace's python package reads it: per stride, for
/// each anchor of each cell, a score [batch, N, 1], distances of the sides left, top, right, bottom
/// [.., 4] and perhaps offsets of points [.., 10]; without the batch in exports for one picture.
/// Distances and offsets are in strides, from the cell's corner at its top left: (x * stride,
/// y * stride). `output_sigmoid_activation` says that the scores are logits.
class ScrfdDecoder final : public Decoder {
 public:
  ScrfdDecoder(DecoderConfig config, ScrfdOutputs outputs, PointScheme scheme)
      : config_(std::move(config)), outputs_(std::move(outputs)), scheme_(std::move(scheme)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    PointedObjects found(static_cast<size_t>(outputs_.points.columns / 2));
    for (size_t level = 0; level < outputs_.strides.size(); ++level)
      HET_TRY(add_level(level, outputs, context, found));
    const std::vector<Candidate> kept = non_maximum_suppression(
        found.candidates(), config_.iou_threshold.value_or(kScrfdIouThreshold));
    return found.results(kept, scheme_, config_.labels, context.transform);
  }

 private:
  Status add_level(size_t level, std::span<const Tensor> outputs, const DecodeContext& context,
                   PointedObjects& found) const {
    const Grid grid = make_grid(outputs_.strides[level], context.input_width, context.input_height);
    const int64_t rows = grid.cells() * outputs_.anchors;
    const auto read = [&](const ScrfdPart& part) {
      return read_rows(config_.converter, outputs[part.outputs[level]], {rows, part.columns},
                       context);
    };
    HET_ASSIGN(const OutputValues scores, read(outputs_.scores));
    HET_ASSIGN(const OutputValues boxes, read(outputs_.boxes));
    OutputValues offsets;
    if (outputs_.points.columns > 0) {
      HET_ASSIGN(offsets, read(outputs_.points));
    }
    const float threshold = effective_threshold(context, config_.threshold, kScrfdThreshold);
    const auto stride = static_cast<float>(grid.stride);
    for (int64_t row = 0; row < rows; ++row) {
      const float value = scores[static_cast<size_t>(row)];
      const float score = config_.sigmoid_activation ? sigmoid(value) : value;
      if (!(score >= threshold)) continue;
      const int64_t cell = row / outputs_.anchors;
      const float x = static_cast<float>(cell % grid.width) * stride;
      const float y = static_cast<float>(cell / grid.width) * stride;
      const float* side = boxes.data() + row * kScrfdSides;
      const std::span<float> points =
          found.add({x - side[0] * stride, y - side[1] * stride, x + side[2] * stride,
                     y + side[3] * stride, score, 0});
      const float* offset = offsets.data() + row * outputs_.points.columns;
      for (size_t i = 0; i < points.size(); ++i)
        points[i] = (i % 2 == 0 ? x : y) + offset[i] * stride;
    }
    return {};
  }

  DecoderConfig config_;
  ScrfdOutputs outputs_;
  PointScheme scheme_;
};

/// Sorts the outputs by kind, which their columns tell, and those of a kind by rows.
Result<ScrfdOutputs> sort_scrfd(const DecoderConfig& config, const std::vector<Port>& inputs,
                                const std::vector<Port>& outputs,
                                const std::vector<size_t>& selected) {
  ScrfdOutputs sorted;
  const auto rows_of = [&](size_t index) {
    return row_shape(outputs[index].desc.shape, picture_batch(inputs)).value_or(RowShape{});
  };
  bool fits = true;
  for (size_t index : selected) {
    const RowShape shape = rows_of(index);
    ScrfdPart& part = shape.columns == 1             ? sorted.scores
                      : shape.columns == kScrfdSides ? sorted.boxes
                                                     : sorted.points;
    fits = fits && shape.rows > 0 && (part.outputs.empty() || part.columns == shape.columns);
    part.outputs.push_back(index);
    part.columns = shape.columns;
  }
  const size_t levels = sorted.scores.outputs.size();
  const size_t pointed = sorted.points.outputs.size();
  sorted.strides = config.strides;
  if (sorted.strides.empty() && levels == 3) sorted.strides = {8, 16, 32};
  if (sorted.strides.empty() && levels == 5) sorted.strides = {8, 16, 32, 64, 128};
  std::ranges::sort(sorted.strides);
  if (!fits || levels == 0 || levels != sorted.strides.size() ||
      sorted.boxes.outputs.size() != levels || (pointed != 0 && pointed != levels) ||
      sorted.points.columns % 2 != 0)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads for each stride an output of 1 column, one of 4 and perhaps "
                 "one of points [batch,N,2P], of 3 strides, of 5 or of \"strides\"; the model has "
                 "{}",
                 config.converter, describe(outputs, selected));
  for (ScrfdPart* part : {&sorted.scores, &sorted.boxes, &sorted.points}) {
    std::ranges::stable_sort(part->outputs, std::ranges::greater{},
                             [&](size_t index) { return rows_of(index).rows; });
  }
  return sorted;
}

Status count_scrfd_anchors(const DecoderConfig& config, const std::vector<Port>& inputs,
                           const std::vector<Port>& outputs, ScrfdOutputs& sorted) {
  const InputSize size = picture_input_size(inputs);
  if (size.width <= 0 || size.height <= 0)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' needs the size of the model's picture input, which is unknown; "
                 "give it with reshape",
                 config.converter);
  for (size_t level = 0; level < sorted.strides.size(); ++level) {
    const int64_t cells = make_grid(sorted.strides[level], size.width, size.height).cells();
    for (const ScrfdPart* part : {&sorted.scores, &sorted.boxes, &sorted.points}) {
      if (part->outputs.empty()) continue;
      const Port& port = outputs[part->outputs[level]];
      const int64_t rows = row_shape(port.desc.shape, 1).value_or(RowShape{}).rows;
      if (level == 0 && part == &sorted.scores) sorted.anchors = std::max<int64_t>(rows / cells, 1);
      if (rows == cells * sorted.anchors && sorted.anchors <= kMostScrfdAnchors) continue;
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads rows for {} cells of stride {} (input {}x{}), as many for "
                   "each cell of every stride; '{}' is {}",
                   config.converter, cells, sorted.strides[level], size.width, size.height,
                   port.name, to_string(port.desc));
    }
  }
  return {};
}

Result<std::unique_ptr<Decoder>> create_scrfd(const DecoderConfig& config,
                                              const std::vector<Port>& inputs,
                                              const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  HET_ASSIGN(ScrfdOutputs sorted, sort_scrfd(config, inputs, outputs, selected));
  HET_TRY(count_scrfd_anchors(config, inputs, outputs, sorted));
  HET_TRY(expect_labels(config, 1));
  HET_ASSIGN(PointScheme scheme, point_scheme(config, sorted.points.columns / 2, face_points()));
  return std::make_unique<ScrfdDecoder>(config, std::move(sorted), std::move(scheme));
}

}  // namespace

HET_REGISTRATION void register_scrfd_decoder(DecoderRegistry& registry) {
  registry.add({"scrfd",
                {"labels", "threshold", "iou_threshold", "strides", "output_sigmoid_activation",
                 "point_names", "point_connections"},
                create_scrfd});
}

}  // namespace het
