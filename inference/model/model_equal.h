#pragma once

#include <string>

#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// What makes two models different, in words that name the first place ("node 'conv1': attribute
/// 'group' is 1 and 2"); empty when they are equal: same metadata, inputs, outputs and nodes in the
/// same order with the same names, attributes (floats and tensors compared by their bits), bodies,
/// affinities and constants. Constants that nothing reads, trailing omitted inputs and inferred
/// types of intermediate values do not count.
HET_API std::string model_difference(const Model& a, const Model& b);

}  // namespace het
