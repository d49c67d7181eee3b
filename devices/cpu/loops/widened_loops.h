#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "devices/cpu/loops/int8_shape.h"

namespace het::cpu {

/// True where the processor multiplies and adds pairs in one instruction, on vectors that are wide
/// enough to be faster than float32.
bool has_fast_pairs();

/// Output channels of a panel on this processor.
int64_t widened_columns();
/// Panels of all groups.
int64_t widened_panels(const Int8Shape& shape);
/// Bytes of a packed panel, and values that it has when it is widened.
int64_t widened_panel_count(const Int8Shape& shape);

/// Packs panels [begin, end).
void pack_widened_weights(const Int8Shape& shape, const int8_t* weights,
                          const WeightStrides& strides, int64_t begin, int64_t end, int8_t* packed);

/// A value per output channel (of all groups), such as its scale, as the loops read them:
/// widened_columns() for each panel.
void pack_widened_channels(const Int8Shape& shape, const float* values, float* packed);

/// Where the pixels of a strip begin in its widened source, and how far each run of neighbouring
/// values (of a depthwise convolution: each tap) lies behind that. For strips of up to `rows` rows.
struct WidenedOffsets {
  std::vector<int32_t> pixels;
  std::vector<int32_t> runs;
};
WidenedOffsets widened_offsets(const Int8Shape& shape, int64_t rows);

/// Values of the widened source of so many rows.
int64_t widened_src_count(const Int8Shape& shape, int64_t rows);
/// `zeros`: zero points of the channels of a depthwise convolution, instead of the shape's.
void widen_src(const Int8Shape& shape, const Int8Strip& strip, const std::byte* src,
               int16_t* widened, const int16_t* zeros = nullptr);

/// The results of the strip in panels [begin, end) of its group. `panels` are the packed
/// ones of that group, `weights` memory for one widened panel.
void multiply_widened(const Int8Shape& shape, const WidenedOffsets& offsets, const Int8Strip& strip,
                      const int16_t* widened, const int8_t* panels, int64_t begin, int64_t end,
                      const Int8Tail& tail, int16_t* weights, std::byte* dst);

}  // namespace het::cpu
