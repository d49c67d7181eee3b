#include <cmath>
#include <optional>
#include <utility>

#include "inference/base/registration.h"
#include "inference/decoders/boxes/detections.h"
#include "inference/decoders/decoder_registry.h"
#include "inference/decoders/output_ports.h"
#include "inference/decoders/output_values.h"
#include "inference/decoders/points/polyline.h"

namespace het {
namespace {

constexpr std::string_view kLineSegmentsName = "line_segments";
constexpr float kLineThreshold = 0.1f;
constexpr float kLineMinimum = 20.0f;  // cells

/// Line segments by their middles (Gu et al., Towards Light-weight and Real-time Line Segment
/// Detection, M-LSD, 2021), as its export has them: places [batch, N, 2] as row and column of the
/// map, scores [batch, N], and the displacements of both ends [batch, rows, columns, 4] (x and y of
/// the first, x and y of the second, in cells). Segments shorter than minimum_side (20 cells) are
/// none.
class LineSegmentsDecoder final : public Decoder {
 public:
  LineSegmentsDecoder(DecoderConfig config, size_t places, size_t scores, size_t ends,
                      std::string layer)
      : config_(std::move(config)),
        places_(places),
        scores_(scores),
        ends_(ends),
        layer_(std::move(layer)) {}

  Result<Results> decode(std::span<const Tensor> outputs,
                         const DecodeContext& context) const override {
    HET_TRY(expect_shape(kLineSegmentsName, outputs[places_], {kUnknownDim, kUnknownDim, 2}));
    const int64_t count = outputs[places_].shape()[1];
    HET_TRY(expect_shape(kLineSegmentsName, outputs[scores_], {kUnknownDim, count}));
    HET_TRY(expect_shape(kLineSegmentsName, outputs[ends_],
                         {kUnknownDim, kUnknownDim, kUnknownDim, 4}));
    const int64_t rows = outputs[ends_].shape()[1];
    const int64_t columns = outputs[ends_].shape()[2];
    HET_ASSIGN(const OutputValues places,
               OutputValues::batch_item(outputs[places_], context.batch_index));
    HET_ASSIGN(const OutputValues scores,
               OutputValues::batch_item(outputs[scores_], context.batch_index));
    HET_ASSIGN(const OutputValues ends,
               OutputValues::batch_item(outputs[ends_], context.batch_index));
    const float threshold = effective_threshold(context, config_.threshold, kLineThreshold);
    const float least = config_.minimum_side.value_or(kLineMinimum);
    const float scale_x = static_cast<float>(context.input_width) / static_cast<float>(columns);
    const float scale_y = static_cast<float>(context.input_height) / static_cast<float>(rows);
    Results results;
    for (size_t n = 0; n < static_cast<size_t>(count); ++n) {
      const float y = places[2 * n];
      const float x = places[2 * n + 1];
      if (!(scores[n] >= threshold) || !(y >= 0.0f && y < static_cast<float>(rows)) ||
          !(x >= 0.0f && x < static_cast<float>(columns)))
        continue;
      const float* d = ends.data() + 4 * (static_cast<size_t>(y) * static_cast<size_t>(columns) +
                                          static_cast<size_t>(x));
      const float length = std::hypot(d[0] - d[2], d[1] - d[3]);
      if (!(length >= least) || !std::isfinite(length)) continue;
      const auto end = [&](float dx, float dy) {
        return to_source((x + dx) * scale_x, (y + dy) * scale_y, context.transform);
      };
      results.keypoints.push_back(
          polyline("line", layer_, {end(d[0], d[1]), end(d[2], d[3])}, scores[n]));
    }
    return results;
  }

 private:
  DecoderConfig config_;
  size_t places_;
  size_t scores_;
  size_t ends_;
  std::string layer_;
};

Result<std::unique_ptr<Decoder>> create_line_segments(const DecoderConfig& config,
                                                      const std::vector<Port>&,
                                                      const std::vector<Port>& outputs) {
  HET_ASSIGN(const std::vector<size_t> selected, select_outputs(config, outputs));
  std::optional<size_t> places;
  std::optional<size_t> scores;
  std::optional<size_t> ends;
  for (const size_t index : selected) {
    const Shape& shape = outputs[index].desc.shape;
    if (matches(shape, {kUnknownDim, kUnknownDim, 2})) places = index;
    if (matches(shape, {kUnknownDim, kUnknownDim})) scores = index;
    if (matches(shape, {kUnknownDim, kUnknownDim, kUnknownDim, 4})) ends = index;
  }
  if (selected.size() != 3 || !places || !scores || !ends)
    return error(StatusCode::ShapeMismatch,
                 "converter '{}' reads places [batch,N,2], scores [batch,N] and displacements "
                 "[batch,rows,columns,4], the model has {}",
                 kLineSegmentsName, describe(outputs, selected));
  return std::make_unique<LineSegmentsDecoder>(config, *places, *scores, *ends,
                                               outputs[*places].name);
}

}  // namespace

HET_REGISTRATION void register_line_segments_decoder(DecoderRegistry& registry) {
  registry.add({kLineSegmentsName, {"threshold", "minimum_side"}, create_line_segments});
}

}  // namespace het
