#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devices/gpu/kernels/convolution/convolution.h"

namespace het::gpu {

/// How many outputs a work-item of kernels/convolution/conv_direct.cl keeps in registers.
struct DirectTile {
  int64_t pixels = 1;
  int64_t blocks = 1;  ///< vectors of channels
};

/// A convolution in two dimensions whose outputs may be a part of the destination: every osy-th row
/// from oy on and every osx-th column from ox on. Pads may be negative.
struct DirectProblem {
  int64_t n = 1;
  int64_t ic = 1;
  int64_t oc = 1;
  int64_t group = 1;
  Window3 window;
  std::vector<float> weights;  ///< [oc][ic / group][kh][kw]
  int64_t dst_h = 1;
  int64_t dst_w = 1;
  int64_t osy = 1;
  int64_t osx = 1;
  int64_t oy = 0;
  int64_t ox = 0;
  /// Groups lie behind each other in memory, as matrices, instead of side by side in every pixel.
  bool batched = false;

  int64_t group_ic() const { return ic / group; }
  int64_t group_oc() const { return oc / group; }
  int64_t pixels() const { return n * window.out_count(); }
  /// Every output pixel is a product of the channels of one source pixel, in one group or batched.
  bool is_product() const;
};

/// Why conv_direct.cl cannot run it, transposed or not; empty when it can.
std::string refuse_direct(const Convolution& conv);

/// The problem of a convolution that is not transposed.
Result<DirectProblem> direct_problem(const Convolution& conv);
/// The same for those who ask for its sizes only.
DirectProblem problem_without_weights(const Convolution& conv);
/// Groups of few channels become larger ones, the weights in between zero, where whole vectors make
/// up for that.
void merge_groups(DirectProblem& problem, int64_t width);

/// The tiles that conv_direct.cl has kernels for.
std::span<const DirectTile> direct_tiles();
/// The fixed rule: the tile that wastes least; nothing where tiles in local memory are better
/// (conv_tiled.h).
std::optional<DirectTile> direct_tile(const PlanBuilder& builder, const DirectProblem& problem);

/// [group][tile][kh][kw][ic][channels of a tile], zeros behind a group's last channel.
std::vector<float> packed_weights(const DirectProblem& problem, int64_t tile_channels);

/// The picture as a kernel walks it.
struct DirectSource {
  TensorId id = kNoTensor;
  int64_t ih = 0;
  int64_t iw = 0;
  int64_t ph = 0;
  int64_t pw = 0;
  bool rows = false;  ///< taps of a row are one run of memory, no tap is outside
};
/// What a convolution reads: the picture or, for few channels, a copy with padding that a step
/// makes.
Result<DirectSource> direct_source(PlanBuilder& builder, const Node& node, const Convolution& conv,
                                   const DirectProblem& problem);

/// Elements of the source that a kernel multiplies at each tap.
int64_t run_of(const DirectProblem& problem, const DirectSource& src);
/// Arguments of kernels, in their order: the source's size, then those of the output, the window,
/// strides, dilations and pads.
std::vector<int64_t> window_sizes(const DirectProblem& problem, const DirectSource& src);
/// Where outputs stand: the destination's size, steps and first places.
std::vector<int64_t> output_places(const DirectProblem& problem);

/// What all steps of a node share.
struct DirectOperands {
  DirectSource src;
  TailOperands tail;
  /// With tiles in local memory, several groups as matrices or a sum, pixels have no other
  /// channels.
  ChannelPlace dst;
};
/// One launch that computes each output in registers, or without a tile in local memory. Weights
/// are packed now.
Status add_direct(PlanBuilder& builder, const Node& node, const Convolution& conv,
                  const DirectProblem& problem, const DirectOperands& operands,
                  std::optional<DirectTile> tile);

/// The whole convolution, not transposed.
Status plan_direct(PlanBuilder& builder, const Node& node, const Convolution& conv,
                   std::optional<DirectTile> tile);

}  // namespace het::gpu
