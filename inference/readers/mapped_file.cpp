#include "inference/readers/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

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
  }
  return std::shared_ptr<const MappedFile>(new MappedFile(path, address, size_bytes));
}

MappedFile::~MappedFile() {
  if (address_ != nullptr) ::munmap(const_cast<std::byte*>(address_), size_bytes_);
}

BufferPtr reference_bytes(std::span<const std::byte> part, std::shared_ptr<const void> owner) {
  // The callback's only task is to hold the owner as long as the buffer lives.
  return wrap_host_memory(const_cast<std::byte*>(part.data()), part.size(),
                          [kept = std::move(owner)] {});
}

}  // namespace het
