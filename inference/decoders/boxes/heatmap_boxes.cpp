#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/boxes/nms.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kHeatmapBoxesName = "heatmap_boxes";
constexpr float kHeatmapBoxesThreshold = 0.5f;
constexpr float kDefaultMinimumSide = 5.0f;
constexpr float kDefaultBinarizeThreshold = 0.3f;

/// A hot place of the map.
struct Place {
  int64_t x_min = 0;
  int64_t y_min = 0;
  int64_t x_max = 0;
  int64_t y_max = 0;
  double sum = 0.0;
  size_t cells = 0;
};

/// A heat map [batch, channels, rows, columns] of one kind of object, e.g. text (DBNet, EAST):
/// every connected place (eight neighbours) of the first channel above binarize_threshold is an
/// object, its box the place's, its score the mean heat there. Boxes with a side below minimum_side
/// pixels of the model's input are left out.
class HeatmapBoxesDecoder final : public Decoder {
 public:
  HeatmapBoxesDecoder(DecoderConfig config, size_t output)
      : config_(std::move(config)), output_(output) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_TRY(expect_shape(kHeatmapBoxesName, tensor,
                         {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const int64_t rows = tensor.shape()[2];
    const int64_t columns = tensor.shape()[3];
    if (values.size() < static_cast<size_t>(rows * columns) || values.size() == 0)
      return error(StatusCode::ShapeMismatch, "converter '{}' finds no heat map in {}",
                   kHeatmapBoxesName, to_string(tensor.desc()));
    const float step_x = static_cast<float>(context.input_width) / static_cast<float>(columns);
    const float step_y = static_cast<float>(context.input_height) / static_cast<float>(rows);
    const float threshold = effective_threshold(context, config_.threshold, kHeatmapBoxesThreshold);
    const float minimum = config_.minimum_side.value_or(kDefaultMinimumSide);
    std::vector<Candidate> candidates;
    for (const Place& place : hot_places(values.data(), rows, columns)) {
      const auto score = static_cast<float>(place.sum / static_cast<double>(place.cells));
      const Candidate box{static_cast<float>(place.x_min) * step_x,
                          static_cast<float>(place.y_min) * step_y,
                          static_cast<float>(place.x_max + 1) * step_x,
                          static_cast<float>(place.y_max + 1) * step_y,
                          score,
                          0};
      if (!(score >= threshold) || std::min(box.x_max - box.x_min, box.y_max - box.y_min) < minimum)
        continue;
      candidates.push_back(box);
    }
    return to_results(sorted_by_score(std::move(candidates)), config_.labels, context.transform);
  }

 private:
  std::vector<Place> hot_places(const float* map, int64_t rows, int64_t columns) const {
    const float limit = config_.binarize_threshold.value_or(kDefaultBinarizeThreshold);
    std::vector<bool> seen(static_cast<size_t>(rows * columns), false);
    std::vector<int64_t> open;  // cells of the place whose neighbours are still to be looked at
    std::vector<Place> places;
    const auto visit = [&](int64_t cell) {
      const float heat = map[cell];
      if (seen[static_cast<size_t>(cell)] || !(heat > limit) || std::isinf(heat)) return;
      seen[static_cast<size_t>(cell)] = true;
      open.push_back(cell);
    };
    for (int64_t first = 0; first < rows * columns; ++first) {
      visit(first);
      if (open.empty()) continue;
      Place place{first % columns, first / columns, first % columns, first / columns, 0.0, 0};
      while (!open.empty()) {
        const int64_t cell = open.back();
        open.pop_back();
        const int64_t x = cell % columns;
        const int64_t y = cell / columns;
        place.x_min = std::min(place.x_min, x);
        place.x_max = std::max(place.x_max, x);
        place.y_max = std::max(place.y_max, y);
        place.sum += map[cell];
        ++place.cells;
        for (int64_t v = std::max<int64_t>(y - 1, 0); v <= std::min(y + 1, rows - 1); ++v) {
          for (int64_t u = std::max<int64_t>(x - 1, 0); u <= std::min(x + 1, columns - 1); ++u)
            visit(v * columns + u);
        }
      }
      places.push_back(place);
    }
    return places;
  }

  DecoderConfig config_;
  size_t output_;
};

Result<std::unique_ptr<Decoder>> create_heatmap_boxes(const DecoderConfig& config,
                                                      const std::vector<Port>&,
                                                      const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  HET_TRY(expect_shape(kHeatmapBoxesName, outputs[output],
                       {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
  HET_TRY(expect_labels(config, 1));
  return std::make_unique<HeatmapBoxesDecoder>(config, output);
}

}  // namespace

HET_REGISTRATION void register_heatmap_boxes_decoder(DecoderRegistry& registry) {
  registry.add({kHeatmapBoxesName,
                {"labels", "threshold", "minimum_side", "binarize_threshold"},
                create_heatmap_boxes});
}

}  // namespace het
