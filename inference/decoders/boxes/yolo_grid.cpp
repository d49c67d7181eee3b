#include "inference/decoders/boxes/yolo_grid.h"

#include <algorithm>
#include <cmath>
#include <optional>
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

constexpr float kYoloGridThreshold = 0.5f;
constexpr float kYoloGridIouThreshold = 0.5f;
constexpr int64_t kYoloGridBoxValues = 5;  // x, y, width, height, objectness

/// Where the values of one output lie: value v of anchor b in cell c is at b * box_step + c *
/// cell_step + v * value_step.
struct GridLayout {
  int64_t rows = 0;
  int64_t columns = 0;
  size_t box_step = 0;
  size_t cell_step = 0;
  size_t value_step = 0;
  int64_t cells() const { return rows * columns; }
};

/// One output and the anchors that belong to it.
struct GridLevel {
  size_t output = 0;
  std::vector<size_t> anchors;
};

GridLayout planar(int64_t rows, int64_t columns, int64_t row_size) {
  const auto cells = static_cast<size_t>(rows * columns);
  return {rows, columns, cells * static_cast<size_t>(row_size), 1, cells};
}

GridLayout interleaved(int64_t rows, int64_t columns, int64_t boxes, int64_t row_size) {
  const auto size = static_cast<size_t>(row_size);
  return {rows, columns, size, static_cast<size_t>(boxes) * size, 1};
}

/// Reads a shape whose dimensions are all known: [batch, boxes * row, rows, columns], [batch, rows,
/// columns, boxes * row], [batch, boxes, rows, columns, row], [batch, rows, columns, boxes, row],
/// or [batch, boxes * row * rows * columns] of a RegionYolo that flattens, whose grid is square or
/// has the input picture's aspect ratio.
std::optional<GridLayout> layout_of(const Shape& shape, int64_t boxes, int64_t row_size,
                                    const InputSize& input) {
  const int64_t channels = boxes * row_size;
  if (shape.size() == 4 && shape[1] == channels) return planar(shape[2], shape[3], row_size);
  if (shape.size() == 4 && shape[3] == channels)
    return interleaved(shape[1], shape[2], boxes, row_size);
  if (shape.size() == 5 && shape[4] == row_size) {
    if (shape[1] == boxes) {
      const auto cells = static_cast<size_t>(shape[2] * shape[3]);
      const auto size = static_cast<size_t>(row_size);
      return GridLayout{shape[2], shape[3], cells * size, size, 1};
    }
    if (shape[3] == boxes) return interleaved(shape[1], shape[2], boxes, row_size);
  }
  if (shape.size() == 2 && shape[1] > 0 && shape[1] % channels == 0) {
    const int64_t cells = shape[1] / channels;
    const bool known = input.width > 0 && input.height > 0;
    const double ratio =
        known ? static_cast<double>(input.width) / static_cast<double>(input.height) : 1.0;
    const int64_t columns = std::llround(std::sqrt(static_cast<double>(cells) * ratio));
    if (columns > 0 && cells % columns == 0) return planar(cells / columns, columns, row_size);
  }
  return std::nullopt;
}

/// YOLO with anchors. Each cell of a grid has one row of values for each of its anchors: x, y,
/// width, height, objectness, classes. score = objectness * best class. With s(v) the value after
/// its sigmoid (RegionYolo has applied it; `output_sigmoid_activation` says that the graph has
/// not):
///   v2, v3, v4: centre = (cell + s(x)) / cells * input size; size = exp(w) * anchor
///   v5, v7:     centre = (cell + 2 s(x) - 0.5) / cells * input size; size = (2 s(w))^2 * anchor
/// Sources: YOLO9000 (arXiv 1612.08242) and YOLOv3 (arXiv 1804.02767), section 2.1; Ultralytics
/// YOLOv5's documentation, "Eliminate Grid Sensitivity"; OpenVINO's specification of RegionYolo.
class YoloGridDecoder final : public Decoder {
 public:
  YoloGridDecoder(DecoderConfig config, AnchorFormula formula, std::vector<GridLevel> levels,
                  int64_t row_size)
      : config_(std::move(config)),
        formula_(formula),
        levels_(std::move(levels)),
        row_size_(row_size) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const float threshold = effective_threshold(context, config_.threshold, kYoloGridThreshold);
    std::vector<Candidate> candidates;
    for (const GridLevel& level : levels_) {
      const Tensor& tensor = outputs[level.output];
      HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
      const auto layout = layout_of(tensor.shape(), static_cast<int64_t>(level.anchors.size()),
                                    row_size_, {context.input_width, context.input_height});
      if (!layout || layout->cells() == 0 ||
          values.size() != static_cast<size_t>(layout->cells() * row_size_) * level.anchors.size())
        return error(StatusCode::ShapeMismatch,
                     "converter '{}' reads {} anchors of {} values for each cell, an output came "
                     "as {}",
                     config_.converter, level.anchors.size(), row_size_, to_string(tensor.desc()));
      add_level(level, *layout, values.data(), context, threshold, candidates);
    }
    candidates = non_maximum_suppression(std::move(candidates),
                                         config_.iou_threshold.value_or(kYoloGridIouThreshold));
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  float activated(float value) const { return config_.sigmoid_activation ? sigmoid(value) : value; }

