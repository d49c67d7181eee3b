#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/polyline.h"

namespace het {
namespace {

constexpr std::string_view kLaneRowsName = "lane_rows";
constexpr size_t kLaneLeastPoints = 3;  // of a lane, as the reference's demonstration has it
constexpr float kLaneRowsHeight = 288;  // of the picture that the published rows are given for

/// Rows of the anchors in a picture of 288 rows, from the top: of TuSimple (56) and CULane (18).
std::vector<float> published_rows(int64_t count) {
  std::vector<float> rows;
  if (count == 56) {
    for (int row = 64; row <= 284; row += 4) rows.push_back(static_cast<float>(row));
  } else if (count == 18) {
    for (const int row :
         {121, 131, 141, 150, 160, 170, 180, 189, 199, 209, 219, 228, 238, 248, 258, 267, 277, 287})
      rows.push_back(static_cast<float>(row));
  }
  return rows;
}

/// Lanes by row anchors (Qin et al., Ultra Fast Structure-aware Deep Lane Detection, 2020): logits
/// [batch, cells + 1, rows, lanes], the rows from the bottom; the last of the first dimension is
/// "no lane here". Where another wins, the lane passes a row at the mean of the cells' numbers,
/// from 1 on, under the softmax without "no lane". A lane of fewer than 3 rows is none. The
/// confidence is the mean of one minus the probability of "no lane".
class LaneRowsDecoder final : public Decoder {
 public:
  LaneRowsDecoder(DecoderConfig config, size_t output, std::string layer)
      : config_(std::move(config)), output_(output), layer_(std::move(layer)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& tensor = outputs[output_];
    HET_TRY(
        expect_shape(kLaneRowsName, tensor, {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
    const std::vector<float> rows = published_rows(tensor.shape()[2]);
    const int64_t cells = tensor.shape()[1] - 1;
    const int64_t lanes = tensor.shape()[3];
    if (rows.empty() || cells < 2)
      return error(StatusCode::ShapeMismatch, "converter '{}' reads 56 or 18 rows, not {}",
                   kLaneRowsName, to_string(tensor.desc()));
    HET_ASSIGN(const OutputValues values, OutputValues::batch_item(tensor, context.batch_index));
    const float threshold = effective_threshold(context, config_.threshold, 0.0f);
    const auto step = static_cast<size_t>(lanes) * rows.size();
    Results results;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      std::vector<Point> points;
      float sum = 0.0f;
      for (size_t row = 0; row < rows.size(); ++row) {
        // The logits of the row lie `step` apart.
        const size_t from_bottom = rows.size() - 1 - row;
        const float* logits =
            values.data() + from_bottom * static_cast<size_t>(lanes) + static_cast<size_t>(lane);
        const Place place = place_of(logits, static_cast<size_t>(cells), step);
        if (place.cell <= 0.0f) continue;
        sum += place.confidence;
        const float x = place.cell * (static_cast<float>(context.input_width) - 1.0f) /
                            (static_cast<float>(cells) - 1.0f) -
                        1.0f;
        const float y =
            rows[row] * static_cast<float>(context.input_height) / kLaneRowsHeight - 1.0f;
        points.push_back(to_source(x, y, context.transform));
      }
      if (points.size() < kLaneLeastPoints) continue;
      const float confidence = sum / static_cast<float>(points.size());
      if (confidence < threshold) continue;
      results.keypoints.push_back(polyline("lane", layer_, std::move(points), confidence));
    }
    return results;
  }

 private:
  struct Place {
    float cell = 0.0f;  ///< 0: no lane
    float confidence = 0.0f;
  };

  static Place place_of(const float* logits, size_t cells, size_t step) {
    float largest = logits[0];
    bool none = false;
    for (size_t i = 1; i <= cells; ++i) {
      const float logit = logits[i * step];
      if (!(logit > largest)) continue;
      largest = logit;
      none = i == cells;
    }
    if (none || !std::isfinite(largest)) return {};
    float sum = 0.0f;
    float weighted = 0.0f;
    for (size_t i = 0; i < cells; ++i) {
      const float weight = std::exp(logits[i * step] - largest);
      if (!std::isfinite(weight)) continue;
      sum += weight;
      weighted += weight * static_cast<float>(i + 1);
    }
    const float other = std::exp(logits[cells * step] - largest);
    return {weighted / sum, sum / (sum + (std::isfinite(other) ? other : 0.0f))};
  }

  DecoderConfig config_;
  size_t output_;
  std::string layer_;
};

Result<std::unique_ptr<Decoder>> create_lane_rows(const DecoderConfig& config,
                                                  const std::vector<Port>&,
                                                  const std::vector<Port>& outputs) {
  HET_ASSIGN(const size_t output, select_single_output(config, outputs));
  const Port& port = outputs[output];
  HET_TRY(expect_shape(kLaneRowsName, port, {kUnknownDim, kUnknownDim, kUnknownDim, kUnknownDim}));
  const int64_t rows = dimension(port, 2);
  if ((rows != kUnknownDim && published_rows(rows).empty()) || dimension(port, 1) == 1)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads [batch,cells + 1,56 or 18,lanes], '{}' is {}", kLaneRowsName,
                 port.name, to_string(port.desc));
  return std::make_unique<LaneRowsDecoder>(config, output, port.name);
}

}  // namespace

HET_REGISTRATION void register_lane_rows_decoder(DecoderRegistry& registry) {
  registry.add({kLaneRowsName, {"threshold"}, create_lane_rows});
}

}  // namespace het
