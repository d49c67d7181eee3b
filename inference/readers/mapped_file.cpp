#include "inference/readers/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

namespace het {
namespace {

std::string reason(int code) {
  return std::generic_category().message(code);
}

/// Closes the descriptor; the mapping outlives it.
struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
};

Failure missing_file(const std::string& path) {
  std::error_code no_folder;
  const std::string folder = std::filesystem::current_path(no_folder).string();
  return error(StatusCode::NotFound,
               "there is no file '{}': give a path from '{}' or an absolute one", path, folder);
}

/// Smaller parts would be read in again with their neighbours at once: the system maps files by as
/// much around a page that is missing.
constexpr size_t kWorthReleasing = size_t{64} << 10;

/// Where the live mappings are, so that nobody else's memory is ever given back.
struct Mappings {
  std::mutex mutex;  ///< protects `sizes`; taken alone
  std::map<uintptr_t, size_t> sizes;

  /// Begin and size of the mapping that holds the address. The mutex must be held.
  std::optional<std::pair<uintptr_t, size_t>> find(uintptr_t address) const {
    const auto above = sizes.upper_bound(address);
    if (above == sizes.begin()) return std::nullopt;
    const auto& [begin, size_bytes] = *std::prev(above);
    if (address - begin >= size_bytes) return std::nullopt;
    return std::pair(begin, size_bytes);
  }
};

Mappings& mappings() {
  // Never destroyed: models may outlive the end of main().
  static auto* const all = new Mappings;
  return *all;
}

}  // namespace

Result<std::shared_ptr<const MappedFile>> MappedFile::open(const std::string& path) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
  if (file.fd < 0) {
    if (errno == ENOENT) return missing_file(path);
    return error(StatusCode::InvalidArgument, "cannot open file '{}': {}", path, reason(errno));
  }
  struct stat status = {};
  if (::fstat(file.fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    return error(StatusCode::InvalidArgument, "cannot read '{}': it is not a regular file", path);
  }
  const auto size_bytes = static_cast<size_t>(status.st_size);
  const std::byte* address = nullptr;
  if (size_bytes > 0) {
    void* mapped = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (mapped == MAP_FAILED) {
      return error(StatusCode::InvalidArgument, "cannot map file '{}' ({} bytes): {}", path,
                   size_bytes, reason(errno));
    }
    address = static_cast<const std::byte*>(mapped);
    const std::lock_guard lock(mappings().mutex);
    mappings().sizes[reinterpret_cast<uintptr_t>(mapped)] = size_bytes;
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, address, size_bytes));
}

MappedFile::~MappedFile() {
  if (address_ == nullptr) return;
  {
    const std::lock_guard lock(mappings().mutex);
    mappings().sizes.erase(reinterpret_cast<uintptr_t>(address_));
  }
  ::munmap(const_cast<std::byte*>(address_), size_bytes_);
}

void release_file_pages(std::span<const std::byte> memory) {
  if (memory.size() < kWorthReleasing) return;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(memory.data());
  const std::lock_guard lock(mappings().mutex);
  const auto file = mappings().find(begin);
  if (!file || begin + memory.size() > file->first + file->second) return;
  // Whole pages only: the neighbours' may be in use.
  const uintptr_t first = (begin + page - 1) / page * page;
  const uintptr_t end = (begin + memory.size()) / page * page;
  ::madvise(reinterpret_cast<void*>(first), end - first, MADV_DONTNEED);
}

std::span<const std::byte> release_whole_file(const std::byte* address) {
  const std::lock_guard lock(mappings().mutex);
  const auto file = mappings().find(reinterpret_cast<uintptr_t>(address));
  if (!file) return {};
  const auto& [begin, size_bytes] = *file;
  ::madvise(reinterpret_cast<void*>(begin), size_bytes, MADV_DONTNEED);
  return {reinterpret_cast<const std::byte*>(begin), size_bytes};
}

bool is_of_mapped_file(const std::byte* address) {
  const std::lock_guard lock(mappings().mutex);
  return mappings().find(reinterpret_cast<uintptr_t>(address)).has_value();
}

BufferPtr reference_bytes(std::span<const std::byte> part, std::shared_ptr<const void> owner) {
  // The callback's only task is to hold the owner as long as the buffer lives.
  return wrap_host_memory(const_cast<std::byte*>(part.data()), part.size(),
                          [kept = std::move(owner)] {});
}

}  // namespace het
