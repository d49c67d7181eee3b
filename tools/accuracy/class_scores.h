#pragma once

#include <cstddef>
#include <vector>

#include "inference/requests/infer_request.h"

namespace het {

/// How many classes of a picture are kept: what top-5 needs.
inline constexpr size_t kRankedClasses = 5;

/// The classes with the largest scores of a batch item, the largest first, from an ended request of
/// a classifier. The scores are the only output with several values an item, or the only one with
/// `labels` values; whether they went through a softmax makes no difference.
Result<std::vector<size_t>> best_classes(const InferRequest& request, size_t item, size_t batch,
                                         size_t labels);

}  // namespace het
