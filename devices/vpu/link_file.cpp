#include "devices/vpu/link_file.h"

#include <unistd.h>

namespace het::vpu {

File::~File() {
  if (number_ >= 0) ::close(number_);
}

File& File::operator=(File&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

int File::release() {
  return std::exchange(number_, -1);
}

}  // namespace het::vpu
