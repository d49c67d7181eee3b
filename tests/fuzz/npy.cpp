#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "tools/npy.h"

/// The bytes of an .npy file, which lies in memory: the reader takes a path.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = memfd_create("fuzz.npy", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (file < 0 || ftruncate(file, 0) != 0) abort();
  if (pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) abort();
  (void)het::read_npy(path);
  return 0;
}
