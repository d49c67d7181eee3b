#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "devices/cpu/formats/kernel.h"

namespace het::cpu {

/// A kernel that fills its output from positions of its input that are chosen for each dimension by
/// itself: dst[i, j, ...] = src[sources[0][i], sources[1][j], ...]. Both are dense; `src_dims` are
/// the input's dimensions, `width` the bytes of an element.
std::unique_ptr<Kernel> make_mapped_copy(const std::vector<int64_t>& src_dims,
                                         std::vector<std::vector<int64_t>> sources, size_t width);

}  // namespace het::cpu
