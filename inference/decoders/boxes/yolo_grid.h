#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "inference/decoders/decoder.h"

namespace het {

/// How the four box values of an anchor become a box.
enum class AnchorFormula : uint8_t {
  CellAnchors,   ///< YOLO v2: anchors in cells
  PixelAnchors,  ///< YOLO v3 and v4: anchors in pixels of the input picture
  Scaled,        ///< YOLO v5 and v7: anchors in pixels, values stretched around the sigmoid
};

/// Detections from YOLO's feature maps with anchors; see yolo_grid.cpp for shapes and formulas.
/// Fails when the anchors are missing or the shapes do not fit them.
Result<std::unique_ptr<Decoder>> create_yolo_grid(const DecoderConfig& config,
                                                  AnchorFormula formula,
                                                  const std::vector<Port>& inputs,
                                                  const std::vector<Port>& outputs);

/// The keys of an output_postproc entry that these converters read.
std::vector<std::string_view> yolo_grid_keys();

}  // namespace het
