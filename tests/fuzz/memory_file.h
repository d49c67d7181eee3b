#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace het::fuzz {

/// A file in memory that has a path, for readers that take one.
class MemoryFile {
 public:
  MemoryFile() : file_(memfd_create("fuzz", MFD_CLOEXEC)) {
    if (file_ < 0) abort();
  }
  std::string path() const { return "/proc/self/fd/" + std::to_string(file_); }
  void fill(const uint8_t* data, size_t size) const {
    if (ftruncate(file_, 0) != 0) abort();
    if (pwrite(file_, data, size, 0) != static_cast<ssize_t>(size)) abort();
  }

 private:
  int file_;
};

}  // namespace het::fuzz
