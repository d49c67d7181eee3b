#pragma once

#include <memory>
#include <vector>

#include "devices/cpu/kernel.h"
#include "devices/cpu/tensor_spec.h"

namespace het::cpu {

/// Builds a blocked float tensor whose channel c is channel `channels[c]` of a blocked float source
/// with the same other dimensions and format.
std::unique_ptr<Kernel> make_channel_gather(const TensorSpec& src,
                                            const std::vector<int64_t>& channels);

}  // namespace het::cpu
