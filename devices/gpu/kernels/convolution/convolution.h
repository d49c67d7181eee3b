#pragma once

#include <string>

#include "devices/gpu/plan/plan_builder.h"
#include "inference/ops/windows/window.h"
#include "inference/passes/fusions/fused_tail.h"

namespace het::gpu {

/// Conv, ConvInteger, ConvTranspose and fused forms as numbers: three spatial dimensions, missing
/// ones lead with size 1. The pads of a transposed one are those cut at the front.
struct Convolution {
  bool transposed = false;
  int64_t n = 1;
  int64_t ic = 1;
  int64_t oc = 1;
  int64_t group = 1;
  Window3 window;
  FusedTail tail;
  const Value* src = nullptr;
  const Value* weights = nullptr;
  const Value* bias = nullptr;  ///< null: none
  const Value* sum = nullptr;   ///< of the output's shape; null: none
  const Value* dst = nullptr;

  int64_t group_ic() const { return ic / group; }
  int64_t group_oc() const { return oc / group; }
  /// Weights, and bias if there is one, are constants.
  bool has_constants() const;
  /// Everything happens in two dimensions.
  bool is_flat() const { return window.in[0] == 1 && window.kernel[0] == 1 && window.out[0] == 1; }
  /// Multiply-adds of one execution.
  double work() const;
};

/// Reads a node whose operators' shape inference passed.
Result<Convolution> convolution_of(const Node& node);

/// The sums alone. What comes before them is the same whatever stands behind them.
Convolution without_tail(const Convolution& conv);

/// What all kernels of convolutions refuse.
std::string refuse_convolution(const Node& node);
/// The same where the types are no matter.
std::string refuse_window(const Node& node);
/// Why positions along a dimension, padding included, do not fit the arithmetic of kernels.
std::string refuse_window(const Window3& window);

/// Generates floatw tail(floatw x, floatw sum NUMBER_PARAMETERS) with what it calls.
void generate_tail(ProgramText& program, const FusedTail& tail);

/// Storage and WIDTH - that of the hardware, or `width` - and what comes behind the sums: BIAS,
/// SUM.
std::string convolution_options(const PlanBuilder& builder, const Convolution& conv,
                                size_t width = 0);

/// Bias and addend as arguments of a kernel, null where there is none.
struct TailOperands {
  TensorId bias = kNoTensor;  ///< float, `channels` of them
  TensorId sum = kNoTensor;   ///< channels last, stored type
};
/// The bias padded with zeros to `channels`; a bias that is computed is taken as it is.
Result<TailOperands> tail_operands(PlanBuilder& builder, const Convolution& conv, int64_t channels);

}  // namespace het::gpu
