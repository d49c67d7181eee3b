#pragma once

#include <string>

#include <vector>

#include "devices/gpu/kernels/convolution/convolution.h"
#include "devices/gpu/plan/launches.h"

namespace het::gpu {

/// Why conv_depthwise.cl cannot run it; empty when it can.
std::string refuse_depthwise(const PlanBuilder& builder, const Convolution& conv);

/// One launch with vectors over the channels.
Status plan_depthwise(PlanBuilder& builder, const Node& node, const Convolution& conv);

/// The work of kernels with a filter a channel: a work-item has a vector of channels of a segment
/// of a row. `args` are what such kernels take last: items, segment, channels and the window.
struct DepthwiseWork {
  size_t items = 0;
  std::vector<KernelArg> args;
};
DepthwiseWork depthwise_work(const PlanBuilder& builder, const Window3& window, int64_t n,
                             int64_t channels, int64_t vector);

/// Weights [channels, taps] with the channels innermost, each through `convert`.
template <class T, class Weights, class Convert>
std::vector<T> weights_by_tap(const Weights& weights, int64_t channels, const Convert& convert) {
  const size_t count = static_cast<size_t>(channels);
  const size_t taps = weights.size() / count;
  std::vector<T> packed(weights.size());
  for (size_t c = 0; c < count; ++c) {
    for (size_t tap = 0; tap < taps; ++tap) {
      packed[tap * count + c] = convert(weights[c * taps + tap]);
    }
  }
  return packed;
}

}  // namespace het::gpu
