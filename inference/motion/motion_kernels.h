#pragma once

#include <cstdint>

namespace het::motion_internal {

/// Rows of a reduced picture are padded to a multiple of this many pixels, so that loops run over
/// whole vectors.
inline constexpr int kColumnStep = 64;

/// Fraction bits of a background pixel and of thresholds, and of a gain.
inline constexpr int kLevelBits = 8;
inline constexpr int kGainBits = 14;
/// A pixel's difference is summed in quarters of a level, and counts as no more than this: 512 of
/// them fit into 16 bits.
inline constexpr int kMaxQuarters = 127;
/// The background follows by 1/8 of a difference, but not where something is in front of it ...
inline constexpr int kStillShift = 3;
/// ... unless it has been there for as many frames.
inline constexpr int kStopFrames = 100;

/// One row beside its background.
struct ComparedRow {
  const uint8_t* now = nullptr;
  const uint16_t* gain = nullptr;       ///< of each column, by what the light has changed
  uint16_t brighter = 0;                ///< levels that the light adds, in 256ths ...
  uint16_t darker = 0;                  ///< ... or takes away; one of the two is 0
  const uint16_t* threshold = nullptr;  ///< of each column, in 256ths of a level
  uint16_t* background = nullptr;       ///< in 256ths; brought to the new light, then follows
  uint8_t* changed = nullptr;           ///< 255 where the difference is above the threshold, else 0
  uint8_t* since = nullptr;             ///< frames in a row in which it was, up to 255
  uint16_t* quarters = nullptr;         ///< sums of differences, added to
};

/// The loops of the detector, for the best instruction set of this machine. All are of integers, so
/// that every instruction set gives the same. `columns` is a multiple of kColumnStep unless stated.
struct MotionKernels {
  /// Sums of `count` (1 to 8) rows; any number of columns.
  void (*sum_rows)(const uint8_t* const* rows, int count, int columns, uint16_t* sums);
  /// Sums of neighbours: `columns` of them, from twice as many. Not in place.
  void (*add_pairs)(const uint16_t* sums, int columns, uint16_t* pairs);
  /// Sums of 2^shift pixels to their rounded mean.
  void (*means)(const uint16_t* sums, int shift, int columns, uint8_t* out);
  /// Adds a row to sums of columns: levels, and 16ths of a level of the background.
  void (*add_columns)(const uint8_t* now, const uint16_t* background, int columns,
                      uint16_t* now_sums, uint16_t* background_sums);
  void (*compare_row)(const ComparedRow& row, int columns);
  /// Adds 1 where a pixel, its right neighbour and both above have changed; the rows have a pixel
  /// beyond `columns`.
  void (*count_quads)(const uint8_t* above, const uint8_t* changed, int columns, uint16_t* counts);
};

/// Vectors, or kernel_reference where the machine is older than all that was built.
const MotionKernels& motion_kernels();

}  // namespace het::motion_internal
