#pragma once

#include <cstdint>
#include <vector>

#include "inference/motion/light_change.h"
#include "inference/motion/motion_detector.h"
#include "inference/motion/reduced_luma.h"

namespace het::motion_internal {

using motion::LumaPlane;
using motion::MotionSettings;

/// A bit for each block of the picture.
struct BlockMask {
  int columns = 0;
  int rows = 0;
  std::vector<uint8_t> set;
  uint8_t& at(int column, int row) {
    return set[static_cast<size_t>(row) * static_cast<size_t>(columns) +
               static_cast<size_t>(column)];
  }
};

/// The background of a scene, and which blocks of a frame differ from it.
class MotionBlocks {
 public:
  MotionBlocks(const MotionSettings& settings, int width, int height);

  /// Other blocks on the same background.
  void configure(const MotionSettings& settings);
  /// The next frame, of the size that this was made for.
  void update(const LumaPlane& luma);

  int width() const { return width_; }
  int height() const { return height_; }
  int block_pixels() const { return block_ * luma_.factor(); }  ///< of the whole picture
  bool is_learning() const { return frames_ <= motion::kLearningFrames; }
  bool light_changed() const { return light_changed_; }
  /// Blocks that have moved for confirm-frames frames.
  const BlockMask& moving() const { return moving_; }
  /// Too little has changed for a block to move, but more than noise does: what is small, or far,
  /// or comes in; for confirm-frames frames.
  bool stirs() const { return frames_stirred_ >= settings_.confirm_frames; }

 private:
  void lay_blocks();
  void start_background();
  void sample_light();
  void compare(const LightChange& light);
  void compare_block_row(int block_row, const LightChange& light);
  void judge_blocks(int block_row);
  void learn_noise();
  bool is_sudden() const;
  void take_background(bool keep_moving);
  void confirm();
  double threshold_levels(size_t block) const;

  MotionSettings settings_;
  int width_;
  int height_;
  ReducedLuma luma_;
  int block_ = 1;  ///< side of a block, in reduced pixels
  int frames_ = 0;
  int light_frames_ = 0;  ///< in a row in which the light changed
  bool light_changed_ = false;
  std::vector<uint16_t> background_;
  std::vector<uint8_t> since_;  ///< frames for which something has been in front of it
  std::vector<LightSample> samples_;
  float noise_ = 0.0f;  ///< levels by which most of the picture differs from its background
  BlockMask moving_;
  bool stirred_ = false;    ///< this frame
  int frames_stirred_ = 0;  ///< in a row
  // Of each block.
  std::vector<uint8_t> moved_;          ///< in this frame
  std::vector<float> differences_;      ///< mean levels, in this frame
  std::vector<float> block_noise_;      ///< of frames in which it did not move
  std::vector<uint16_t> frames_moved_;  ///< in a row
  // Rows.
  std::vector<uint16_t> gains_;
  std::vector<uint16_t> thresholds_;
  std::vector<uint16_t> quarters_;
  std::vector<uint16_t> counts_;
  std::vector<uint8_t> changed_;  ///< of this row ...
  std::vector<uint8_t> above_;    ///< ... and the one above it
};

}  // namespace het::motion_internal
