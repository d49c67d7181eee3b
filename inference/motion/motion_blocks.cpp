#include "inference/motion/motion_blocks.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "inference/motion/motion_kernels.h"

namespace het::motion_internal {
namespace {

/// Side of what the light is measured by, in reduced pixels; sums of columns fit into 16 bits.
constexpr int kLightSide = 16;
/// A change of this many levels from one frame to the next is one of the light.
constexpr float kLightStep = 6.0f;
/// If more of the picture differs, the picture is another one.
constexpr double kSuddenShare = 0.6;
/// Of the pixels' differences, what means of squares differ by at most where it is noise.
constexpr float kNoiseShare = 0.25f;
/// Fewer blocks tell nothing about the whole picture.
constexpr size_t kFewestBlocks = 12;
/// For as many frames in a row a change of everything is taken for one of the light.
constexpr int kLightFrames = 3;
/// As many changed pixels, and that part of motion-threshold, are no noise.
constexpr int kFewestStirred = 4;
constexpr double kStirDivisor = 5.0;
/// Mean differences of noise that a changed pixel has to exceed: 5 standard deviations.
constexpr double kNoiseFactor = 6.0;

float median_level(std::vector<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void follow(float& value, float target, float rate) {
  value += (target - value) * rate;
}

/// -1 at the first of `count` pixels, 1 at the last.
float place(float pixel, int count) {
  return count > 1 ? 2.0f * pixel / static_cast<float>(count - 1) - 1.0f : 0.0f;
}

}  // namespace

MotionBlocks::MotionBlocks(const MotionSettings& settings, int width, int height)
    : settings_(settings), width_(width), height_(height), luma_(width, height) {
  const auto stride = static_cast<size_t>(luma_.stride());
  background_.resize(stride * static_cast<size_t>(luma_.height()));
  since_.resize(background_.size());
  for (auto* row : {&gains_, &thresholds_, &quarters_, &counts_}) row->resize(stride);
  for (auto* row : {&changed_, &above_}) row->resize(stride + kColumnStep);
  lay_blocks();
}

void MotionBlocks::configure(const MotionSettings& settings) {
  const bool other_blocks = settings.block_size != settings_.block_size;
  settings_ = settings;
  if (other_blocks) lay_blocks();
}

void MotionBlocks::lay_blocks() {
  block_ = std::max(settings_.block_size / luma_.factor(), 1);
  moving_.columns = (luma_.width() + block_ - 1) / block_;
  moving_.rows = (luma_.height() + block_ - 1) / block_;
  const size_t count = static_cast<size_t>(moving_.columns) * static_cast<size_t>(moving_.rows);
  moving_.set.assign(count, 0);
  moved_.assign(count, 0);
  differences_.assign(count, 0.0f);
  block_noise_.assign(count, noise_);
  frames_moved_.assign(count, 0);
}

void MotionBlocks::update(const LumaPlane& luma) {
  luma_.read(luma);
  light_changed_ = false;
  if (++frames_ == 1) {
    take_background(false);
    return;
  }
  sample_light();
  const LightChange light = estimate_light(samples_);
  const bool is_step = light.size(samples_) >= kLightStep;
  compare(light);
  // Noise leaves the means of squares as they are.
  const bool is_noise = light.error(samples_) < kNoiseShare * median_level(differences_);
  const bool is_sudden_change = is_sudden() && !is_learning() && !is_noise;
  if (is_step || is_sudden_change) {
    ++light_frames_;
    light_changed_ = light_frames_ <= kLightFrames;
    // Even if it goes on and is motion after all, what was before tells nothing about it.
    if (light_changed_ || is_sudden_change) take_background(!is_sudden_change);
  } else {
    light_frames_ = 0;
    learn_noise();
  }
  confirm();
}

void MotionBlocks::sample_light() {
  const MotionKernels& kernels = motion_kernels();
  const int side = kLightSide;
  samples_.clear();
  for (int top = 0; top + side <= luma_.height(); top += side) {
    std::fill(counts_.begin(), counts_.end(), uint16_t{0});
    std::fill(quarters_.begin(), quarters_.end(), uint16_t{0});
    for (int y = top; y < top + side; ++y) {
      kernels.add_columns(luma_.row(y), background_.data() + int64_t{y} * luma_.stride(),
                          luma_.stride(), counts_.data(), quarters_.data());
    }
    for (int left = 0; left + side <= luma_.width(); left += side) {
      int now = 0;
      int before = 0;
      for (int x = left; x < left + side; ++x) {
        now += counts_[static_cast<size_t>(x)];
        before += quarters_[static_cast<size_t>(x)];
      }
      constexpr float kPixels = kLightSide * kLightSide;
      constexpr float kHalf = kLightSide / 2.0f;
      samples_.push_back({place(static_cast<float>(left) + kHalf, luma_.width()),
                          place(static_cast<float>(top) + kHalf, luma_.height()),
                          static_cast<float>(before) / (16.0f * kPixels),
                          static_cast<float>(now) / kPixels});
    }
  }
}

void MotionBlocks::compare(const LightChange& light) {
  stirred_ = false;
  std::fill(above_.begin(), above_.end(), uint8_t{0});
  for (int row = 0; row < moving_.rows; ++row) {
    compare_block_row(row, light);
    judge_blocks(row);
  }
}

void MotionBlocks::compare_block_row(int block_row, const LightChange& light) {
  const MotionKernels& kernels = motion_kernels();
  const int top = block_row * block_;
  const int bottom = std::min(top + block_, luma_.height());
  const size_t first = static_cast<size_t>(block_row) * static_cast<size_t>(moving_.columns);
  const float y = place(static_cast<float>(top + bottom - 1) / 2.0f, luma_.height());
  for (int x = 0; x < luma_.stride(); ++x) {
    const float gain =
        std::clamp(light.gain_at(place(static_cast<float>(x), luma_.width()), y), 0.0f, 3.99f);
    gains_[static_cast<size_t>(x)] =
        static_cast<uint16_t>(std::lround(gain * static_cast<float>(1 << kGainBits)));
  }
  for (int column = 0; column < moving_.columns; ++column) {
    const double levels = threshold_levels(first + static_cast<size_t>(column));
    const int right = std::min((column + 1) * block_, luma_.width());
    std::fill(thresholds_.begin() + int64_t{column} * block_, thresholds_.begin() + right,
              static_cast<uint16_t>(std::lround(levels * (1 << kLevelBits))));
  }
  // What is beyond the picture's last column never counts.
  std::fill(thresholds_.begin() + luma_.width(), thresholds_.end(), uint16_t{0xffff});
  std::fill(quarters_.begin(), quarters_.end(), uint16_t{0});
  std::fill(counts_.begin(), counts_.end(), uint16_t{0});
  ComparedRow compared;
  compared.gain = gains_.data();
  const auto offset =
      static_cast<int>(std::lround(light.offset * static_cast<float>(1 << kLevelBits)));
  compared.brighter = static_cast<uint16_t>(std::clamp(offset, 0, 0xffff));
  compared.darker = static_cast<uint16_t>(std::clamp(-offset, 0, 0xffff));
  compared.threshold = thresholds_.data();
  compared.quarters = quarters_.data();
  for (int row = top; row < bottom; ++row) {
    compared.now = luma_.row(row);
    compared.background = background_.data() + int64_t{row} * luma_.stride();
    compared.changed = changed_.data();
    compared.since = since_.data() + int64_t{row} * luma_.stride();
    kernels.compare_row(compared, luma_.stride());
    kernels.count_quads(above_.data(), changed_.data(), luma_.stride(), counts_.data());
    std::swap(above_, changed_);
  }
}

void MotionBlocks::judge_blocks(int block_row) {
  const int top = block_row * block_;
  const int rows = std::min(top + block_, luma_.height()) - top;
  for (int column = 0; column < moving_.columns; ++column) {
    const int left = column * block_;
    const int right = std::min(left + block_, luma_.width());
    int count = 0;
    int quarters = 0;
    for (int x = left; x < right; ++x) {
      count += counts_[static_cast<size_t>(x)];
      quarters += quarters_[static_cast<size_t>(x)];
    }
    const int pixels = rows * (right - left);
    const size_t block = static_cast<size_t>(block_row) * static_cast<size_t>(moving_.columns) +
                         static_cast<size_t>(column);
    moved_[block] = count > 0 && count >= settings_.motion_threshold * pixels;
    stirred_ |=
        count >= kFewestStirred && count >= settings_.motion_threshold * pixels / kStirDivisor;
    differences_[block] = static_cast<float>(quarters) / (4.0f * static_cast<float>(pixels));
  }
}

double MotionBlocks::threshold_levels(size_t block) const {
  const double noise = std::max(block_noise_[block], noise_);
  return std::clamp(kNoiseFactor * noise, static_cast<double>(settings_.pixel_diff_threshold),
                    255.0);
}

bool MotionBlocks::is_sudden() const {
  const auto moved = static_cast<double>(std::count(moved_.begin(), moved_.end(), 1));
  return moved_.size() >= kFewestBlocks &&
         moved > kSuddenShare * static_cast<double>(moved_.size());
}

void MotionBlocks::learn_noise() {
  const float most = median_level(differences_);
  if (is_learning()) {
    follow(noise_, most, 0.5f);
  } else {
    follow(noise_, most, most > noise_ ? 1.0f / 8 : 1.0f / 4);
  }
  for (size_t block = 0; block < moved_.size(); ++block) {
    const float seen = differences_[block];
    if (is_learning()) {
      // What moves meanwhile is no noise.
      follow(block_noise_[block], std::min(seen, 2.0f * most), 0.5f);
    } else if (!moved_[block]) {
      follow(block_noise_[block], seen, 1.0f / 16);
    }
  }
}

void MotionBlocks::take_background(bool keep_moving) {
  const auto columns = static_cast<size_t>(moving_.columns);
  for (int y = 0; y < luma_.height(); ++y) {
    const uint8_t* now = luma_.row(y);
    uint16_t* background = background_.data() + int64_t{y} * luma_.stride();
    uint8_t* since = since_.data() + int64_t{y} * luma_.stride();
    const uint16_t* moved_before = frames_moved_.data() + static_cast<size_t>(y / block_) * columns;
    for (int x = 0; x < luma_.stride(); ++x) {
      const int column = std::min(x, luma_.width() - 1) / block_;
      if (keep_moving && moved_before[column] > 0) continue;
      background[x] = static_cast<uint16_t>(now[x] << kLevelBits);
      since[x] = 0;
    }
  }
}

void MotionBlocks::confirm() {
  frames_stirred_ = stirred_ && !light_changed_ ? frames_stirred_ + 1 : 0;
  for (size_t block = 0; block < moved_.size(); ++block) {
    // In a new light only what has moved before is known to move.
    if (light_changed_ && frames_moved_[block] == 0) moved_[block] = 0;
    const bool counts = moved_[block] && !is_learning();
    frames_moved_[block] =
        counts ? static_cast<uint16_t>(std::min<int>(frames_moved_[block] + 1, 0xffff))
               : uint16_t{0};
    moving_.set[block] = frames_moved_[block] >= settings_.confirm_frames;
  }
}

}  // namespace het::motion_internal
