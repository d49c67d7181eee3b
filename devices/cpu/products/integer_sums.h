#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/packed_constants.h"
#include "devices/cpu/onednn/onednn.h"
#include "inference/model/model.h"

namespace het::cpu {

/// Weights of MatMulInteger and ConvInteger as oneDNN's int8 products take them, and what turns
/// its sums of x * values into those of (x - zero of x) * (weights - their zeros): they are less
/// by (zero of x) * sums[c] and by (sum of x) * zeros[c]. All of it wraps around in 32 bits.
struct IntegerWeights {
  Tensor values;                ///< int8, in the shape of the weights
  std::vector<uint32_t> zeros;  ///< one an output channel; empty where all are 0
  std::vector<uint32_t> sums;   ///< of weights less their zero points, per output channel
};

/// `weights` are constant bytes, `zeros` constant, one or one an output channel, or null. Output
/// channels lie along dimension `axis`. Zero points that can be taken off the values are.
Result<IntegerWeights> integer_weights(const Tensor& weights, const Value* zeros, size_t axis);

/// The zero point of the source, which is known when a step runs only: input 1 of it, or none.
class SourceZero {
 public:
  SourceZero() = default;
  explicit SourceZero(const Value* zero);
  bool exists() const { return type_ != ElementType::Undefined; }
  ElementType type() const { return type_; }
  /// In two's complement.
  uint32_t read(const KernelArgs& args) const;

 private:
  ElementType type_ = ElementType::Undefined;
};

/// True where the zero points of MatMulInteger or ConvInteger are of the kinds above.
bool has_simple_zeros(const Node& node);

/// Sums of src * weights in 32 bits: oneDNN's where those are exact, or by widened bytes. One
/// input; pictures have the channels last and no padding. Null where both have no kernel. Packs the
/// weights now.
Result<std::unique_ptr<Kernel>> make_integer_sums(const MatMulSpec& spec, const Tensor& weights,
                                                  const NodePacking& packing);
Result<std::unique_ptr<Kernel>> make_integer_sums(const ConvolutionSpec& spec,
                                                  const Tensor& weights,
                                                  const NodePacking& packing);

}  // namespace het::cpu
