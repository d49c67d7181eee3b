#include "devices/vpu/shared_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace het::vpu {
namespace {

Result<std::shared_ptr<SharedMemory>> mapped(File file, size_t size_bytes) {
  void* const address =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.number(), 0);
  if (address == MAP_FAILED) {
    return error(StatusCode::OutOfMemory, "cannot map {} bytes of shared memory: {}", size_bytes,
                 std::strerror(errno));
  }
  return std::make_shared<SharedMemory>(std::move(file), static_cast<std::byte*>(address),
                                        size_bytes);
}

}  // namespace

Result<std::shared_ptr<SharedMemory>> SharedMemory::create(size_t size_bytes) {
  File file(::memfd_create("hetero-vpu", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file || ::ftruncate(file.number(), static_cast<off_t>(size_bytes)) != 0 ||
      ::fcntl(file.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return error(StatusCode::OutOfMemory, "cannot make {} bytes of shared memory: {}", size_bytes,
                 std::strerror(errno));
  }
  return mapped(std::move(file), size_bytes);
}

Result<std::shared_ptr<SharedMemory>> SharedMemory::open(File file, size_t size_bytes) {
  struct stat state {};
  const int seals = ::fcntl(file.number(), F_GET_SEALS);
  if (seals < 0 || (seals & F_SEAL_SHRINK) == 0) {
    return error(StatusCode::InvalidArgument,
                 "shared memory has to be a memfd sealed against "
                 "shrinking");
  }
  if (::fstat(file.number(), &state) != 0 || static_cast<size_t>(state.st_size) != size_bytes) {
    return error(StatusCode::InvalidArgument, "shared memory has {} bytes instead of {}",
                 state.st_size, size_bytes);
  }
  return mapped(std::move(file), size_bytes);
}

SharedMemory::~SharedMemory() {
  ::munmap(host(), size_bytes());
}

}  // namespace het::vpu
