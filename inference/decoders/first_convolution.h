#pragma once

#include <optional>

#include "inference/model/model.h"

namespace het {

/// The standard deviation of the pixels that a trained network expects of its picture `input`, by
/// its first convolution: what comes out of it has about the spread that its normalisation of
/// batches recorded, or, where that was folded into the weights, that its biases have. Bytes have
/// about 60, pixels of 0..1 about 0.25, normalised ones about 1. By biases it is right within a
/// factor of 10. Nothing where the first operator is something else, for weights that are not
/// constant, and for networks without normalisation or that were never trained.
std::optional<float> expected_pixel_spread(const Value& input);

/// The pixels that such a spread means.
enum class PixelScale { Unknown, Bytes, Units };
PixelScale pixel_scale(const Value& input);

}  // namespace het
