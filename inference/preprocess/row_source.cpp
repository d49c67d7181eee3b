#include "inference/preprocess/row_source.h"

namespace het::preprocess_internal {
namespace {

constexpr size_t kRows = 6;  // two slots of three colours

}  // namespace

size_t RowSource::scratch_bytes(const Conversion& conversion) {
  const auto columns = static_cast<size_t>(padded_columns(conversion.geometry.destination.width));
  return column_tables_bytes(conversion) + kRows * Scratch::padded(columns * sizeof(int16_t));
}

RowSource::RowSource(const Conversion& conversion, Scratch& scratch)
    : conversion_(conversion), tables_(make_column_tables(conversion, scratch)) {
  for (Slot& slot : slots_) {
    for (int16_t*& row : slot.colors)
      row = scratch.take<int16_t>(static_cast<size_t>(tables_.columns));
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

void RowSource::resample(int y, const ColorRows& out) const {
  const std::array<SourcePlane, 3>& planes = conversion_.planes;
  const int32_t* const weights = tables_.weights;
  const int columns = tables_.columns;
  const YuvToRgb& yuv = conversion_.yuv;
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
