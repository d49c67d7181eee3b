#pragma once

#include <span>

#include "hetero/batch/rules/rule.h"

namespace het::hetero {

/// The output's items where these inputs are broadcast as in NumPy (dimensions aligned at the
/// last): the batch has to lie in one place of the output. Shared inputs repeat along it.
Result<Items> broadcast_items(const RuleContext& context, std::span<const size_t> inputs,
                              size_t output_rank);

}  // namespace het::hetero
