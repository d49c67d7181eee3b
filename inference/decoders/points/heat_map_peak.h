#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "inference/decoders/decoder.h"
#include "inference/decoders/points/point_scheme.h"

namespace het {

/// Where a point lies, in shares of the model's picture, by its map of rows x columns and the index
/// of the largest value.
using PeakPosition =
    std::function<Point(std::span<const float> map, size_t rows, size_t columns, size_t best)>;

/// The points of a body with a heat map each, [batch, points, rows, columns]: where the map is
/// largest; the confidence is that value. Points at or below the threshold (0) were not found, nor
/// are there results when no point is.
Result<Results> peaks_of_maps(const DecoderConfig& config, const PointScheme& scheme,
                              const std::string& layer, const Tensor& tensor,
                              const DecodeContext& context, const PeakPosition& position);

}  // namespace het
