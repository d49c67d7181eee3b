#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "inference/model/model.h"
#include "inference/preprocess/preprocess.h"

namespace het {

/// What a graph's first operators on a picture say of the pixels that they expect.
struct PixelEvidence {
  float range_high = 255.0f;           ///< pixels are 0..range_high, then:
  std::array<float, 3> mean{0, 0, 0};  ///< what is left to subtract before the graph
  std::array<float, 3> std{1, 1, 1};   ///< and to divide by
  std::optional<ColorOrder> order;     ///< where the means of channels tell it
  std::string_view what;               ///< for messages: "divides by 255 and the like"
};

/// Follows the picture `input` through copies of it to what shifts, scales or quantises pixels;
/// nothing where the first operators do none of that, or nothing that tells the range.
std::optional<PixelEvidence> pixel_evidence(const Value& input);

}  // namespace het
