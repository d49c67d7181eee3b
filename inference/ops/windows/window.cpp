#include "inference/ops/windows/window.h"

#include <algorithm>
#include <string>

namespace het {

Result<std::vector<int64_t>> window_list(const Attributes& attributes, std::string_view name,
                                         size_t spatial_rank, int64_t minimum, int64_t fallback) {
  std::vector<int64_t> list = attributes.get_ints(name);
  if (list.empty()) return std::vector<int64_t>(spatial_rank, fallback);
  if (list.size() != spatial_rank) {
    return error(StatusCode::InvalidArgument,
                 "attribute '{}' has {} values, but there are {} spatial dimensions", name,
                 list.size(), spatial_rank);
  }
  for (const int64_t value : list) {
    if (value < minimum || value > kMaxWindowValue) {
      return error(StatusCode::InvalidArgument, "attribute '{}' contains {}, allowed are {} to {}",
                   name, value, minimum, kMaxWindowValue);
    }
  }
  return list;
}

Result<Window> resolve_window(const Attributes& attributes, std::span<const int64_t> spatial,
                              std::vector<int64_t> kernel, bool ceil_mode) {
  const size_t rank = spatial.size();
  Window window;
  window.kernel = std::move(kernel);
  HET_ASSIGN(window.strides, window_list(attributes, "strides", rank, 1, 1));
  HET_ASSIGN(window.dilations, window_list(attributes, "dilations", rank, 1, 1));
  const std::string auto_pad = attributes.get_string("auto_pad", "NOTSET");
  const bool same_upper = auto_pad == "SAME_UPPER";
  const bool same = same_upper || auto_pad == "SAME_LOWER";
  const bool explicit_pads = auto_pad == "NOTSET" || auto_pad.empty();
  if (!same && !explicit_pads && auto_pad != "VALID") {
    return error(StatusCode::InvalidArgument,
                 "auto_pad is '{}', allowed are NOTSET, SAME_UPPER, SAME_LOWER and VALID",
                 auto_pad);
  }
  std::vector<int64_t> pads(2 * rank, 0);
  if (explicit_pads) {
    HET_ASSIGN(pads, window_list(attributes, "pads", 2 * rank, 0, 0));
  }
  window.pads_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank));
  window.pads_end.assign(pads.begin() + static_cast<ptrdiff_t>(rank), pads.end());

  for (size_t i = 0; i < rank; ++i) {
    const int64_t in = spatial[i];
    if (in < 0 || in > kMaxWindowValue || window.kernel[i] < 1 ||
        window.kernel[i] > kMaxWindowValue) {
      return error(StatusCode::ShapeMismatch,
                   "spatial dimension {} has input size {} and kernel size {}; allowed are sizes "
                   "up to {} and kernels of 1 or more",
                   i, in, window.kernel[i], kMaxWindowValue);
    }
    const int64_t stride = window.strides[i];
    const int64_t extent = window.extent(i);
    if (same) {
      const int64_t out = (in + stride - 1) / stride;
      const int64_t total = std::max<int64_t>(0, (out - 1) * stride + extent - in);
      const int64_t half = total / 2;
      window.pads_begin[i] = same_upper ? half : total - half;
      window.pads_end[i] = total - window.pads_begin[i];
      window.output.push_back(out);
      continue;
    }
    const int64_t padded = in + window.pads_begin[i] + window.pads_end[i];
    const int64_t room = padded - extent;
    int64_t out = room < 0 ? 0 : room / stride + 1;
    if (ceil_mode && explicit_pads) {
      // Rounded up; a window that is larger than the input counts when at least one step fits.
      out = (room < 0 ? -(-room / stride) : (room + stride - 1) / stride) + 1;
      if ((out - 1) * stride >= in + window.pads_begin[i]) --out;
    }
    if (out < 1) {
      return error(StatusCode::ShapeMismatch,
                   "the window spans {} elements (kernel {}, dilation {}) of spatial dimension {}, "
                   "which has only {} with padding",
                   extent, window.kernel[i], window.dilations[i], i, padded);
    }
    window.output.push_back(out);
  }
  return window;
}

Window3 window3(const Window& window, std::span<const int64_t> spatial) {
  Window3 result;
  const size_t missing = 3 - spatial.size();
  for (size_t d = 0; d < 3; ++d) {
    const bool given = d >= missing;
    const size_t i = d - missing;
    result.in[d] = given ? spatial[i] : 1;
    result.out[d] = given ? window.output[i] : 1;
    result.kernel[d] = given ? window.kernel[i] : 1;
    result.strides[d] = given ? window.strides[i] : 1;
    result.dilations[d] = given ? window.dilations[i] : 1;
    result.pads[d] = given ? window.pads_begin[i] : 0;
  }
  return result;
}

}  // namespace het
