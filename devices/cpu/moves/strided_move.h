#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace het::cpu {

/// A copy between two arrangements of the same elements, prepared once: loops are ordered for the
/// target, neighbouring ones merged. Immutable; run() may be called concurrently.
class StridedMove {
 public:
  /// Element (i0, i1, ...) of `dims` moves from src[sum(i_d * src_strides[d])] to
  /// dst[sum(i_d * dst_strides[d])]; strides count elements of `width` bytes (1, 2, 4 or 8). Source
  /// strides may be 0 or negative.
  StridedMove(const std::vector<int64_t>& dims, const std::vector<int64_t>& src_strides,
              const std::vector<int64_t>& dst_strides, size_t width);

  /// Runs on the calling stream's team. Both pointers address element (0, 0, ...).
  void run(const std::byte* src, std::byte* dst) const;

 private:
  struct Loop {
    int64_t count = 1;
    int64_t src = 0;
    int64_t dst = 0;
  };
  template <class T>
  void run_typed(const T* src, T* dst) const;
  template <class T>
  void run_inner(const T* src, T* dst, int64_t rows) const;

  std::vector<Loop> outer_;  ///< outermost first
  Loop row_;                 ///< second innermost
  Loop inner_;               ///< innermost: smallest target stride
  int64_t outer_count_ = 1;
  size_t width_;
};

}  // namespace het::cpu
