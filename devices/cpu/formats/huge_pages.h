#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace het::cpu {

/// Large constants are written and read with fewer page faults and misses of the TLB.
inline void prefer_huge_pages(void* memory, size_t size_bytes) {
  constexpr uintptr_t kHugePage = uintptr_t{2} << 20;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
  const uintptr_t end = (begin + size_bytes) / kHugePage * kHugePage;
  // A wish: where the system does not grant it nothing changes.
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace het::cpu
