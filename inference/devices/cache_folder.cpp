#include "inference/devices/cache_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "inference/base/checksum.h"
#include "inference/base/log.h"

namespace het {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMebibyte = uint64_t{1} << 20;
constexpr uint64_t kDefaultBoundBytes = 8192 * kMebibyte;
constexpr int64_t kNanoseconds = 1'000'000'000;
/// Nobody writes this long without a byte.
constexpr int64_t kAbandonedNs = 3600 * kNanoseconds;
/// Whoever has just written a file will want it.
constexpr int64_t kRecentNs = 60 * kNanoseconds;
constexpr size_t kKeyDigits = 16;

std::string environment_text(const char* name) {
  const char* value = ::secure_getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// Takes a name apart from its beginning.
class NameReader {
 public:
  explicit NameReader(std::string_view name) : rest_(name) {}
  bool ended() const { return rest_.empty(); }

  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  /// How many characters of these kinds there were.
  size_t take_all(std::string_view set) {
    const size_t count = std::min(rest_.find_first_not_of(set), rest_.size());
    rest_.remove_prefix(count);
    return count;
  }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLowerLetters = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view kUpperLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
/// As mkostemp() makes it.
constexpr size_t kRandomLetters = 6;

/// choices-DEVICE-KEY of ChoiceStore, what follows taken off.
bool take_choices(NameReader& name) {
  const std::string device_set = std::string(kLowerLetters) + std::string(kDigits) + "_";
  return name.take("choices-") && name.take_all(device_set) > 0 && name.take("-") &&
         name.take_all(kHexDigits) == kKeyDigits;
}

/// gpu-KEY.clbin, programs of the GPU device.
bool take_programs(NameReader& name) {
  return name.take("gpu-") && name.take_all(kHexDigits) == kKeyDigits && name.take(".clbin");
}

/// cpu-KEY.model or cpu-KEY-nodeN.model, models of the CPU device.
bool take_model(NameReader& name) {
  if (!name.take("cpu-") || name.take_all(kHexDigits) != kKeyDigits) return false;
  if (name.take("-node") && name.take_all(kDigits) == 0) return false;
  return name.take(".model");
}

/// .PROCESS-NUMBER.part of NewFile.
bool take_part(NameReader& name) {
  return name.take(".") && name.take_all(kDigits) > 0 && name.take("-") &&
         name.take_all(kDigits) > 0 && name.take(".part");
}

enum class CacheEntry : uint8_t { Foreign, Whole, HalfWritten };

CacheEntry entry_of(std::string_view file_name) {
  for (const auto take : {take_choices, take_programs, take_model}) {
    NameReader name(file_name);
    if (!take(name)) continue;
    if (name.ended()) return CacheEntry::Whole;
    if (take == take_choices && name.take(".")) {
      const std::string random =
          std::string(kLowerLetters) + std::string(kUpperLetters) + std::string(kDigits);
      if (name.take_all(random) == kRandomLetters && name.ended()) return CacheEntry::HalfWritten;
      continue;
    }
    if (take_part(name) && name.ended()) return CacheEntry::HalfWritten;
  }
  return CacheEntry::Foreign;
}

int64_t nanoseconds(const timespec& time) {
  return time.tv_sec * kNanoseconds + time.tv_nsec;
}

struct CacheFile {
  std::string path;
  CacheEntry entry = CacheEntry::Whole;
  uint64_t bytes = 0;
  int64_t written_ns = 0;
  int64_t used_ns = 0;
};

/// Files of ours, no links and no folders.
std::vector<CacheFile> cache_files(const std::string& folder) {
  std::vector<CacheFile> files;
  std::error_code code;
  for (fs::directory_iterator file(folder, code), end; !code && file != end; file.increment(code)) {
    const std::string name = file->path().filename().string();
    const CacheEntry entry = entry_of(name);
    struct stat status = {};
    const std::string path = file->path().string();
    if (entry == CacheEntry::Foreign || ::lstat(path.c_str(), &status) != 0 ||
        !S_ISREG(status.st_mode)) {
      continue;
    }
    const int64_t written = nanoseconds(status.st_mtim);
    files.push_back({path, entry, static_cast<uint64_t>(status.st_size), written,
                     std::max(written, nanoseconds(status.st_atim))});
  }
  return files;
}

uint64_t total_bytes(const std::vector<CacheFile>& files) {
  uint64_t total = 0;
  for (const CacheFile& file : files) total += file.bytes;
  return total;
}

/// Bounds that compiles of this process have named, by folder.
struct NamedBounds {
  std::mutex mutex;  ///< protects `bytes`; taken alone
  std::map<std::string, uint64_t> bytes;
};

NamedBounds& named_bounds() {
  // Never destroyed: models may outlive the end of main().
  static auto* const all = new NamedBounds;
  return *all;
}

std::optional<uint64_t> environment_bound() {
  const std::string text = environment_text("GST_HETERO_CACHE_MAX_MIB");
  if (text.empty()) return std::nullopt;
  uint32_t mebibytes = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), mebibytes);
  if (code == std::errc() && end == text.data() + text.size() && mebibytes > 0) {
    return mebibytes * kMebibyte;
  }
  static std::once_flag told;
  std::call_once(told, [&] {
    log(LogLevel::Warning,
        "GST_HETERO_CACHE_MAX_MIB='{}' in the environment is no number of MiB from 1 on: files in "
        "CACHE_DIR may take what they may without it",
        text.substr(0, 64));
  });
  return std::nullopt;
}

uint64_t bound_of(const std::string& folder, uint64_t taken_bytes) {
  {
    const std::lock_guard lock(named_bounds().mutex);
    const auto named = named_bounds().bytes.find(folder);
    if (named != named_bounds().bytes.end()) return named->second;
  }
  if (const auto given = environment_bound()) return *given;
  struct statvfs room = {};
  if (::statvfs(folder.c_str(), &room) != 0) return kDefaultBoundBytes;
  const uint64_t free_bytes = uint64_t{room.f_bavail} * room.f_frsize;
  return std::min(kDefaultBoundBytes, (free_bytes + taken_bytes) / 2);
}

/// What a folder holds of ours now.
class CacheContent {
 public:
  explicit CacheContent(const std::string& folder)
      : files_(cache_files(folder)),
        taken_bytes_(total_bytes(files_)),
        bound_bytes_(bound_of(folder, taken_bytes_)) {
    timespec now = {};
    ::clock_gettime(CLOCK_REALTIME, &now);
    now_ns_ = nanoseconds(now);
  }

