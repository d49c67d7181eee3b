#pragma once

#include <memory>

#include "devices/cpu/formats/kernel.h"
#include "devices/cpu/formats/tensor_spec.h"

namespace het::cpu {

/// Reorders what most networks begin with: planes of float32 [N,3,...] to pixels of bfloat16. Null
/// for all other reorders, which are oneDNN's.
std::unique_ptr<Kernel> make_picture_reorder(const TensorSpec& src, const TensorSpec& dst);

}  // namespace het::cpu
