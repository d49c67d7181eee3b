#pragma once

#include <array>
#include <span>

#include "tools/accuracy/dataset.h"
#include "tools/accuracy/scores.h"

namespace het {

/// How many detections of a category count in a picture, the best first; three rising numbers.
using DetectionLimits = std::array<int, 3>;
inline constexpr DetectionLimits kCocoLimits = {1, 10, 100};

/// COCO's twelve numbers for detection by boxes (https://cocodataset.org/#detection-eval): AP over
/// the overlaps .50:.05:.95 at 101 recalls, AP50, AP75, APs, APm, APl (objects below 32^2, below
/// 96^2 and above), AR with 1, 10 and 100 detections a picture and category, ARs, ARm, ARl; and AP
/// per category. Detections that meet a crowd, an ignored object or one out of the range of areas,
/// or nothing and are out of that range themselves, count neither way. `found` has one entry per
/// picture; equal scores keep the order of pictures and, in a picture, of entries.
Scores coco_scores(const Dataset& dataset, std::span<const Found> found,
                   const DetectionLimits& limits = kCocoLimits);

}  // namespace het
