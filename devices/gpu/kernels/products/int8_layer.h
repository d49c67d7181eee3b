#pragma once

#include <string>
#include <vector>

#include "devices/gpu/plan/plan_builder.h"
#include "inference/ops/windows/window.h"
#include "inference/passes/fusions/int8/int8_product.h"

namespace het::gpu {

/// het.Int8Conv or het.Int8MatMul as a convolution in two dimensions; a product of matrices is one
/// over a row of pixels.
struct Int8Layer {
  int64_t n = 1;
  int64_t ic = 1;
  int64_t oc = 1;
  int64_t group = 1;
  Window3 window;
  Format format = Format::ChannelsLast;  ///< of source, addend and result
  Int8Product product;
  const Value* src = nullptr;
  const Value* sum = nullptr;  ///< null: none
  const Value* dst = nullptr;

  int64_t group_ic() const { return ic / group; }
  int64_t group_oc() const { return oc / group; }
  int64_t pixels() const { return n * window.out_count(); }
  bool is_signed() const { return src->desc().type == ElementType::Int8; }
  /// The result is bytes.
  bool is_requantised() const { return dst->desc().type != ElementType::Float32; }
  /// Every output pixel is a product of the channels of one source pixel.
  bool is_product() const;
};

/// Why no kernel runs an int8 product; empty when one does.
std::string refuse_int8(const Node& node);

/// Reads a node that refuse_int8() is not against.
Result<Int8Layer> int8_layer_of(const Node& node);
/// [oc][ic / group][taps], as stored.
std::vector<int8_t> int8_weights_of(const Node& node);

/// The program of a file that stands behind kernels/products/int8_results.cl.
ProgramText int8_program(PlanBuilder& builder, const Int8Layer& layer, std::string file);

/// The arguments RESULT_ARGUMENTS of kernels/products/int8_results.cl, with lists for `lanes` more
/// channels than there are, for vectors that reach beyond the last one.
Result<std::vector<KernelArg>> int8_result_args(PlanBuilder& builder, const Node& node,
                                                const Int8Layer& layer, int64_t lanes);

/// Depthwise layers (kernels/convolution/int8_depthwise.cpp): why not, and how.
std::string refuse_int8_depthwise(const PlanBuilder& builder, const Int8Layer& layer);
Status plan_int8_depthwise(PlanBuilder& builder, const Node& node, const Int8Layer& layer);

}  // namespace het::gpu