  void add_level(const GridLevel& level, const GridLayout& layout, const float* values,
                 const DecodeContext& context, float threshold,
                 std::vector<Candidate>& candidates) const {
    std::vector<float> classes(static_cast<size_t>(row_size_ - kYoloGridBoxValues));
    for (int64_t cell = 0; cell < layout.cells(); ++cell) {
      for (size_t b = 0; b < level.anchors.size(); ++b) {
        const float* row =
            values + b * layout.box_step + static_cast<size_t>(cell) * layout.cell_step;
        const auto value = [&](int64_t v) {
          return row[static_cast<size_t>(v) * layout.value_step];
        };
        const float objectness = activated(value(4));
        if (!(objectness >= threshold)) continue;  // also drops NaN
        for (size_t c = 0; c < classes.size(); ++c)
          classes[c] = value(kYoloGridBoxValues + static_cast<int64_t>(c));
        if (config_.class_softmax) softmax(classes);
        const BestClass best = best_class(classes.data(), classes.size());
        const bool logits = config_.sigmoid_activation && !config_.class_softmax;
        const float score = objectness * (logits ? sigmoid(best.score) : best.score);
        if (best.id < 0 || !(score >= threshold)) continue;
        Candidate candidate = make_box(layout, cell, level.anchors[b], value(0), value(1), value(2),
                                       value(3), context);
        candidate.score = score;
        candidate.label_id = best.id;
        candidates.push_back(candidate);
      }
    }
  }

  Candidate make_box(const GridLayout& layout, int64_t cell, size_t anchor, float x, float y,
                     float w, float h, const DecodeContext& context) const {
    const float step_x =
        static_cast<float>(context.input_width) / static_cast<float>(layout.columns);
    const float step_y = static_cast<float>(context.input_height) / static_cast<float>(layout.rows);
    const auto column = static_cast<float>(cell % layout.columns);
    const auto row = static_cast<float>(cell / layout.columns);
    float anchor_width = config_.anchors[2 * anchor];
    float anchor_height = config_.anchors[2 * anchor + 1];
    if (formula_ == AnchorFormula::CellAnchors) {
      anchor_width *= step_x;
      anchor_height *= step_y;
    }
    x = activated(x);
    y = activated(y);
    if (formula_ != AnchorFormula::Scaled)
      return centred_candidate((column + x) * step_x, (row + y) * step_y,
                               std::exp(w) * anchor_width, std::exp(h) * anchor_height, 0.0f, 0);
    const float scale_w = 2.0f * activated(w);
    const float scale_h = 2.0f * activated(h);
    return centred_candidate((column + 2.0f * x - 0.5f) * step_x, (row + 2.0f * y - 0.5f) * step_y,
                             scale_w * scale_w * anchor_width, scale_h * scale_h * anchor_height,
                             0.0f, 0);
  }

  DecoderConfig config_;
  AnchorFormula formula_;
  std::vector<GridLevel> levels_;
  int64_t row_size_;
};

/// True when a grid of this size has the aspect ratio of the input picture (square where that is
/// unknown).
bool fits_picture(int64_t rows, int64_t columns, const InputSize& input) {
  const bool known = input.width > 0 && input.height > 0;
  return known ? columns * input.height == rows * input.width : rows == columns;
}

/// Number of classes: as told, else one per label, else what the channels leave.
Result<int64_t> class_count(const DecoderConfig& config, int64_t boxes, const Port& port,
                            const InputSize& input) {
  if (config.classes) return int64_t{*config.classes};
  if (!config.labels.empty()) return static_cast<int64_t>(config.labels.size());
  const Shape& shape = port.desc.shape;
  int64_t row_size = 0;
  if (shape.size() == 5) row_size = shape[4];
  if (shape.size() == 4) {
    const bool channels_first = fits_picture(shape[2], shape[3], input);
    const bool channels_last = fits_picture(shape[1], shape[2], input);
    const int64_t channels = shape[channels_first ? 1 : 3];
    if (channels_first != channels_last && channels % boxes == 0) row_size = channels / boxes;
  }
  if (row_size > kYoloGridBoxValues) return row_size - kYoloGridBoxValues;
  return error(StatusCode::InvalidArgument,
               "converter '{}' cannot tell the number of classes from output '{}' {} and {} "
               "anchors a cell; give \"classes\" or labels",
               config.converter, port.name, to_string(port.desc), boxes);
}

/// Which anchors each output has: the masks if given, else the anchors in their order, the last
/// ones (the largest) for the coarsest grid.
std::vector<std::vector<size_t>> anchors_of_levels(const DecoderConfig& config, size_t levels,
                                                   size_t boxes) {
  std::vector<std::vector<size_t>> anchors(levels);
  for (size_t level = 0; level < levels; ++level) {
    for (size_t b = 0; b < boxes; ++b)
      anchors[level].push_back(config.masks.empty()
                                   ? (levels - 1 - level) * boxes + b
                                   : static_cast<size_t>(config.masks[level * boxes + b]));
  }
  return anchors;
}

