#pragma once

#include <cstddef>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Puts the nodes of the taken branch in the place of every If whose condition is a constant, so
/// that devices see plain nodes. They are named "<If>/<node>" and stand for the If in queries and
/// profiles; Ifs inside the branch are left for the next call. The model needs sort() afterwards.
/// Returns how many were inlined; an If that cannot be (its operator will say why) stays, and so do
/// those whose names would take more than 8 MiB in the branches' names.
HET_API size_t inline_constant_if(Model& model);

}  // namespace het
