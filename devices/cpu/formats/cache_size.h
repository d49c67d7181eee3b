#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace het::cpu {

/// Bytes of a core's second-level cache; within what processors have, where the system does not
/// tell.
inline int64_t second_level_bytes() {
  static const auto bytes =
      std::clamp<int64_t>(::sysconf(_SC_LEVEL2_CACHE_SIZE), int64_t{256} << 10, int64_t{4} << 20);
  return bytes;
}

}  // namespace het::cpu
