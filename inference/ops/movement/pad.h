#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/attributes.h"
#include "inference/tensors/shape.h"
#include "inference/tensors/tensor.h"

namespace het {

enum class PadMode { Constant, Reflect, Edge, Wrap };

/// The attribute `mode` of Pad.
Result<PadMode> pad_mode(const Attributes& attributes);

/// Elements added before and after every dimension of the input; negative values remove.
struct PadWidths {
  std::vector<int64_t> begin;
  std::vector<int64_t> end;
};

/// Spreads Pad's inputs over all dimensions: `pads` lists all begins, then all ends, for `axes`
/// (empty: every axis). Fails on wrong lengths and axes.
Result<PadWidths> pad_widths(const Shape& input, const std::vector<int64_t>& pads,
                             const std::vector<int64_t>& axes);

/// Dimensions after padding. Fails when one would be negative, or when a mode other than constant
/// has nothing to repeat.
Result<Shape> padded_shape(const Shape& input, const PadWidths& widths, PadMode mode);

/// For every position of one padded dimension the input position that it shows, or -1 for the
/// constant. Negative widths are cut off first: reflections mirror what is left.
std::vector<int64_t> pad_sources(int64_t dim, int64_t begin, int64_t end, PadMode mode);

/// Writes the padded input to y, which has its padded_shape(); `fill` is one element's bytes.
void write_padded(const Tensor& x, const PadWidths& widths, PadMode mode, const std::byte* fill,
                  Tensor& y);

}  // namespace het
