#include "inference/preprocess/row_source.h"

#include <algorithm>

namespace het::preprocess_internal {
namespace {

constexpr size_t kRows = 6;  // two slots of three colours

/// Bytes of an unpacked row of luma or chroma, at most.
size_t unpacked_bytes(const Conversion& conversion) {
  return static_cast<size_t>(
      std::max(conversion.planes[0].row_bytes, conversion.planes[1].row_bytes) / 2);
}

}  // namespace

size_t RowSource::scratch_bytes(const Conversion& conversion) {
  const auto columns = static_cast<size_t>(padded_columns(conversion.geometry.destination.width));
  size_t bytes =
      column_tables_bytes(conversion) + kRows * Scratch::padded(columns * sizeof(int16_t));
  if (is_unpacked(conversion.format)) bytes += 2 * Scratch::padded(unpacked_bytes(conversion));
  return bytes;
}

RowSource::RowSource(const Conversion& conversion, Scratch& scratch)
    : conversion_(conversion), tables_(make_column_tables(conversion, scratch)) {
  for (Slot& slot : slots_) {
    for (int16_t*& row : slot.colors)
      row = scratch.take<int16_t>(static_cast<size_t>(tables_.columns));
  }
  if (is_unpacked(conversion.format)) {
    luma_row_ = scratch.take<uint8_t>(unpacked_bytes(conversion));
    chroma_row_ = scratch.take<uint8_t>(unpacked_bytes(conversion));
  }
}

RowSource::ChannelRows RowSource::row(int y, int keep) {
  Slot* slot = slots_[0].y == y ? &slots_[0] : slots_[1].y == y ? &slots_[1] : nullptr;
  if (slot == nullptr) {
    slot = slots_[0].y == keep ? &slots_[1] : &slots_[0];
    resample(y, slot->colors);
    slot->y = y;
  }
  if (conversion_.gray || conversion_.format == PixelFormat::GRAY8) {
    return {slot->colors[0], slot->colors[0], slot->colors[0]};
  }
  ChannelRows rows{};
  for (size_t c = 0; c < rows.size(); ++c) {
    rows[c] = slot->colors[static_cast<size_t>(conversion_.color_of_channel[c])];
  }
  return rows;
}

/// Only the columns of the ROI, from an even one on.
void RowSource::unpack(int y) {
  const std::array<SourcePlane, 3>& planes = conversion_.planes;
  const Rect& from = conversion_.geometry.source;
  const int first = from.x / 2 * 2;
  const int pixels = from.x + from.width - first;
  const int whole_pairs = (pixels + 1) / 2 * 2;
  switch (conversion_.format) {
    case PixelFormat::YUY2:
      return split_pairs_row(planes[0].row(y) + 2 * first, whole_pairs, luma_row_ + first,
                             chroma_row_ + first);
    case PixelFormat::UYVY:
      return split_pairs_row(planes[0].row(y) + 2 * first, whole_pairs, chroma_row_ + first,
                             luma_row_ + first);
    default:  // P010
      round_to_bytes_row(planes[0].row(y) + 2 * first, pixels, luma_row_ + first);
      if (conversion_.gray) return;
      round_to_bytes_row(planes[1].row(y / 2) + 2 * first, whole_pairs, chroma_row_ + first);
  }
}

void RowSource::resample(int y, const ColorRows& out) {
  const std::array<SourcePlane, 3>& planes = conversion_.planes;
  const int32_t* const weights = tables_.weights;
  const int columns = tables_.columns;
  const YuvToRgb& yuv = conversion_.yuv;
  if (is_unpacked(conversion_.format)) {
    unpack(y);
    if (conversion_.gray) {
      return resample_luma_row(luma_row_, tables_.luma, weights, columns, yuv, out[0]);
    }
    return resample_nv12_row(luma_row_, chroma_row_, tables_.luma, tables_.chroma, weights, columns,
                             yuv, out);
  }
  if (is_yuv(conversion_.format)) {
    if (conversion_.gray) {
      return resample_luma_row(planes[0].row(y), tables_.luma, weights, columns, yuv, out[0]);
    }
    if (conversion_.format == PixelFormat::NV12) {
      return resample_nv12_row(planes[0].row(y), planes[1].row(y / 2), tables_.luma, tables_.chroma,
                               weights, columns, yuv, out);
    }
    return resample_i420_row(planes[0].row(y), planes[1].row(y / 2), planes[2].row(y / 2),
                             tables_.luma, tables_.chroma, weights, columns, yuv, out);
  }
  const auto plane_row = [&](size_t plane, int16_t* to) {
    resample_plane_row(planes[plane].row(y), tables_.luma, weights, columns, to);
  };
  if (conversion_.format == PixelFormat::GRAY8) return plane_row(0, out[0]);
  const RgbPlacement placement = rgb_placement(conversion_.format);
  if (placement.planar) {
    for (size_t color = 0; color < 3; ++color) {
      plane_row(static_cast<size_t>(placement.position[color]), out[color]);
    }
  } else {
    const std::array<int, 3> bit{8 * placement.position[0], 8 * placement.position[1],
                                 8 * placement.position[2]};
    resample_packed_row(planes[0].row(y), tables_.pixels, weights, columns, bit, out);
  }
  if (conversion_.gray) gray_of_colors(out, columns);
}

}  // namespace het::preprocess_internal
