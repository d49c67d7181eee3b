#include "inference/base/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

namespace het {
namespace {

namespace fs = std::filesystem;

/// Where a path leads, links that end nowhere included. Empty for a file that somebody has open:
/// /dev/stdout, /dev/fd/3, /proc/self/fd/3.
std::string followed(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::error_code failed;
  fs::path target = path;
  for (int i = 0; i < kMostLinks && fs::is_symlink(target, failed); ++i) {
    const std::string text = fs::absolute(target, failed).lexically_normal().string();
    if (text.starts_with("/dev/") || text.starts_with("/proc/")) return {};
    const fs::path next = fs::read_symlink(target, failed);
    if (failed) break;
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  return target.string();
}

Failure cannot_write(const std::string& path, int reason) {
  return error(StatusCode::NotFound,
               "cannot write '{}': {}; check that its folder exists and is writable", path,
               std::strerror(reason));
}

bool sync_path(const std::string& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  if (fd < 0) return false;
  const bool is_synced = ::fsync(fd) == 0;
  ::close(fd);
  return is_synced;
}

/// An empty file beside `target` with the permissions of the one that is there; -1 with errno.
int make_beside(const std::string& target, std::string& name) {
  static std::atomic<unsigned> serial{0};
  int fd = -1;
  do {
    name = fmt::format("{}.{}-{}.part", target, ::getpid(), ++serial);
    fd = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  struct stat info = {};
  if (fd >= 0 && ::stat(target.c_str(), &info) == 0) ::fchmod(fd, info.st_mode & 07777);
  return fd;
}

}  // namespace

Result<NewFile> NewFile::create(const std::string& path) {
  struct stat info = {};
  const bool exists = ::stat(path.c_str(), &info) == 0;
  if (exists && S_ISDIR(info.st_mode)) return cannot_write(path, EISDIR);
  const std::string target = followed(path);
  if (target.empty() || (exists && !S_ISREG(info.st_mode))) {
    NewFile file(path, path);
    if (!file.stream()) return cannot_write(path, errno);
    return file;
  }
  // What somebody else has removed in between is as good as never there.
  if (exists && ::access(path.c_str(), W_OK) != 0 && errno != ENOENT) {
    return cannot_write(path, errno);
  }
  std::string temporary;
  const int fd = make_beside(target, temporary);
  if (fd < 0) return cannot_write(path, errno);
  ::close(fd);
  NewFile file(path, temporary);
  file.target_ = target;
  return file;
}

NewFile::NewFile(std::string path, std::string temporary)
    : path_(std::move(path)),
      target_(path_),
      temporary_(std::move(temporary)),
      stream_(std::make_unique<std::ofstream>(temporary_, std::ios::binary | std::ios::trunc)) {}

NewFile::NewFile(NewFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      stream_(std::move(other.stream_)) {}

NewFile::~NewFile() {
  if (!temporary_.empty() && temporary_ != target_) ::unlink(temporary_.c_str());
}

Status NewFile::keep() {
  errno = 0;
  stream_->close();
  bool is_written = !stream_->fail();
  if (temporary_ != target_) {
    is_written = is_written && sync_path(temporary_, O_WRONLY) &&
                 ::rename(temporary_.c_str(), target_.c_str()) == 0;
  }
  if (!is_written) {
    return error(StatusCode::Internal, "cannot write '{}': {}", path_,
                 errno != 0 ? std::strerror(errno) : "not all of it arrived; is there room left?");
  }
  if (temporary_ != target_) {
    // The name, too. Some file systems have nothing to sync there.
    const std::string folder = fs::path(target_).parent_path().string();
    sync_path(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
    temporary_ = target_;
  }
  return {};
}

Status write_new_file(const std::string& path, std::string_view content) {
  HET_ASSIGN(NewFile file, NewFile::create(path));
  file.stream().write(content.data(), static_cast<std::streamsize>(content.size()));
  return file.keep();
}

}  // namespace het
