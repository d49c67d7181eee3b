#include "serving/archive/records/archive_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <optional>
#include <random>
#include <system_error>

#include "serving/archive/records/sha256.h"

namespace het::archive {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartEnd = ".part";
/// A process may have the number of one that has ended in another container of the same name.
constexpr auto kIdle = std::chrono::minutes(10);
constexpr auto kAbandoned = std::chrono::hours(24);

Status sync_path(const fs::path& path, int flags) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC);
  const bool is_synced = fd >= 0 && ::fsync(fd) == 0;
  const int reason = errno;
  if (fd >= 0) ::close(fd);
  if (is_synced) return {};
  return error(StatusCode::Internal, "cannot sync '{}': {}", path.string(), std::strerror(reason));
}

/// The process in ".KEY.HOST.PID.part", where HOST is this one.
std::optional<pid_t> own_writer(std::string_view name) {
  name.remove_suffix(kPartEnd.size());
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return std::nullopt;
  pid_t pid = 0;
  const auto [end, failed] = std::from_chars(name.data() + dot + 1, name.data() + name.size(), pid);
  if (failed != std::errc() || end != name.data() + name.size() || pid <= 0) return std::nullopt;
  if (!name.substr(0, dot).ends_with("." + host_name())) return std::nullopt;
  return pid;
}

/// Containers may have the same name and the same numbers of processes.
unsigned process_token() {
  static const unsigned kToken = std::random_device{}();
  return kToken;
}

bool is_stale(const fs::directory_entry& entry) {
  const std::string name = entry.path().filename().string();
  if (!name.ends_with(kPartEnd)) return false;
  std::error_code failed;
  const auto age = fs::file_time_type::clock::now() - entry.last_write_time(failed);
  if (failed || age < kIdle) return false;
  if (age > kAbandoned) return true;
  const std::optional<pid_t> pid = own_writer(name);
  return pid && ::kill(*pid, 0) != 0 && errno == ESRCH;
}

}  // namespace

fs::path ArchiveFolder::output(std::string_view key) const {
  return path_ / "outputs" / (std::string(key) + ".jsonl");
}

fs::path ArchiveFolder::overlap_output(std::string_view key) const {
  return path_ / "outputs" / (std::string(key) + ".overlap.jsonl");
}

fs::path ArchiveFolder::note(std::string_view key) const {
  return path_ / "notes" / (std::string(key) + ".json");
}

fs::path ArchiveFolder::failures(std::string_view key) const {
  return path_ / "failures" / (std::string(key) + ".json");
}

fs::path ArchiveFolder::scan(std::string_view uri) const {
  return path_ / "scans" / (sha256_of(uri).substr(0, 40) + ".json");
}

fs::path ArchiveFolder::part(const fs::path& final_name) const {
  return final_name.parent_path() / fmt::format(".{}.{:08x}.{}.{}{}",
                                                final_name.filename().string(), process_token(),
                                                host_name(), ::getpid(), kPartEnd);
}

Status ArchiveFolder::create() const {
  for (const char* name : {"", "scans", "outputs", "notes", "failures", "logs"}) {
    const fs::path wanted = *name ? path_ / name : path_;
    std::error_code failed;
    fs::create_directories(wanted, failed);
    if (failed) {
      return error(StatusCode::NotFound, "cannot make the folder '{}': {}", wanted.string(),
                   failed.message());
    }
  }
  return {};
}

Status ArchiveFolder::check_exists() const {
  std::error_code failed;
  if (!fs::is_directory(path_, failed)) {
    return error(StatusCode::NotFound,
                 "'{}' is no folder of an archive; `hetero archive plan` makes one",
                 path_.string());
  }
  return {};
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  std::string text = name.data();
  for (char& c : text) {
    if (c == '/') c = '-';
  }
  return text;
}

Status keep_part(const fs::path& part, const fs::path& final_name) {
  HET_TRY(sync_path(part, O_RDONLY));
  if (::rename(part.c_str(), final_name.c_str()) != 0) {
    return error(StatusCode::Internal, "cannot rename '{}' to '{}': {}", part.string(),
                 final_name.string(), std::strerror(errno));
  }
  // Some file systems have nothing to sync there.
  static_cast<void>(sync_path(final_name.parent_path(), O_RDONLY | O_DIRECTORY));
  return {};
}

void remove_stale_parts(const ArchiveFolder& folder) {
  for (const char* name : {"scans", "outputs", "notes", "failures"}) {
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder.path() / name, failed)) {
      if (is_stale(entry)) fs::remove(entry.path(), failed);
    }
  }
}

}  // namespace het::archive
