#include "serving/launch/supervise/status_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace het::serving {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEnding = ".json";
constexpr std::string_view kLockEnding = ".lock";
/// RuntimeDirectory of hetero-launch@.service.
constexpr std::string_view kServices = "/run/hetero-launch";

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_name(const std::string& name) {
  return !name.empty() && name.size() <= 64 && name.front() != '.' &&
         std::ranges::all_of(name, [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ||
                  c == '.' || c == '@';
         });
}

/// A folder in /tmp may be somebody else's.
Status check_owner(const std::string& folder) {
  struct stat info = {};
  if (::lstat(folder.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    return error(StatusCode::NotSupported, "'{}' is no folder", folder);
  }
  if (info.st_uid != ::geteuid() && info.st_uid != 0) {
    return error(StatusCode::NotSupported,
                 "folder '{}' belongs to user {}, not to this one ({}); set XDG_RUNTIME_DIR to a "
                 "folder of your own",
                 folder, info.st_uid, ::geteuid());
  }
  return {};
}

/// Whether somebody holds the lock: a `hetero launch` runs under this name.
bool is_locked(const std::string& lock_path) {
  const OwnedFd fd(::open(lock_path.c_str(), O_RDONLY | O_CLOEXEC));
  return fd.is_open() && ::flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

/// Whether the file of this descriptor still has this name.
bool has_name(const OwnedFd& fd, const std::string& path) {
  struct stat opened = {};
  struct stat named = {};
  return ::fstat(fd.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 &&
         opened.st_ino == named.st_ino && opened.st_dev == named.st_dev;
}

Result<OwnedFd> take_lock(const std::string& path, const std::string& name) {
  while (true) {
    OwnedFd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!lock.is_open()) {
      return error(StatusCode::NotSupported, "cannot write '{}': {}", path, std::strerror(errno));
    }
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      return error(StatusCode::InvalidArgument,
                   "a launch with the name '{}' runs already (hetero launch --status {}); stop it "
                   "or give another --name",
                   name, name);
    }
    // One that ended meanwhile has taken the name away.
    if (has_name(lock, path)) return lock;
  }
}

std::vector<fs::path> status_files(const std::string& folder) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == kEnding) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

Result<LaunchStatus> read_file(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return error(StatusCode::NotFound, "cannot read '{}'", path.string());
  auto status = LaunchStatus::parse(text.str());
  if (!status) return Failure(status.error().with_context(path.string()));
  return status;
}

}  // namespace

std::string status_folder() {
  const std::string runtime = setting("RUNTIME_DIRECTORY");  // the first of several
  if (!runtime.empty()) return runtime.substr(0, runtime.find(':'));
  const std::string user = setting("XDG_RUNTIME_DIR");
  if (!user.empty()) return user + "/hetero-launch";
  return ::geteuid() == 0 ? "/run/hetero-launch-root"
                          : fmt::format("/tmp/hetero-launch-{}", ::geteuid());
}

std::vector<std::string> status_folders() {
  std::vector<std::string> folders = {status_folder()};
  if (folders.front() != kServices) folders.emplace_back(kServices);
  return folders;
}

Result<std::unique_ptr<StatusFile>> StatusFile::create(const std::string& folder,
                                                       const std::string& name) {
  if (!is_name(name)) {
    return error(StatusCode::InvalidArgument,
                 "'{}' is no name of a launch: up to 64 letters, digits, '.', '_', '@' and '-', "
                 "not beginning with a '.'",
                 name);
  }
  if (::mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST) {
    return error(StatusCode::NotSupported, "cannot make folder '{}' for the status: {}", folder,
                 std::strerror(errno));
  }
  HET_TRY(check_owner(folder));
  const std::string path = folder + "/" + name;
  const std::string lock_path = path + std::string(kLockEnding);
  HET_ASSIGN(OwnedFd lock, take_lock(lock_path, name));
  return std::unique_ptr<StatusFile>(new StatusFile(path, std::move(lock)));
}

StatusFile::~StatusFile() {
  ::unlink((path_ + std::string(kEnding)).c_str());
  ::unlink((path_ + std::string(kLockEnding)).c_str());
}

Status StatusFile::write(const LaunchStatus& status) const {
  // Renamed into place, and not synced to a disk: it is of no use after this process.
  const std::string path = path_ + std::string(kEnding);
  const std::string beside = path + ".part";
  std::ofstream file(beside, std::ios::trunc);
  file << status.to_json();
  file.close();
  if (!file || ::rename(beside.c_str(), path.c_str()) != 0) {
    return error(StatusCode::Internal, "cannot write '{}': {}", path, std::strerror(errno));
  }
  return {};
}

Result<std::vector<LaunchStatus>> read_status(const std::vector<std::string>& folders,
                                              const std::string& name) {
  std::vector<LaunchStatus> found;
  for (const std::string& folder : folders) {
    for (const fs::path& file : status_files(folder)) {
      const std::string stem = file.stem().string();
      const bool is_wanted = name.empty() || stem == name;
      if (!is_wanted || !is_locked(folder + "/" + stem + std::string(kLockEnding))) continue;
      HET_ASSIGN(LaunchStatus status, read_file(file));
      found.push_back(std::move(status));
    }
  }
  if (found.empty() && !name.empty()) {
    return error(StatusCode::NotFound, "no launch with the name '{}' runs (looked in {})", name,
                 fmt::join(folders, " and "));
  }
  return found;
}

}  // namespace het::serving
