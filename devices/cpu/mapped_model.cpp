#include "devices/cpu/mapped_model.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace het::cpu {
namespace {

constexpr size_t kHugePageBytes = size_t{2} << 20;

/// Closes itself; the mapping outlives it.
struct ModelDescriptor {
  int fd;
  ~ModelDescriptor() {
    if (fd >= 0) ::close(fd);
  }
};

/// Addresses that begin at a multiple of a huge page, without memory behind them. Null when there
/// are none.
std::byte* reserve_addresses(size_t bytes) {
  const size_t most = bytes + kHugePageBytes;
  void* const made = ::mmap(nullptr, most, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(made);
  const size_t before =
      (kHugePageBytes - reinterpret_cast<uintptr_t>(begin) % kHugePageBytes) % kHugePageBytes;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, most - before - bytes);
  return begin + before;
}

}  // namespace

Result<BufferPtr> map_model_file(const std::string& path) {
  // Without O_NONBLOCK a FIFO of that name would block.
  const ModelDescriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    const StatusCode code =
        errno == ENOENT || errno == ENOTDIR ? StatusCode::NotFound : StatusCode::InvalidArgument;
    return error(code, "cannot open '{}': {}", path, std::strerror(errno));
  }
  struct stat status = {};
  if (::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    return error(StatusCode::InvalidArgument, "'{}' is not a regular file", path);
  }
  if (status.st_size == 0) return error(StatusCode::InvalidArgument, "'{}' is empty", path);
  const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  const auto bytes = static_cast<size_t>(status.st_size);
  const size_t length = (bytes + page - 1) / page * page;
  std::byte* const address = reserve_addresses(length);
  void* const mapped = address == nullptr
                           ? MAP_FAILED
                           : ::mmap(address, length, PROT_READ, MAP_SHARED | MAP_FIXED, file.fd, 0);
  if (mapped == MAP_FAILED) {
    const int reason = errno;
    if (address != nullptr) ::munmap(address, length);
    return error(StatusCode::InvalidArgument, "cannot map '{}' ({} bytes): {}", path, bytes,
                 std::strerror(reason));
  }
  // A wish, as the next one: where the system does not grant it nothing changes.
  ::madvise(mapped, length, MADV_HUGEPAGE);
  return wrap_host_memory(mapped, bytes, [mapped, length] { ::munmap(mapped, length); });
}

void release_mapped_pages(std::span<const std::byte> part) {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(part.data());
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t end = (begin + part.size()) / page * page;
  if (first < end) ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

}  // namespace het::cpu
