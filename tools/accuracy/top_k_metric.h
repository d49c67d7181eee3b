#pragma once

#include <span>
#include <vector>

#include "tools/accuracy/dataset.h"
#include "tools/accuracy/scores.h"

namespace het {

/// Share of the pictures whose category is the first, or among the first five, that the model
/// names; per category the former. Top-5 is left out where there are no more categories than that
/// or a model names fewer.
Scores top_k_scores(const Dataset& dataset, std::span<const Found> found);

/// The places of the largest values, the largest first; equal ones in their order.
std::vector<size_t> largest(std::span<const float> values, size_t count);

}  // namespace het
