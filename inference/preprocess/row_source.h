#pragma once

#include <array>

#include "inference/preprocess/column_tables.h"
#include "inference/preprocess/conversion.h"
#include "inference/preprocess/scratch.h"

namespace het::preprocess_internal {

/// Source rows converted to colour and resampled to the target's columns. The last two are kept, so
/// that each source row is resampled once when target rows go downwards. Thread-bound.
class RowSource {
 public:
  static size_t scratch_bytes(const Conversion& conversion);
  RowSource(const Conversion& conversion, Scratch& scratch);

  /// Rows in the tensor's channel order, in 128ths of a level, valid until the second next call;
  /// `keep` is a source row that must stay valid.
  using ChannelRows = std::array<const int16_t*, 3>;
  ChannelRows row(int y, int keep);

 private:
  struct Slot {
    int y = -1;
    ColorRows colors{};
  };
  void resample(int y, const ColorRows& out);
  void unpack(int y);

  const Conversion& conversion_;
  ColumnTables tables_;
  std::array<Slot, 2> slots_;
  uint8_t* luma_row_ = nullptr;  ///< formats that are unpacked: the row as NV12 has it
  uint8_t* chroma_row_ = nullptr;
};

}  // namespace het::preprocess_internal
