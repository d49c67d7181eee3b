#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "inference/decoders/decoder.h"
#include "inference/decoders/results.h"

namespace het {

/// Where a point lies, in shares of the model's picture, by its map of rows x columns and the index
/// of the largest value.
using PeakPosition = Point (*)(std::span<const float> map, size_t rows, size_t columns,
                               size_t best);

/// A decoder of the points of a body with a heat map each, one output [batch, points, rows,
/// columns]: where the map is largest; the confidence is that value. Points at or below the
/// threshold (0) were not found, nor are there results when no point is.
Result<std::unique_ptr<Decoder>> create_peak_decoder(const DecoderConfig& config,
                                                     const std::vector<Port>& outputs,
                                                     PeakPosition position);

}  // namespace het
