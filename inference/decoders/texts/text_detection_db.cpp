#include <algorithm>
#include <utility>
#include <vector>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/maps/map_output.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"

namespace het {
namespace {

constexpr std::string_view kTextDetectionDbName = "text_detection_db";
constexpr float kTextDetectionDbThreshold = 0.6f;
constexpr float kDefaultPixelThreshold = 0.3f;
constexpr float kDefaultUnclipRatio = 1.5f;
constexpr int64_t kMinSide = 3;
constexpr size_t kMaxRegions = 1000;

/// Neighbouring places above the threshold, in cells.
struct Region {
  int64_t x_min, y_min, x_max, y_max;
  int64_t count = 0;
  double sum = 0.0;
};

/// Regions of a map in the order of their first place; 8-connected, as OpenCV's contours are.
std::vector<Region> find_regions(std::span<const float> map, int64_t rows, int64_t columns,
                                 float threshold) {
  std::vector<Region> regions;
  std::vector<bool> seen(map.size(), false);
  std::vector<int64_t> open;
  for (int64_t start = 0; start < rows * columns; ++start) {
    const auto first = static_cast<size_t>(start);
    if (seen[first] || !(map[first] > threshold)) continue;
    Region region{start % columns, start / columns, start % columns, start / columns};
    seen[first] = true;
    open.push_back(start);
    while (!open.empty()) {
      const int64_t cell = open.back();
      open.pop_back();
      const int64_t x = cell % columns;
      const int64_t y = cell / columns;
      region.x_min = std::min(region.x_min, x);
      region.x_max = std::max(region.x_max, x);
      region.y_max = std::max(region.y_max, y);
      ++region.count;
      region.sum += map[static_cast<size_t>(cell)];
      for (int64_t ny = std::max<int64_t>(y - 1, 0); ny <= std::min(y + 1, rows - 1); ++ny) {
        for (int64_t nx = std::max<int64_t>(x - 1, 0); nx <= std::min(x + 1, columns - 1); ++nx) {
          const auto next = static_cast<size_t>(ny * columns + nx);
          if (seen[next] || !(map[next] > threshold)) continue;
          seen[next] = true;
          open.push_back(static_cast<int64_t>(next));
        }
      }
    }
    regions.push_back(region);
  }
  return regions;
}

/// Lines of text from a probability map with one channel (Liao et al., "Real-time Scene Text
/// Detection with Differentiable Binarization", 2020; PaddleOCR's detectors): connected places
/// above pixel_threshold make an upright box, its confidence is their mean. Training shrinks the
/// regions, so a box grows on each side by area * unclip_ratio / perimeter. Sides below 3 cells are
/// noise.
class TextDetectionDecoder final : public Decoder {
 public:
  TextDetectionDecoder(DecoderConfig config, size_t output)
      : config_(std::move(config)), output_(output) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_ASSIGN(const OutputValues values, map_values(config_, tensor, context.batch_index));
    HET_ASSIGN(const MapShape map, map_shape(config_, tensor.desc()));
    if (map.channels != 1)
      return error(StatusCode::ShapeMismatch,
                   "converter '{}' reads one probability per place, not {}", kTextDetectionDbName,
                   to_string(tensor.desc()));
    const float threshold =
        effective_threshold(context, config_.threshold, kTextDetectionDbThreshold);
    const float cell_width =
        static_cast<float>(context.input_width) / static_cast<float>(map.columns);
    const float cell_height =
        static_cast<float>(context.input_height) / static_cast<float>(map.rows);
    std::vector<Candidate> candidates;
    for (const Region& region :
         find_regions(values.values(), map.rows, map.columns,
                      config_.pixel_threshold.value_or(kDefaultPixelThreshold))) {
      const auto score = static_cast<float>(region.sum / static_cast<double>(region.count));
      const int64_t columns = region.x_max - region.x_min + 1;
      const int64_t rows = region.y_max - region.y_min + 1;
      if (!(score >= threshold) || columns < kMinSide || rows < kMinSide) continue;
      const auto width = static_cast<float>(columns);
      const auto height = static_cast<float>(rows);
      const float grown = width * height * config_.unclip_ratio.value_or(kDefaultUnclipRatio) /
                          (2.0f * (width + height));
      candidates.push_back({(static_cast<float>(region.x_min) - grown) * cell_width,
                            (static_cast<float>(region.y_min) - grown) * cell_height,
                            (static_cast<float>(region.x_max + 1) + grown) * cell_width,
                            (static_cast<float>(region.y_max + 1) + grown) * cell_height,
                            std::min(score, 1.0f), 0});
    }
    candidates = sorted_by_score(std::move(candidates));
    if (candidates.size() > kMaxRegions) candidates.resize(kMaxRegions);
    return to_results(candidates, config_.labels, context.transform);
  }

 private:
  DecoderConfig config_;
  size_t output_;
};

Result<std::unique_ptr<Decoder>> create_text_detection_db(const DecoderConfig& config,
                                                          const std::vector<Port>& inputs,
                                                          const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  HET_TRY(expect_map(config, inputs, outputs[output]));
  HET_TRY(expect_labels(config, 1));
  DecoderConfig complete = config;
  if (complete.labels.empty()) complete.labels = {"text"};
  return std::make_unique<TextDetectionDecoder>(std::move(complete), output);
}

}  // namespace

HET_REGISTRATION void register_text_detection_db_decoder(DecoderRegistry& registry) {
  registry.add({kTextDetectionDbName,
                {"labels", "threshold", "pixel_threshold", "unclip_ratio", "layout"},
                create_text_detection_db});
}

}  // namespace het
