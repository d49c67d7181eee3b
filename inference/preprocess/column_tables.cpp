#include "inference/preprocess/column_tables.h"

#include <algorithm>

#include "inference/preprocess/axis_sample.h"

namespace het::preprocess_internal {
namespace {

constexpr int64_t kWordBytes = 4;
constexpr size_t kMaxTables = 5;

int32_t* take_table(int columns, Scratch& scratch) {
  return scratch.take<int32_t>(static_cast<size_t>(columns));
}

/// Words that hold a byte of two samples each; `row_bytes` bytes may be read. A word starts at the
/// first sample, or earlier so that it does not leave the row.
class SampleWriter {
 public:
  SampleWriter(int columns, int64_t row_bytes, Scratch& scratch)
      : row_bytes_(row_bytes),
        offset_(take_table(columns, scratch)),
        pick_(take_table(columns, scratch)) {}

  void put(int column, int64_t first_byte, int64_t second_byte) {
    const int64_t offset = std::min(first_byte, row_bytes_ - kWordBytes);
    const int64_t word = column % 4 * kWordBytes;  // its place in a block of 16 bytes
    constexpr int64_t kZeros = 0x80008000;
    offset_[column] = static_cast<int32_t>(offset);
    pick_[column] = static_cast<int32_t>(static_cast<uint32_t>(
        kZeros | (word + first_byte - offset) | (word + second_byte - offset) << 16));
  }

  ColumnSamples samples() const { return {offset_, pick_}; }

 private:
  int64_t row_bytes_;
  int32_t* offset_;
  int32_t* pick_;
};

/// Words that hold one sample each.
class PixelWriter {
 public:
  PixelWriter(int columns, int64_t row_bytes, Scratch& scratch)
      : row_bytes_(row_bytes),
        offset_(take_table(columns, scratch)),
        shift_(take_table(columns, scratch)) {}

  void put(int column, int64_t byte) {
    const int64_t offset = std::min(byte, row_bytes_ - kWordBytes);
    offset_[column] = static_cast<int32_t>(offset);
    shift_[column] = static_cast<int32_t>(8 * (byte - offset));
  }

  const int32_t* offset() const { return offset_; }
  const int32_t* shift() const { return shift_; }

 private:
  int64_t row_bytes_;
  int32_t* offset_;
  int32_t* shift_;
};

/// Bytes of the rows that kernels read; unpacked rows have half the bytes of the picture's.
int64_t kernel_row_bytes(const Conversion& conversion, size_t plane) {
  if (!is_unpacked(conversion.format)) return conversion.planes[plane].row_bytes;
  return conversion.planes[is_packed_yuv(conversion.format) ? 0 : plane].row_bytes / 2;
}

template <class Put>
void for_each_column(const Conversion& conversion, int columns, int32_t* weights, Put put) {
  const Rect& from = conversion.geometry.source;
  const int width = conversion.geometry.destination.width;
  for (int x = 0; x < columns; ++x) {
    const AxisSample sample = axis_sample(std::min(x, width - 1), width, from.width);
    weights[x] = sample.weight << 16 | (kWeightOne - sample.weight);
    put(x, from.x + sample.first, from.x + sample.second);
  }
}

}  // namespace

int padded_columns(int columns) {
  return (columns + kColumnBlock - 1) / kColumnBlock * kColumnBlock;
}

bool fits_row_kernels(const Conversion& conversion) {
  if (!row_kernels_supported()) return false;
  for (size_t p = 0; p < conversion.planes.size(); ++p) {
    if (conversion.planes[p].address != nullptr && kernel_row_bytes(conversion, p) < kWordBytes) {
      return false;
    }
  }
  return true;
}

size_t column_tables_bytes(const Conversion& conversion) {
  const auto columns = static_cast<size_t>(padded_columns(conversion.geometry.destination.width));
  return kMaxTables * Scratch::padded(columns * sizeof(int32_t));
}

ColumnTables make_column_tables(const Conversion& conversion, Scratch& scratch) {
  ColumnTables tables;
  tables.columns = padded_columns(conversion.geometry.destination.width);
  int32_t* const weights = take_table(tables.columns, scratch);
  tables.weights = weights;
  const int64_t row_bytes = kernel_row_bytes(conversion, 0);
  const RgbPlacement placement = rgb_placement(conversion.format);
  if (!placement.planar) {
    const int bytes = placement.pixel_bytes;
    PixelWriter first(tables.columns, row_bytes, scratch);
    PixelWriter second(tables.columns, row_bytes, scratch);
    for_each_column(conversion, tables.columns, weights, [&](int x, int left, int right) {
      first.put(x, static_cast<int64_t>(left) * bytes);
      second.put(x, static_cast<int64_t>(right) * bytes);
    });
    tables.pixels = {first.offset(), first.shift(), second.offset(), second.shift()};
    return tables;
  }
  SampleWriter luma(tables.columns, row_bytes, scratch);
  if (!is_yuv(conversion.format) || conversion.gray) {
    for_each_column(conversion, tables.columns, weights,
                    [&](int x, int left, int right) { luma.put(x, left, right); });
    tables.luma = luma.samples();
    return tables;
  }
  const int bytes = conversion.format == PixelFormat::I420 ? 1 : 2;
  SampleWriter chroma(tables.columns, kernel_row_bytes(conversion, 1), scratch);
  for_each_column(conversion, tables.columns, weights, [&](int x, int left, int right) {
    luma.put(x, left, right);
    chroma.put(x, static_cast<int64_t>(left / 2) * bytes, static_cast<int64_t>(right / 2) * bytes);
  });
  tables.luma = luma.samples();
  tables.chroma = chroma.samples();
  return tables;
}

}  // namespace het::preprocess_internal
