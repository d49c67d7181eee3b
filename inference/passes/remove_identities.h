#pragma once

#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Takes out nodes that hand their first input on unchanged: Identity, Dropout at inference, Concat
/// of one input, and, where shapes are known, Reshape, Flatten, Squeeze, Unsqueeze, Expand, Cast
/// and Transpose whose output has the type, shape and order of their input. Model outputs keep
/// their names; one may then read a model input or constant directly. Returns the number of nodes
/// taken out.
HET_API size_t remove_identities(Model& model);

}  // namespace het
