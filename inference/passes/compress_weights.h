#pragma once

#include <cstddef>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/model/model.h"

namespace het {

/// Stores Float32 constants as Float16 with a Cast behind each, which halves the file: as
/// OpenVINO's compress_to_fp16. Devices fold the Cast when they compile. Left as they are:
/// constants of fewer than 32 elements, with values that Float16 cannot hold (above 65504), outputs
/// of the model, and what quantisation operators read. Bodies of control flow are not changed.
/// Returns how many constants were compressed.
HET_API Result<size_t> compress_weights(Model& model);

}  // namespace het
