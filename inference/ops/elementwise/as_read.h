#pragma once

#include <cmath>

namespace het {

/// x as arithmetic reads it: 0 for a subnormal number on a thread that takes them for 0. glibc's
/// log() and pow() look at the bits of such numbers after a product that was to scale them, and
/// give neither result.
template <class T>
T as_read(T x) {
  return x == T(0) ? std::copysign(T(0), x) : x;
}

}  // namespace het
