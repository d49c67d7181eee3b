#pragma once

#include <array>

namespace het {

/// Mean and standard deviation of ImageNet's pixels in 0..1, RGB: what torchvision, timm,
/// transformers and most that were trained with them subtract and divide by.
inline constexpr std::array<float, 3> kImageNetMean{0.485f, 0.456f, 0.406f};
inline constexpr std::array<float, 3> kImageNetStd{0.229f, 0.224f, 0.225f};

}  // namespace het
