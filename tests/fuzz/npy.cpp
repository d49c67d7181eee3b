#include "tools/npy.h"

#include "tests/fuzz/memory_file.h"

/// The bytes of an .npy file. What could be read is written, and read again, with the same shape.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const het::fuzz::MemoryFile file;
  static const het::fuzz::MemoryFile written;
  file.fill(data, size);
  const auto tensor = het::read_npy(file.path());
  if (!tensor) return 0;
  if (!het::write_npy(written.path(), *tensor).ok()) abort();
  const auto again = het::read_npy(written.path());
  if (!again || again->shape() != tensor->shape()) abort();
  return 0;
}
