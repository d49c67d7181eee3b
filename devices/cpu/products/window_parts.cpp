#include "devices/cpu/products/window_parts.h"

#include <algorithm>

namespace het::cpu {
namespace {

/// Parts pay where they leave so little of all products.
constexpr double kWorthParts = 0.6;

/// Neighbouring results along one dimension that the same taps meet.
struct Band {
  int64_t begin, end;
  int64_t first_tap, taps;
};

struct Dimension {
  int64_t in, out, kernel, stride, dilation, pad;

  /// The taps of a result that are not padding; they are neighbours.
  Band at(int64_t position) const {
    Band band = {position, position + 1, 0, 0};
    for (int64_t tap = 0; tap < kernel; ++tap) {
      const int64_t place = position * stride - pad + tap * dilation;
      if (place < 0 || place >= in) continue;
      if (band.taps++ == 0) band.first_tap = tap;
    }
    // A sum of nothing takes a tap that is padding.
    band.taps = std::max<int64_t>(band.taps, 1);
    return band;
  }
  std::vector<Band> bands() const {
    std::vector<Band> found;
    for (int64_t position = 0; position < out; ++position) {
      const Band band = at(position);
      if (!found.empty() && found.back().first_tap == band.first_tap &&
          found.back().taps == band.taps) {
        ++found.back().end;
      } else {
        found.push_back(band);
      }
    }
    return found;
  }
};

/// Of all taps of all results.
double share_of_taps(const std::vector<Band>& bands, const Dimension& dimension) {
  int64_t taps = 0;
  for (const Band& band : bands) taps += (band.end - band.begin) * band.taps;
  return static_cast<double>(taps) / static_cast<double>(dimension.out * dimension.kernel);
}

}  // namespace

std::vector<WindowPart> window_parts(const Int8Shape& shape) {
  const Dimension down = {shape.ih,       shape.oh,         shape.kh,
                          shape.stride_y, shape.dilation_y, shape.pad_top};
  const Dimension across = {shape.iw,       shape.ow,         shape.kw,
                            shape.stride_x, shape.dilation_x, shape.pad_left};
  const std::vector<Band> rows = down.bands();
  const std::vector<Band> columns = across.bands();
  if (share_of_taps(rows, down) * share_of_taps(columns, across) > kWorthParts) return {{shape}};
  std::vector<WindowPart> parts;
  for (const Band& y : rows) {
    for (const Band& x : columns) {
      WindowPart part = {shape, y.first_tap, x.first_tap};
      part.shape.oh = y.end - y.begin;
      part.shape.ow = x.end - x.begin;
      part.shape.kh = y.taps;
      part.shape.kw = x.taps;
      part.shape.pad_top -= y.begin * shape.stride_y + y.first_tap * shape.dilation_y;
      part.shape.pad_left -= x.begin * shape.stride_x + x.first_tap * shape.dilation_x;
      part.shape.dst_rows = shape.oh;
      part.shape.dst_columns = shape.ow;
      part.shape.dst_y = y.begin;
      part.shape.dst_x = x.begin;
      parts.push_back(part);
    }
  }
  return parts;
}

Result<Tensor> weights_of_part(const WindowPart& part, const Int8Shape& whole,
                               const Tensor& weights) {
  const Int8Shape& s = part.shape;
  const int64_t filters = weights.element_count() / (whole.kh * whole.kw);
  HET_ASSIGN(Tensor kept, Tensor::allocate({ElementType::Int8, {filters, s.kh, s.kw}}));
  const int8_t* const from = weights.data<int8_t>();
  int8_t* to = kept.data<int8_t>();
  for (int64_t filter = 0; filter < filters; ++filter) {
    for (int64_t y = 0; y < s.kh; ++y) {
      const int64_t row = (filter * whole.kh + part.first_row_of_taps + y) * whole.kw;
      to = std::copy_n(from + row + part.first_tap_of_row, s.kw, to);
    }
  }
  return kept;
}

}  // namespace het::cpu
