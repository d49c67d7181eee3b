#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "devices/cpu/formats/tensor_spec.h"
#include "devices/cpu/loops/elementwise_loop.h"

namespace het::cpu {

/// How an operand is walked beside the memory of the output.
struct BroadcastWalk {
  enum class Kind : uint8_t {
    Same,      ///< value by value
    Scalar,    ///< one value for all
    Rows,      ///< long rows along the last dimension, read where they lie
    Repeated,  ///< short rows that come again and again, as those of one value
               ///< per channel do
    Filled,    ///< one value for each long row
    Gathered,  ///< all others: copied
  } kind = Kind::Same;
  std::vector<int64_t> strides;  ///< along the dimensions of the space
};

/// The output's memory as nested loops shared by all operands, outermost first; neighbouring
/// dimensions that all walk alike are merged.
struct BroadcastSpace {
  std::vector<int64_t> dims;
  std::vector<BroadcastWalk> walks;  ///< by operand
  int64_t count = 1;
};

/// `strides`: those that broadcast_strides() gives for each operand.
BroadcastSpace make_broadcast_space(const TensorSpec& dst,
                                    const std::vector<std::vector<int64_t>>& strides);

/// Shows an operand's values beside parts of the output, in place or copied. For one thread.
class BroadcastReader {
 public:
  /// Values of memory that a reader needs.
  static constexpr size_t kCopied = 2048;

  BroadcastReader() = default;
  /// `src` has elements of 1, 2 or 4 bytes: quantised, bfloat16 or float32; `copies` holds kCopied
  /// of them.
  BroadcastReader(const BroadcastSpace& space, size_t operand, ElementType type,
                  const std::byte* src, std::byte* copies);

  /// How many positions from `first` on read() can show at once; > 0.
  int64_t extent(int64_t first) const;
  /// The values beside the positions [first, first + count) of the output, without the scale of
  /// bytes. Valid until the next call.
  ElementwiseSource read(int64_t first, int64_t count);

 private:
  template <class T>
  const void* read_typed(const T* src, int64_t first, int64_t count, T* copies);
  template <class T>
  void repeat(const T* src, int64_t first, T* copies);
  int64_t offset_of(int64_t first) const;
  int64_t row() const { return space_->dims.back(); }
  /// Values after which other rows are repeated.
  int64_t plane() const { return row() * space_->dims[space_->dims.size() - 2]; }

  const BroadcastSpace* space_ = nullptr;
  const BroadcastWalk* walk_ = nullptr;
  ElementType type_ = ElementType::Float32;
  const std::byte* src_ = nullptr;
  std::byte* copies_ = nullptr;
  int64_t held_ = -1;  ///< which rows `copies` repeats
};

}  // namespace het::cpu
