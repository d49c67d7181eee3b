#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/attributes.h"
#include "inference/tensors/shape.h"

namespace het {

/// A window that slides over the spatial dimensions of a convolution or pooling; every vector has
/// one entry per spatial dimension, and auto_pad has become numbers.
struct Window {
  std::vector<int64_t> kernel;
  std::vector<int64_t> strides;
  std::vector<int64_t> dilations;
  std::vector<int64_t> pads_begin;
  std::vector<int64_t> pads_end;
  std::vector<int64_t> output;  ///< positions of the window

  /// Distance between the first and the last element under the window, plus one.
  int64_t extent(size_t i) const { return (kernel[i] - 1) * dilations[i] + 1; }
};

/// Kernel sizes, strides, dilations, pads and spatial sizes stay below this, so that products of
/// two of them, and sums of such products, fit into int64_t.
inline constexpr int64_t kMaxWindowValue = INT32_MAX;

/// Reads `name`, a list with one value in [minimum, kMaxWindowValue] per spatial dimension, or
/// gives a list of `fallback`.
Result<std::vector<int64_t>> window_list(const Attributes& attributes, std::string_view name,
                                         size_t spatial_rank, int64_t minimum, int64_t fallback);

/// Resolves strides, dilations, pads and auto_pad over `spatial` input sizes. With `ceil_mode` the
/// number of positions is rounded up and positions that would start in the end padding are
/// dropped. Fails on lists of wrong length, values out of range, pads given together with
/// auto_pad other than NOTSET, and a window larger than the padded input. Formulas: ONNX' operator
/// pages of Conv and MaxPool.
Result<Window> resolve_window(const Attributes& attributes, std::span<const int64_t> spatial,
                              std::vector<int64_t> kernel, bool ceil_mode);

/// A window over exactly three spatial dimensions: missing ones lead, with size 1.
struct Window3 {
  std::array<int64_t, 3> in;
  std::array<int64_t, 3> out;
  std::array<int64_t, 3> kernel;
  std::array<int64_t, 3> strides;
  std::array<int64_t, 3> dilations;
  std::array<int64_t, 3> pads;  ///< at the front

  int64_t in_count() const { return in[0] * in[1] * in[2]; }
  int64_t out_count() const { return out[0] * out[1] * out[2]; }
  int64_t kernel_count() const { return kernel[0] * kernel[1] * kernel[2]; }
  /// Input coordinate under kernel element `k` at window position `o` of dimension `d`.
  int64_t input_at(size_t d, int64_t o, int64_t k) const {
    return o * strides[d] - pads[d] + k * dilations[d];
  }
};

/// `spatial` are the input's one to three spatial dimensions.
Window3 window3(const Window& window, std::span<const int64_t> spatial);

}  // namespace het
