#pragma once

#include <string>
#include <vector>

#include "devices/gpu/kernels/convolution/conv_direct.h"

namespace het::gpu {

/// One of the ways to compute a convolution.
struct ConvolutionWay {
  int64_t winograd = 0;            ///< outputs a tile and dimension, 0 for none
  std::optional<DirectTile> tile;  ///< nothing: tiles in local memory; unused by Winograd
};
/// "winograd4", "direct_6x2", "tiled": what the store of choices keeps.
std::string to_string(const ConvolutionWay& way);

/// The way of a convolution that refuse_direct() is not against: PlanOptions::convolution's, else
/// the one that was or is now measured to be fastest, else the fixed rule's. All that are tried are
/// ways that the rule could take, so that measuring changes no result beyond its bounds.
ConvolutionWay choose_way(PlanBuilder& builder, const Node& node, const Convolution& conv);

}  // namespace het::gpu
