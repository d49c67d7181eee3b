#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "inference/tensors/tensor.h"

namespace het {

/// Host memory that ends at a page which cannot be read: a read past the end is a crash.
inline BufferPtr guarded_memory(size_t size_bytes) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const size_t usable = (size_bytes + page - 1) / page * page;
  void* const area =
      mmap(nullptr, usable + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED) std::abort();
  auto* const first = static_cast<std::byte*>(area);
  if (mprotect(first + usable, page, PROT_NONE) != 0) std::abort();
  return wrap_host_memory(first + (usable - size_bytes), size_bytes,
                          [area, usable, page] { munmap(area, usable + page); });
}

/// The same values in such memory.
inline Tensor guarded_copy(const Tensor& tensor) {
  Tensor copy = *Tensor::view(tensor.desc(), guarded_memory(tensor.size_bytes()));
  std::copy_n(tensor.bytes(), tensor.size_bytes(), copy.bytes());
  return copy;
}

}  // namespace het
