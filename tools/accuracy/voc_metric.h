#pragma once

#include <span>

#include "tools/accuracy/dataset.h"
#include "tools/accuracy/scores.h"

namespace het {

/// VOC's average precision at an overlap of 0.5, as its development kit defines it: mAP is the area
/// under the precision envelope (since 2010), mAP07 the mean of the precision at eleven recalls
/// (until 2009); categories have the former. A detection that overlaps a difficult object most
/// counts neither way. `found` has one entry per picture; equal scores keep their order.
Scores voc_scores(const Dataset& dataset, std::span<const Found> found);

}  // namespace het
