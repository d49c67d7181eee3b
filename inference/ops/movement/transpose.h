#pragma once

#include <cstdint>
#include <vector>

#include "inference/base/status.h"
#include "inference/model/attributes.h"

namespace het {

/// Transpose's perm for an input of this rank: output dimension i is input dimension perm[i]; the
/// default reverses. Fails when it is not a permutation of 0 .. rank - 1.
Result<std::vector<int64_t>> transpose_permutation(const Attributes& attributes, int64_t rank);

}  // namespace het
