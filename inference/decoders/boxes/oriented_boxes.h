#pragma once

#include "inference/decoders/boxes/nms.h"

namespace het {

/// Overlap of two turned boxes, 0..1, for non_maximum_suppression(): ProbIoU (Llerena et al., arXiv
/// 2106.06072), 1 - the Hellinger distance of the Gaussians that have the boxes' covariances. It is
/// what Ultralytics' models with oriented boxes suppress by; 0 where either box has no area.
float probabilistic_iou(const Candidate& a, const Candidate& b);

}  // namespace het
