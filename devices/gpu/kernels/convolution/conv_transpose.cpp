#include <numeric>

#include "devices/gpu/kernels/convolution/conv_direct.h"
#include "devices/gpu/kernels/convolution/conv_general.h"
#include "inference/base/registration.h"

namespace het::gpu {
namespace {

/// A launch each: more phases than this are slower than the definition.
constexpr int64_t kMostPhases = 16;

/// What the outputs o = phase, phase + stride ... of a dimension read: element o / stride - pad +
/// j * dilation of the source under tap taps[j].
struct PhaseTaps {
  std::vector<int64_t> taps;  ///< none: no input reaches these outputs
  int64_t pad = 0;
  int64_t dilation = 1;
  int64_t out = 0;  ///< outputs
};

/// Input i stands at outputs i * stride - pads + k * dilation, so output o reads (o + pads - k *
/// dilation) / stride where that has no remainder.
PhaseTaps phase_taps(const Window3& window, size_t d, int64_t phase) {
  const int64_t stride = window.strides[d];
  PhaseTaps result;
  result.out = (window.out[d] - phase + stride - 1) / stride;
  const int64_t step = stride / std::gcd(stride, window.dilations[d]);
  result.dilation = step * window.dilations[d] / stride;
  for (int64_t k = window.kernel[d] - 1; k >= 0; --k) {
    const int64_t at = phase + window.pads[d] - k * window.dilations[d];
    if (at % stride != 0) continue;
    if (result.taps.empty()) result.pad = -at / stride;
    result.taps.push_back(k);
  }
  return result;
}

/// Weights [ic][oc / group][kh][kw] of these taps as [oc][ic / group][taps]; one tap of zeros where
/// there is none.
std::vector<float> phase_weights(const Convolution& conv, const std::vector<float>& weights,
                                 const PhaseTaps& rows, const PhaseTaps& columns) {
  const auto [kd, kh, kw] = conv.window.kernel;
  const int64_t taps = static_cast<int64_t>(rows.taps.size() * columns.taps.size());
  if (taps == 0) return std::vector<float>(static_cast<size_t>(conv.oc * conv.group_ic()));
  std::vector<float> packed;
  packed.reserve(static_cast<size_t>(conv.oc * conv.group_ic() * taps));
  for (int64_t c = 0; c < conv.oc; ++c) {
    const int64_t group = c / conv.group_oc();
    for (int64_t i = 0; i < conv.group_ic(); ++i) {
      const int64_t plane =
          (group * conv.group_ic() + i) * conv.group_oc() + c - group * conv.group_oc();
      for (const int64_t h : rows.taps) {
        for (const int64_t w : columns.taps) {
          packed.push_back(weights[static_cast<size_t>((plane * kh + h) * kw + w)]);
        }
      }
    }
  }
  return packed;
}

DirectProblem phase_problem(const Convolution& conv, const std::vector<float>& weights, int64_t oy,
                            int64_t ox) {
  const PhaseTaps rows = phase_taps(conv.window, 1, oy);
  const PhaseTaps columns = phase_taps(conv.window, 2, ox);
  DirectProblem problem;
  problem.n = conv.n;
  problem.ic = conv.ic;
  problem.oc = conv.oc;
  problem.group = conv.group;
  const bool reached = !rows.taps.empty() && !columns.taps.empty();
  const auto kh = static_cast<int64_t>(reached ? rows.taps.size() : 1);
  const auto kw = static_cast<int64_t>(reached ? columns.taps.size() : 1);
  problem.window = {
      conv.window.in, {1, rows.out, columns.out},           {1, kh, kw},
      {1, 1, 1},      {1, rows.dilation, columns.dilation}, {0, rows.pad, columns.pad}};
  problem.weights = phase_weights(conv, weights, rows, columns);
  problem.dst_h = conv.window.out[1];
  problem.dst_w = conv.window.out[2];
  problem.osy = conv.window.strides[1];
  problem.osx = conv.window.strides[2];
  problem.oy = oy;
  problem.ox = ox;
  return problem;
}

/// A convolution for every residue of the output's position by the stride.
Status plan_phases(PlanBuilder& builder, const Node& node, const Convolution& conv) {
  const auto width = static_cast<int64_t>(builder.hardware().vector_width());
  HET_ASSIGN(const std::vector<float> weights, to_float_vector(conv.weights->constant()));
  DirectOperands operands;
  HET_ASSIGN(const TensorId src, builder.read(*conv.src, Format::ChannelsLast));
  HET_ASSIGN(operands.tail, tail_operands(builder, conv, conv.oc + width));
  operands.dst = {builder.write(*conv.dst, Format::ChannelsLast), conv.oc, 0};
  const auto [sd, sh, sw] = conv.window.strides;
  const auto [od, oh, ow] = conv.window.out;
  for (int64_t oy = 0; oy < std::min(sh, oh); ++oy) {
    for (int64_t ox = 0; ox < std::min(sw, ow); ++ox) {
      DirectProblem problem = phase_problem(conv, weights, oy, ox);
      merge_groups(problem, width);
      const Window3& window = problem.window;
      operands.src = {src, window.in[1], window.in[2], window.pads[1], window.pads[2]};
      HET_TRY(add_direct(builder, node, conv, problem, operands, direct_tile(builder, problem)));
    }
  }
  return {};
}

Status plan_conv_transpose(PlanBuilder& builder, const Node& node) {
  HET_ASSIGN(const Convolution conv, convolution_of(node));
  const int64_t phases = conv.window.strides[1] * conv.window.strides[2];
  if (refuse_direct(conv).empty() && phases <= kMostPhases) {
    return plan_phases(builder, node, conv);
  }
  return plan_general(builder, node, conv);
}

}  // namespace

HET_REGISTRATION void register_conv_transpose(KernelRegistry& registry) {
  registry.add("", "ConvTranspose", {refuse_convolution, plan_conv_transpose});
  registry.add("het", "ConvTranspose", {refuse_convolution, plan_conv_transpose});
}

}  // namespace het::gpu