Status expect_anchors(const DecoderConfig& config, size_t levels, size_t boxes) {
  const size_t anchors = config.anchors.size() / 2;
  if (anchors == 0)
    return error(StatusCode::InvalidArgument,
                 "converter '{}' needs \"anchors\", the width and height of each anchor",
                 config.converter);
  const auto wrong_mask = [&](int mask) {
    return mask < 0 || static_cast<size_t>(mask) >= anchors;
  };
  if (!config.masks.empty() && (config.masks.size() != levels * boxes ||
                                std::any_of(config.masks.begin(), config.masks.end(), wrong_mask)))
    return error(StatusCode::InvalidArgument,
                 "converter '{}' reads {} outputs with {} anchors a cell, \"masks\" has {} indices "
                 "of {} anchors; give {} of them",
                 config.converter, levels, boxes, config.masks.size(), anchors, levels * boxes);
  if (config.masks.empty() && anchors != levels * boxes)
    return error(StatusCode::InvalidArgument,
                 "converter '{}' reads {} outputs with {} anchors a cell, there are {} anchors; "
                 "give {}, or \"masks\" with those of each output",
                 config.converter, levels, boxes, anchors, levels * boxes);
  return {};
}

template <AnchorFormula Formula>
Result<std::unique_ptr<Decoder>> create_yolo_grid(const DecoderConfig& config,
                                                  const std::vector<Port>& inputs,
                                                  const std::vector<Port>& outputs) {
  return create_yolo_grid(config, Formula, inputs, outputs);
}

}  // namespace

Result<std::unique_ptr<Decoder>> create_yolo_grid(const DecoderConfig& config,
                                                  AnchorFormula formula,
                                                  const std::vector<Port>& inputs,
                                                  const std::vector<Port>& outputs) {
  HET_ASSIGN(std::vector<size_t> selected, select_outputs(config, outputs));
  if (selected.empty())
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads at least one output, there are {}", config.converter,
                 describe(outputs, selected));
  const size_t levels = selected.size();
  size_t boxes = config.anchors.size() / 2 / levels;
  if (!config.masks.empty()) boxes = config.masks.size() / levels;
  if (config.boxes_per_cell) boxes = static_cast<size_t>(*config.boxes_per_cell);
  HET_TRY(expect_anchors(config, levels, boxes));
  const InputSize input = picture_input_size(inputs);
  HET_ASSIGN(const int64_t classes,
             class_count(config, static_cast<int64_t>(boxes), outputs[selected.front()], input));

  std::vector<std::pair<GridLayout, size_t>> by_cells;
  for (size_t index : selected) {
    const Port& port = outputs[index];
    const auto layout = is_static(port.desc.shape)
                            ? layout_of(port.desc.shape, static_cast<int64_t>(boxes),
                                        classes + kYoloGridBoxValues, input)
                            : std::nullopt;
    if (!layout)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads outputs with {} anchors of {} values ({} classes) for "
                   "each cell, '{}' is {}",
                   config.converter, boxes, classes + kYoloGridBoxValues, classes, port.name,
                   to_string(port.desc));
    by_cells.emplace_back(*layout, index);
  }
  std::stable_sort(by_cells.begin(), by_cells.end(),
                   [](const auto& a, const auto& b) { return a.first.cells() < b.first.cells(); });
  const GridLayout& coarsest = by_cells.front().first;
  if (config.cells_x > 0 && (coarsest.columns != config.cells_x || coarsest.rows != config.cells_y))
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' is told {}x{} cells, the coarsest grid, output '{}' {}, has {}x{}",
                 config.converter, config.cells_x, config.cells_y,
                 outputs[by_cells.front().second].name,
                 to_string(outputs[by_cells.front().second].desc), coarsest.columns, coarsest.rows);
  const auto anchors = anchors_of_levels(config, levels, boxes);
  std::vector<GridLevel> grids;
  for (size_t level = 0; level < levels; ++level)
    grids.push_back({by_cells[level].second, anchors[level]});
  return std::make_unique<YoloGridDecoder>(config, formula, std::move(grids),
                                           classes + kYoloGridBoxValues);
}

std::vector<std::string_view> yolo_grid_keys() {
  return {"labels",         "threshold",      "iou_threshold",       "classes",
          "anchors",        "masks",          "cells_number",        "cells_number_x",
          "cells_number_y", "do_cls_softmax", "bbox_number_on_cell", "output_sigmoid_activation"};
}

HET_REGISTRATION void register_yolo_grid_decoder(DecoderRegistry& registry) {
  registry.add({"yolo_v2", yolo_grid_keys(), create_yolo_grid<AnchorFormula::CellAnchors>});
  registry.add({"yolo_v3", yolo_grid_keys(), create_yolo_grid<AnchorFormula::PixelAnchors>});
  registry.add({"yolo_v4", yolo_grid_keys(), create_yolo_grid<AnchorFormula::PixelAnchors>});
}

}  // namespace het
