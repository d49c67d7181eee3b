#pragma once

#include <cstddef>
#include <vector>

#include "inference/base/visibility.h"

namespace het {

/// Memory that is needed from step `first` to step `last`, both included.
struct Lifetime {
  size_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
};

/// Where each lies in one arena so that those alive together do not overlap. Largest first, each at
/// the lowest offset that fits; offsets and `bytes` are multiples of
/// the alignment.
struct Packing {
  std::vector<size_t> offsets;
  size_t bytes = 0;
};
HET_API Packing pack(const std::vector<Lifetime>& lifetimes, size_t alignment = 64);

}  // namespace het