  bool is_well() const {
    return taken_bytes_ <= bound_bytes_ &&
           std::ranges::none_of(files_, [&](const CacheFile& file) { return is_abandoned(file); });
  }

  void trim() {
    for (const CacheFile& file : files_) {
      if (is_abandoned(file)) remove(file);
    }
    // Others write what is half written.
    std::erase_if(files_,
                  [](const CacheFile& file) { return file.entry == CacheEntry::HalfWritten; });
    std::ranges::sort(files_, {}, [&](const CacheFile& file) {
      return std::pair(now_ns_ - file.used_ns < kRecentNs, file.used_ns);
    });
    for (const CacheFile& file : files_) {
      if (taken_bytes_ <= bound_bytes_) return;
      remove(file);
    }
  }

 private:
  bool is_abandoned(const CacheFile& file) const {
    return file.entry == CacheEntry::HalfWritten && now_ns_ - file.written_ns > kAbandonedNs;
  }
  void remove(const CacheFile& file) {
    if (::unlink(file.path.c_str()) == 0 || errno == ENOENT) taken_bytes_ -= file.bytes;
  }

  std::vector<CacheFile> files_;
  uint64_t taken_bytes_;
  uint64_t bound_bytes_;
  int64_t now_ns_ = 0;
};

}  // namespace

std::string cache_dir(const Properties& properties) {
  const auto given = properties.find("CACHE_DIR");
  if (given != properties.end()) return given->second;
  if (::secure_getenv("GST_HETERO_CACHE_DIR") != nullptr) {
    return environment_text("GST_HETERO_CACHE_DIR");
  }
  // A relative path in these is invalid and to be ignored (XDG Base Directory Specification).
  const std::string cache = environment_text("XDG_CACHE_HOME");
  if (cache.starts_with('/')) return cache + "/gst-hetero";
  const std::string home = environment_text("HOME");
  return home.starts_with('/') ? home + "/.cache/gst-hetero" : std::string();
}

void make_cache_folder(const std::string& folder) {
  std::error_code code;
  if (fs::create_directories(folder, code)) {
    fs::permissions(folder, fs::perms::owner_all, code);
  }
}

void note_cache_bound(const Properties& properties) {
  if (properties.count("CACHE_MAX_MIB") == 0) return;
  const std::string folder = cache_dir(properties);
  if (folder.empty()) return;
  const auto mebibytes = static_cast<uint64_t>(property_integer(properties, "CACHE_MAX_MIB"));
  const std::lock_guard lock(named_bounds().mutex);
  named_bounds().bytes[folder] = mebibytes * kMebibyte;
}

uint64_t cache_bound_bytes(const std::string& folder) {
  return bound_of(folder, total_bytes(cache_files(folder)));
}

bool is_cache_file(std::string_view name) {
  return entry_of(name) != CacheEntry::Foreign;
}

void note_use(const std::string& path) {
  const timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_NOW},
                             {.tv_sec = 0, .tv_nsec = UTIME_OMIT}};
  ::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW);
}

void trim_cache(const std::string& folder) {
  if (CacheContent(folder).is_well()) return;
  constexpr std::chrono::seconds kLongest(2);
  // Two at once would each take the other's files as well.
  const CacheTurn turn(folder, "trim", kLongest);
  CacheContent(folder).trim();
}

CacheTurn::CacheTurn(const std::string& folder, std::string_view what,
                     std::chrono::milliseconds longest)
    : fd_(::open((folder + "/lock").c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
                 0600)) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kPause = std::chrono::milliseconds(2);
  if (fd_ < 0) return;
  // A byte of the one lock file stands for each thing. The lock is the descriptor's, so that
  // threads wait for each other as well.
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(checksum(what) >> 2);
  lock.l_len = 1;
  const auto end = Clock::now() + longest;
  while (true) {
    taken_ = ::fcntl(fd_, F_OFD_SETLK, &lock) == 0;
    const bool is_others = errno == EAGAIN || errno == EACCES || errno == EINTR;
    if (taken_ || !is_others) return;
    waited_ = true;
    if (Clock::now() >= end) return;
    std::this_thread::sleep_for(kPause);
  }
}

CacheTurn::~CacheTurn() {
  if (fd_ >= 0) ::close(fd_);
}

}  // namespace het
