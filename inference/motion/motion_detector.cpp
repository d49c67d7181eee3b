#include "inference/motion/motion_detector.h"

#include <optional>

#include "inference/motion/block_regions.h"
#include "inference/motion/motion_blocks.h"
#include "inference/motion/region_tracks.h"

namespace het::motion {

struct MotionDetector::State {
  MotionSettings settings;
  std::optional<motion_internal::MotionBlocks> blocks;  ///< from the first frame on
  motion_internal::RegionTracks tracks;

  /// Those of moving blocks that are large enough, in pixels.
  std::vector<Rect> regions() const {
    std::vector<Rect> found;
    const int side = blocks->block_pixels();
    const double least =
        settings.min_rel_area * static_cast<double>(blocks->width()) * blocks->height();
    for (const Rect& region : motion_internal::connected_blocks(blocks->moving())) {
      const Rect pixels =
          clip({region.x * side, region.y * side, region.width * side, region.height * side},
               blocks->width(), blocks->height());
      if (static_cast<double>(pixels.width) * pixels.height >= least) found.push_back(pixels);
    }
    return found;
  }
};

MotionDetector::MotionDetector(const MotionSettings& settings)
    : state_(new State{settings, {}, {}}) {}
MotionDetector::~MotionDetector() = default;

void MotionDetector::configure(const MotionSettings& settings) {
  if (settings == state_->settings) return;
  state_->settings = settings;
  if (state_->blocks) state_->blocks->configure(settings);
  state_->tracks.reset();
}

void MotionDetector::reset() {
  state_->blocks.reset();
  state_->tracks.reset();
}

Result<MotionFrame> MotionDetector::update(const LumaPlane& luma) {
  if (luma.pixels == nullptr || luma.width <= 0 || luma.height <= 0 ||
      luma.stride_bytes < luma.width) {
    return error(StatusCode::InvalidArgument,
                 "cannot look for motion in a luma plane of {}x{} with rows of {} bytes{}",
                 luma.width, luma.height, luma.stride_bytes,
                 luma.pixels == nullptr ? " and no pixels" : "");
  }
  State& state = *state_;
  if (state.blocks &&
      (state.blocks->width() != luma.width || state.blocks->height() != luma.height))
    reset();
  if (!state.blocks) state.blocks.emplace(state.settings, luma.width, luma.height);
  state.blocks->update(luma);
  MotionFrame frame;
  frame.is_learning = state.blocks->is_learning();
  frame.light_changed = state.blocks->light_changed();
  const std::vector<Rect> seen = state.regions();
  frame.moves = frame.is_learning || frame.light_changed || state.blocks->stirs() || !seen.empty();
  frame.regions = state.tracks.update(seen, state.settings);
  return frame;
}

}  // namespace het::motion
