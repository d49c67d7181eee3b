#include "inference/devices/choice_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "inference/base/checksum.h"
#include "inference/base/log.h"
#include "inference/devices/cache_folder.h"

namespace het {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::string_view kFormat = "gst-hetero measured choices";
constexpr size_t kChecksumDigits = 16;

/// A descriptor that closes itself.
class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_CLOEXEC, 0600)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

std::string with_checksum(const std::string& text) {
  return fmt::format("{:016x} {}\n", checksum(text), text);
}

/// The JSON of a line, or discarded when its checksum is not that of its text.
Json checked_json(std::string_view line) {
  const Json nothing(Json::value_t::discarded);
  if (line.size() < kChecksumDigits + 2 || line[kChecksumDigits] != ' ') return nothing;
  uint64_t wanted = 0;
  const char* const digits_end = line.data() + kChecksumDigits;
  const auto [end, code] = std::from_chars(line.data(), digits_end, wanted, 16);
  line.remove_prefix(kChecksumDigits + 1);
  if (code != std::errc() || end != digits_end || checksum(line) != wanted) return nothing;
  return Json::parse(line, nullptr, false);
}

/// `device` for a file name.
std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::isalnum(c) != 0 ? std::tolower(c) : '_');
  });
  return text;
}

std::string entry_text(const std::string& key, const MeasuredChoice& choice) {
  return Json{{"key", key}, {"choice", choice.name}, {"times_us", choice.times_us}}.dump(
      -1, ' ', false, Json::error_handler_t::replace);
}

