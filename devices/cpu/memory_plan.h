#pragma once

#include <cstddef>
#include <vector>

#include "devices/cpu/plan.h"

namespace het::cpu {

/// Memory that is needed from step `first` to step `last`, both included.
struct Lifetime {
  size_t bytes = 0;
  size_t first = 0;
  size_t last = 0;
};

/// Where each lies in one arena so that those alive together do not overlap. Largest first, each at
/// the lowest offset that fits; offsets are multiples of 64.
struct Packing {
  std::vector<size_t> offsets;
  size_t bytes = 0;
};
Packing pack(const std::vector<Lifetime>& lifetimes);

/// Lets concatenations and in-place steps share memory where lifetimes allow, then places every
/// tensor of the arena and sets the plan's sizes.
void plan_memory(Plan& plan);

}  // namespace het::cpu
