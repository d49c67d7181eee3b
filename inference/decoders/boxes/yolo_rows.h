#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "inference/decoders/boxes/object_parts.h"
#include "inference/decoders/decoder.h"
#include "inference/decoders/output_ports.h"

/// What the converters for Ultralytics' models share: an output with a row of values per object,
/// and besides boxes and classes nothing, an angle, points, or weights of mask prototypes.
namespace het {

enum class RowKind : uint8_t { Boxes, Turned, Points, Masks };

/// How the values of a row are placed: value v of row n is at n * row_step + v * value_step.
struct RowLayout {
  int64_t rows = 0;
  int64_t values = 0;
  size_t row_step = 0;
  size_t value_step = 0;
};

/// The outputs that such a converter reads.
struct RowOutputs {
  size_t rows = 0;
  std::optional<size_t> prototypes;  ///< of RowKind::Masks: [batch, masks, height, width]
};

/// Finds them: the only output of rank 3, and for masks the only one of rank 4.
Result<RowOutputs> find_row_outputs(const DecoderConfig& config, RowKind kind,
                                    const std::vector<Port>& outputs);

/// Mask prototypes of the context's batch item; `values` keeps what they view.
Result<MaskPictures> read_prototypes(const Tensor& tensor, const DecodeContext& context,
                                     std::string_view converter, OutputValues& values);

/// Adds what else a row has to a detection: points, or a mask. `parts` are the values after box,
/// classes and the like; `index` counts the detections of the picture.
struct RowParts {
  RowKind kind = RowKind::Boxes;
  PointRow points;
  PointScheme scheme;  ///< of the points
  MaskPictures prototypes;
};

/// Fills `parts.points` and `parts.scheme` for rows with this many values for points: the scheme is
/// the descriptor's, else that of a body where there are as many points.
Status divide_points(const DecoderConfig& config, int64_t values, RowParts& parts);
/// Boxes of RowKind::Masks end where the input picture does, and with it their masks.
void clip_masked(const RowParts& parts, const DecodeContext& context,
                 std::vector<Candidate>& candidates);
/// Drops objects of RowKind::Masks without a place in their mask, as Ultralytics' own predictor
/// does.
void drop_unmasked(const RowParts& parts, std::vector<Detection>& detections);
void add_parts(const RowParts& parts, const float* values, size_t step, size_t index,
               const Candidate& box, const DecodeContext& context, Detection& detection);

}  // namespace het