bool write_all(int fd, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(fd, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    content.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

ChoiceStore::ChoiceStore(std::string folder, std::string device, std::string machine)
    : folder_(std::move(folder)),
      device_(lower(std::move(device))),
      machine_(std::move(machine)),
      path_(fmt::format("{}/choices-{}-{:016x}", folder_, device_, checksum(machine_))) {}

void ChoiceStore::warn(std::string_view what, std::string_view reason) {
  if (std::exchange(warned_, true)) return;
  log(LogLevel::Warning,
      "{} '{}': {}; the models compile all the same, choices that are not stored are measured "
      "again. CACHE_DIR names another folder, an empty one switches this off",
      what, path_, reason);
}

void ChoiceStore::refresh() {
  const std::lock_guard lock(mutex_);
  read_file();
}

void ChoiceStore::read_file() {
  // Without O_NONBLOCK a FIFO of that name would block.
  const File file(path_, O_RDONLY | O_NONBLOCK);
  if (!file.is_open()) {
    if (errno != ENOENT && errno != ENOTDIR) warn("cannot read", std::strerror(errno));
    return;
  }
  struct stat info = {};
  if (::fstat(file.fd(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return warn("cannot read", "it is not a file");
  }
  const FileState state{info.st_ino, info.st_size,
                        info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec};
  note_use(path_);
  if (state == file_) return;
  file_ = state;
  if (static_cast<uint64_t>(info.st_size) > kMostFileBytes) {
    return warn("cannot read",
                fmt::format("it has {} bytes, at most {} are read", info.st_size, kMostFileBytes));
  }
  std::string content(static_cast<size_t>(info.st_size), '\0');
  size_t filled = 0;
  while (filled < content.size()) {
    const ssize_t got = ::read(file.fd(), content.data() + filled, content.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<size_t>(got);
  }
  content.resize(filled);
  parse(content);
}

void ChoiceStore::parse(std::string_view content) {
  size_t damaged = 0;
  bool is_first = true;
  while (!content.empty()) {
    const size_t end = content.find('\n');
    const std::string_view line = content.substr(0, end);
    content.remove_prefix(end == std::string_view::npos ? content.size() : end + 1);
    const Json json =
        line.size() <= kMostLineBytes ? checked_json(line) : Json(Json::value_t::discarded);
    if (std::exchange(is_first, false)) {
      if (!json.is_object() || json.value("format", Json()) != kFormat) {
        return warn("cannot read", "it does not begin as a file of choices");
      }
      // Another version writes its own; another machine has the same checksum by chance.
      if (json.value("version", Json()) != kVersion || json.value("machine", Json()) != machine_) {
        return;
      }
      continue;
    }
    const Json key = json.is_object() ? json.value("key", Json()) : Json();
    const Json name = json.is_object() ? json.value("choice", Json()) : Json();
    if (!key.is_string() || !name.is_string()) {
      ++damaged;
      continue;
    }
    MeasuredChoice choice{name.get<std::string>(), {}};
    const Json times = json.value("times_us", Json::object());
    for (const auto& [candidate, time] : times.items()) {
      if (time.is_number()) choice.times_us[candidate] = time.get<double>();
    }
    insert(key.get<std::string>(), std::move(choice));
  }
  if (damaged > 0) warn("cannot read all of", fmt::format("{} lines are damaged", damaged));
}

bool ChoiceStore::insert(std::string key, MeasuredChoice choice) {
  if (!ages_.try_emplace(key, next_age_).second) return false;
  entries_.emplace(next_age_++, Entry{std::move(key), std::move(choice)});
  if (entries_.size() > kMostChoices) {
    ages_.erase(entries_.begin()->second.key);
    entries_.erase(entries_.begin());
  }
  return true;
}

std::optional<MeasuredChoice> ChoiceStore::find(std::string_view key) const {
  const std::lock_guard lock(mutex_);
  const auto found = ages_.find(std::string(key));
  if (found == ages_.end()) return std::nullopt;
  return entries_.at(found->second).choice;
}

void ChoiceStore::add(std::string_view key, MeasuredChoice choice) {
  std::string owned(key);
  if (entry_text(owned, choice).size() + kChecksumDigits + 2 > kMostLineBytes) return;
  std::erase_if(choice.times_us, [](const auto& time) { return !std::isfinite(time.second); });
  const std::lock_guard lock(mutex_);
  changed_ |= insert(std::move(owned), std::move(choice));
}

size_t ChoiceStore::size() const {
  const std::lock_guard lock(mutex_);
  return entries_.size();
}

std::string ChoiceStore::file_content() const {
  const Json header{{"format", kFormat}, {"version", kVersion}, {"machine", machine_}};
  const std::string first =
      with_checksum(header.dump(-1, ' ', false, Json::error_handler_t::replace));
  std::vector<std::string> lines;  // the youngest first, until the file is full
  size_t bytes = first.size();
  for (auto entry = entries_.rbegin(); entry != entries_.rend(); ++entry) {
    lines.push_back(with_checksum(entry_text(entry->second.key, entry->second.choice)));
    bytes += lines.back().size();
    if (bytes > kMostFileBytes) {
      lines.pop_back();
      break;
    }
  }
  std::string content = first;
  for (auto line = lines.rbegin(); line != lines.rend(); ++line) content += *line;
  return content;
}

void ChoiceStore::save() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(changed_, false)) return;
  make_cache_folder(folder_);
  {
    // So that none loses what another one adds. Whoever waits too long writes all the same: the
    // file stays whole, at worst choices are measured again.
    const CacheTurn turn(folder_, "choices", std::chrono::seconds(1));
    write_file();
  }
  trim_cache(folder_);
}

void ChoiceStore::write_file() {
  read_file();
  const std::string content = file_content();
  if (content.size() > cache_bound_bytes(folder_)) return;
  std::string temporary = path_ + ".XXXXXX";
  const int fd = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (fd < 0) return warn("cannot write", std::strerror(errno));
  const bool is_written = write_all(fd, content);
  const int reason = errno;
  const bool is_synced = is_written && ::fsync(fd) == 0;
  if (::close(fd) != 0 || !is_synced || ::rename(temporary.c_str(), path_.c_str()) != 0) {
    const int failed = is_written ? errno : reason;
    ::unlink(temporary.c_str());
    return warn("cannot write", std::strerror(failed));
  }
  struct stat info = {};
  if (::stat(path_.c_str(), &info) == 0) {
    file_ = {info.st_ino, info.st_size,
             info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec};
  }
  remove_old_files();
}

void ChoiceStore::remove_old_files() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code code;
  const std::string prefix = fmt::format("choices-{}-", device_);
  for (fs::directory_iterator file(folder_, code), end; !code && file != end;
       file.increment(code)) {
    if (file->path().filename().string().starts_with(prefix)) {
      std::error_code unknown;
      files.emplace_back(file->last_write_time(unknown), file->path());
    }
  }
  std::ranges::sort(files, std::greater<>());
  for (size_t i = kMostFiles; i < files.size(); ++i) {
    if (files[i].second != fs::path(path_)) fs::remove(files[i].second, code);
  }
}

}  // namespace het
