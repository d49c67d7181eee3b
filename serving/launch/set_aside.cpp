#include "serving/launch/set_aside.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace het::serving {
namespace {

namespace fs = std::filesystem;

constexpr int kMostNumbers = 100000;

/// What lies before and behind the number of "part%05d.mp4".
struct NamePattern {
  std::string before;
  std::string behind;
};

std::optional<NamePattern> name_pattern(const std::string& name) {
  const size_t percent = name.find('%');
  if (percent == std::string::npos) return std::nullopt;
  const size_t letter = name.find_first_not_of("0123456789", percent + 1);
  if (letter == std::string::npos || !std::strchr("diu", name[letter])) return std::nullopt;
  return NamePattern{name.substr(0, percent), name.substr(letter + 1)};
}

bool fits(const NamePattern& pattern, const std::string& name) {
  if (name.size() <= pattern.before.size() + pattern.behind.size()) return false;
  if (!name.starts_with(pattern.before) || !name.ends_with(pattern.behind)) return false;
  const std::string number = name.substr(
      pattern.before.size(), name.size() - pattern.before.size() - pattern.behind.size());
  return std::all_of(number.begin(), number.end(),
                     [](unsigned char letter) { return std::isdigit(letter) != 0; });
}

/// /dev/stdout is a link to what may be a regular file.
bool may_be_renamed(const fs::path& path) {
  std::error_code failure;
  const std::string whole = fs::absolute(path, failure).lexically_normal().string();
  if (failure || whole.starts_with("/dev/") || whole.starts_with("/proc/")) return false;
  if (!fs::is_regular_file(path, failure)) return false;
  const fs::path target = fs::is_symlink(path, failure) ? fs::read_symlink(path, failure) : path;
  return !target.string().starts_with("/dev/") && !target.string().starts_with("/proc/");
}

Result<std::string> rename_to_next(const fs::path& path) {
  const std::string stem = (path.parent_path() / path.stem()).string();
  for (int number = 1; number < kMostNumbers; ++number) {
    const std::string free = fmt::format("{}.{}{}", stem, number, path.extension().string());
    if (renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, free.c_str(), RENAME_NOREPLACE) == 0) {
      return free;
    }
    int reason = errno;
    if (reason == EINVAL) {  // a file system that cannot rename without replacing
      struct stat found = {};
      if (lstat(free.c_str(), &found) == 0) continue;
      if (std::rename(path.c_str(), free.c_str()) == 0) return free;
      reason = errno;
    }
    if (reason == EEXIST) continue;
    return error(StatusCode::Internal,
                 "cannot set '{}' aside as '{}': {}; it would be replaced by the stream's next run",
                 path.string(), free, std::strerror(reason));
  }
  return error(StatusCode::Internal,
               "cannot set '{}' aside: {} files of this name are kept already", path.string(),
               kMostNumbers - 1);
}

}  // namespace

Result<std::vector<std::string>> set_aside(const std::string& written_file) {
  const fs::path path(written_file);
  std::vector<fs::path> found;
  if (may_be_renamed(path)) found.push_back(path);
  if (const auto pattern = name_pattern(path.filename().string())) {
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    std::error_code failure;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      const std::string name = entry->path().filename().string();
      const fs::path candidate = path.parent_path() / name;
      if (fits(*pattern, name) && may_be_renamed(candidate)) found.push_back(candidate);
    }
    std::sort(found.begin(), found.end());
  }
  std::vector<std::string> renamed;
  for (const fs::path& file : found) {
    HET_ASSIGN(renamed.emplace_back(), rename_to_next(file));
  }
  return renamed;
}

}  // namespace het::serving
