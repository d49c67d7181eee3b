#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/tensors/image.h"

namespace het::motion {

/// DL Streamer's names and defaults.
struct MotionSettings {
  int block_size = 64;  ///< pixels of the picture; at least 16
  /// Share of a block's pixels that have to change for the block to move.
  double motion_threshold = 0.05;
  int min_persistence = 2;  ///< frames in which a region is seen before it is told
  int max_miss = 1;         ///< frames for which one that is seen no more is still told
  /// Overlap from which a region is the one of the frame before.
  double iou_threshold = 0.3;
  double smooth_alpha = 0.5;      ///< weight of the new place of a region; 1: as it is seen
  int confirm_frames = 1;         ///< frames in a row for which a block has to move
  int pixel_diff_threshold = 15;  ///< levels by which a changed pixel differs from the background
  double min_rel_area = 0.0005;   ///< of the picture; smaller regions do not count
  bool operator==(const MotionSettings&) const = default;
};

/// The luma of a picture: one byte a pixel.
struct LumaPlane {
  const uint8_t* pixels = nullptr;
  int64_t stride_bytes = 0;
  int width = 0;
  int height = 0;
};

/// What moves in one frame.
struct MotionFrame {
  std::vector<Rect> regions;  ///< those that have lasted, inside the picture
  /// Something moves, whether it has lasted or not, even if only a fifth of motion_threshold of a
  /// block has changed; also while it cannot be told: the background is being learnt, or the light
  /// has just changed.
  bool moves = true;
  bool is_learning = false;
  bool light_changed = false;
};

/// Frames after a start in which the background and its noise are learnt, and nothing is found.
inline constexpr int kLearningFrames = 8;

/// Finds what moves in front of a camera that stands: each pixel of the reduced picture beside a
/// background that follows slowly. What light does to all of the picture is taken out, noise raises
/// the threshold of a block. What has come to a stop belongs to the background after some 4 s at
/// 30 frames a second. Of one stream, one thread at a time.
class HET_API MotionDetector {
 public:
  explicit MotionDetector(const MotionSettings& settings = {});
  ~MotionDetector();
  MotionDetector(const MotionDetector&) = delete;
  MotionDetector& operator=(const MotionDetector&) = delete;

  /// From the next frame on; the background stays.
  void configure(const MotionSettings& settings);
  /// The next frame. One of another size begins anew. Fails with InvalidArgument for a plane
  /// without pixels or with rows that overlap.
  Result<MotionFrame> update(const LumaPlane& luma);
  /// Another scene begins.
  void reset();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace het::motion
