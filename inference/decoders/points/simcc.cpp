#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/point_scheme.h"

namespace het {
namespace {

constexpr std::string_view kSimCcName = "simcc";
constexpr int64_t kHandPoints = 21;

/// The largest of a row of scores; `size` where none is a number.
size_t largest(std::span<const float> scores) {
  size_t best = scores.size();
  for (size_t i = 0; i < scores.size(); ++i) {
    if (std::isfinite(scores[i]) && (best == scores.size() || scores[i] > scores[best])) best = i;
  }
  return best;
}

/// SimCC (arXiv 2107.03332), as RTMPose, RTMW and their relatives export it: scores of each column
/// [batch, points, columns] and of each row [batch, points, rows] for every point, in places finer
/// than pixels (RTMPose: two for each). A point lies where both are largest; its confidence is the
/// smaller of both, as in RTMPose's and rtmlib's get_simcc_maximum. Points at or below the
/// threshold (0) were not found.
class SimCcDecoder final : public Decoder {
 public:
  SimCcDecoder(DecoderConfig config, PointScheme scheme, size_t columns, size_t rows,
               std::string layer)
      : config_(std::move(config)),
        scheme_(std::move(scheme)),
        columns_(columns),
        rows_(rows),
        layer_(std::move(layer)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    const Tensor& columns = outputs[columns_];
    HET_TRY(expect_shape(kSimCcName, columns, {kUnknownDim, kUnknownDim, kUnknownDim}));
    const int64_t points = columns.shape()[1];
    HET_TRY(expect_shape(kSimCcName, outputs[rows_], {kUnknownDim, points, kUnknownDim}));
    HET_ASSIGN(const OutputValues x, OutputValues::batch_item(columns, context.batch_index));
    HET_ASSIGN(const OutputValues y, OutputValues::batch_item(outputs[rows_], context.batch_index));
    const auto across = static_cast<size_t>(columns.shape()[2]);
    const auto down = static_cast<size_t>(outputs[rows_].shape()[2]);
    const float threshold = effective_threshold(context, config_.threshold, 0.0f);
    Results results;
    Keypoints found = empty_keypoints(scheme_, layer_, static_cast<size_t>(points));
    float sum = 0.0f;
    int count = 0;
    for (size_t p = 0; p < static_cast<size_t>(points); ++p) {
      const std::span<const float> of_columns = x.values().subspan(p * across, across);
      const std::span<const float> of_rows = y.values().subspan(p * down, down);
      const size_t column = largest(of_columns);
      const size_t row = largest(of_rows);
      if (column == across || row == down) continue;
      const float score = std::min(of_columns[column], of_rows[row]);
      if (!(score > threshold)) continue;
      set_point(found, p,
                to_source(in_pixels(column, across, context.input_width),
                          in_pixels(row, down, context.input_height), context.transform),
                score);
      sum += found.landmarks.confidences[p];
      ++count;
    }
    if (count == 0) return results;
    found.confidence = sum / static_cast<float>(count);
    results.keypoints.push_back(std::move(found));
    return results;
  }

 private:
  static float in_pixels(size_t place, size_t places, int side) {
    return static_cast<float>(place) * static_cast<float>(side) / static_cast<float>(places);
  }

  DecoderConfig config_;
  PointScheme scheme_;
  size_t columns_;
  size_t rows_;
  std::string layer_;
};

/// Places are as many for each pixel on both axes, and as many as pixels or more.
bool are_places(const Port& columns, const Port& rows, const InputSize& input) {
  const int64_t across = dimension(columns, 2);
  const int64_t down = dimension(rows, 2);
  if (across < 1 || down < 1 || input.width < 1 || input.height < 1) return true;  // not known
  return across >= input.width && across * input.height == down * input.width;
}

/// Rows come first where the names say so, or the lengths do: places are as many for each pixel on
/// both axes.
bool are_rows_first(const Port& first, const Port& second, const InputSize& input) {
  const auto ends = [](const Port& port, char axis) {
    return !port.name.empty() && port.name.back() == axis;
  };
  if (ends(first, 'y') && ends(second, 'x')) return true;
  if (ends(first, 'x') && ends(second, 'y')) return false;
  const int64_t a = dimension(first, 2);
  const int64_t b = dimension(second, 2);
  return a > 0 && b > 0 && input.width > 0 && input.height > 0 && a != b &&
         a * input.width == b * input.height;
}

Result<std::unique_ptr<Decoder>> create_simcc(const DecoderConfig& config,
                                              const std::vector<Port>& inputs,
                                              const std::vector<Port>& outputs) {
  HET_ASSIGN(std::vector<size_t> selected, select_outputs(config, outputs));
  if (selected.size() != 2)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads two outputs, of columns and of rows, the model has {}",
                 kSimCcName, describe(outputs, selected));
  // An order that the user gives is columns, rows.
  if (config.layer_names.empty() &&
      are_rows_first(outputs[selected[0]], outputs[selected[1]], picture_input_size(inputs)))
    std::swap(selected[0], selected[1]);
  const Port& columns = outputs[selected[0]];
  const Port& rows = outputs[selected[1]];
  HET_TRY(expect_shape(kSimCcName, columns, {kUnknownDim, kUnknownDim, kUnknownDim}));
  const int64_t points = dimension(columns, 1);
  HET_TRY(expect_shape(kSimCcName, rows, {kUnknownDim, points, kUnknownDim}));
  if (!are_places(columns, rows, picture_input_size(inputs)))
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads scores of columns and rows, as many for each pixel of the "
                 "picture on both axes; the model has {}",
                 kSimCcName, describe(outputs, selected));
  HET_ASSIGN(PointScheme scheme,
             point_scheme(config, points, points == kHandPoints ? hand() : coco_body()));
  return std::make_unique<SimCcDecoder>(config, std::move(scheme), selected[0], selected[1],
                                        columns.name);
}

}  // namespace

HET_REGISTRATION void register_simcc_decoder(DecoderRegistry& registry) {
  registry.add(
      {kSimCcName, {"format", "threshold", "point_names", "point_connections"}, create_simcc});
}

}  // namespace het
