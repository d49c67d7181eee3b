#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "devices/cpu/formats/packed_constants.h"
#include "devices/cpu/loops/byte_term_loops.h"
#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het::cpu {

/// Weights as terms of bytes, packed (byte_term_loops.h).
class BytePanels {
 public:
  /// Nothing is packed where widened bytes are faster: on other processors, and with pairs for few
  /// pixels and for weights of which many have to be cut. Fails with ParseError where ready
  /// contents do not fit the shape.
  static Result<BytePanels> pack(const Int8Shape& shape, const Tensor& weights,
                                 const WeightStrides& strides, const NodePacking& packing);

  bool empty() const { return halves_.empty(); }
  ByteDot dot() const { return dot_; }
  std::span<const ByteHalf> of_group(const Int8Shape& shape, int64_t group) const;

 private:
  ByteDot dot_ = ByteDot::Pairs;
  BufferPtr counts_;
  BufferPtr memory_;
  std::vector<ByteHalf> halves_;  ///< of all groups, in memory_
};

}  // namespace het::cpu
