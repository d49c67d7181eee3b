#pragma once

#include <array>
#include <span>

#include "inference/base/status.h"
#include "inference/model/model.h"
#include "inference/passes/fusions/elementwise_program.h"
#include "inference/passes/fusions/fused_tail.h"
#include "inference/passes/fusions/int8/int8_product.h"

// Rewrites of quantised models for int8 kernels; as in passes.h, what they replace is left
// detached.
namespace het {

/// Which operators on bytes a device has beside the products and QLinear operators.
struct ByteRules {
  bool gates = false;            ///< het.GateBytes
  int64_t most_mean_pixels = 0;  ///< that het.MeanOfBytes adds; 0: there is no such kernel
};

/// Constant bytes that the model turns into float weights by Cast and Mul with one factor, or one
/// per index of dimension 0, go through DequantizeLinear instead. Before constants are folded.
Status restore_dequantisation(Model& model);

/// het.FakeQuantize with 256 levels and a level at zero becomes QuantizeLinear and
/// DequantizeLinear. With limits per channel only in front of depthwise convolutions.
Status split_fake_quantize(Model& model);

/// Reshape, Transpose, Slice, Split, Pad, MaxPool, Resize to nearest neighbours and whatever else
/// only chooses values work on bytes:
/// DequantizeLinear in front of them moves behind, QuantizeLinear behind them moves in front, and
/// pairs that meet cancel out.
Status move_quantisation(Model& model);

/// Channels of bytes are concatenated, split and cut as bytes though each has steps of its own:
/// DequantizeLinear behind them has a scale and a zero point for each.
Status move_channel_quantisation(Model& model);

/// Conv, MatMul and Gemm of two dequantised values, the weights constant, become het.Int8Conv and
/// het.Int8MatMul with a float result.
Status quantise_products(Model& model, const Int8Rules& rules);

/// What scales or shifts every channel goes into the int8 product before it.
Status fold_int8_affine(Model& model, const Int8Rules& rules);

/// Activations go into the int8 product before them.
Status fuse_int8_activations(Model& model, const TailRules& rules);

/// The addition of another dequantised value goes into the int8 product before it when
/// QuantizeLinear follows, and so does the rounding of the product in between.
Status fuse_int8_sums(Model& model, const Int8Rules& rules, const TailRules& tails);

/// QuantizeLinear goes into the int8 product before it, whose result is bytes then, with a factor
/// for each channel that may stand between.
Status fuse_requantisation(Model& model, const Int8Rules& rules);

/// Pixelwise convolutions of floats whose result QuantizeLinear alone reads become het.RoundedConv:
/// inputs and attributes of a het.Conv without a sum, and the result's steps as in Int8Product.
/// After all that goes into their tails.
Status round_convolutions(Model& model, bool (*can_run)(const Node& rounded));

/// Add and GlobalAveragePool between DequantizeLinear and QuantizeLinear become QLinearAdd and
/// QLinearGlobalAveragePool, Mul by a float per channel becomes het.GateBytes, ReduceMean over
/// pixels behind DequantizeLinear het.MeanOfBytes. A Relu that QuantizeLinear does anyway goes.
Status quantise_operators(Model& model, const ByteRules& rules);

/// What a float value is for each byte that it is made of, by the byte's bits.
using ByteValues = std::array<float, 256>;
/// Runs an element-wise program as the device does.
using RunOnBytes = void (*)(const ElementwiseProgram& program, std::span<const ByteValues> operands,
                            ByteValues& result);

/// Element-wise nodes of one dequantised value whose result is quantised again, perhaps with other
/// roundings to bytes in between, become het.MapBytes: the bytes, and a table of 256 that says what
/// each becomes.
Status map_bytes(Model& model, RunOnBytes run);

/// DequantizeLinear with steps for each channel, and QuantizeLinear behind expressions, become
/// expressions over numbers without a scale.
Status lower_channel_quantisation(Model& model);

/// What DequantizeLinear and QuantizeLinear do around chains of scalar expressions becomes a part
/// of them: het.ElementwiseBytes. After all that fuses such chains.
Status fuse_byte_elementwise(Model& model);

}  // namespace het
