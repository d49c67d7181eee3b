#include "serving/archive/scan/scan_record.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "inference/base/new_file.h"
#include "serving/archive/records/archive_plan.h"
#include "serving/launch/json_object.h"

namespace het::archive {
namespace {

using nlohmann::json;
using serving::JsonObject;

void read_times(JsonObject& object, const char* key, std::vector<uint64_t>& times) {
  const json* list = object.array(key);
  if (!list) return;
  times.reserve(list->size());
  for (const json& item : *list) {
    if (!item.is_number_unsigned()) return object.fail(fmt::format("'{}' are not all times", key));
    times.push_back(item.get<uint64_t>());
  }
}

void read_stamp(JsonObject& object, std::optional<FileStamp>& stamp) {
  const json* value = object.any("stamp");
  if (!value || value->is_null()) return;
  JsonObject inner(*value, "its stamp");
  FileStamp read;
  inner.read("bytes", read.bytes);
  inner.read("mtime_ns", read.mtime_ns);
  inner.read("inode", read.inode);
  if (const Status status = inner.finish(); !status.ok()) return object.fail(status.message());
  stamp = read;
}

}  // namespace

std::optional<FileStamp> stamp_of(const VideoPlace& video) {
  struct stat found = {};
  if (video.path.empty() || ::stat(video.path.c_str(), &found) != 0) return std::nullopt;
  const auto seconds = static_cast<uint64_t>(found.st_mtim.tv_sec);
  return FileStamp{static_cast<uint64_t>(found.st_size),
                   seconds * 1000000000 + static_cast<uint64_t>(found.st_mtim.tv_nsec),
                   static_cast<uint64_t>(found.st_ino)};
}

std::string ScanRecord::to_json() const {
  json value = {{"uri", uri},
                {"content", scan.content},
                {"bytes", scan.bytes},
                {"codec", scan.codec},
                {"frames", scan.frames},
                {"duration_ns", scan.duration_ns},
                {"error", scan.error ? json(*scan.error) : json()},
                {"key_frames", scan.key_frames},
                {"timestamps", scan.timestamps},
                {"seconds", seconds},
                {"unfinished", unfinished}};
  value["stamp"] = nullptr;
  if (stamp) {
    value["stamp"] = {
        {"bytes", stamp->bytes}, {"mtime_ns", stamp->mtime_ns}, {"inode", stamp->inode}};
  }
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<ScanRecord> ScanRecord::parse(std::string_view text, const std::string& place) {
  HET_ASSIGN(const json value, serving::parse_json_object(text, place));
  ScanRecord record;
  JsonObject object(value, place);
  object.read("uri", record.uri);
  read_stamp(object, record.stamp);
  object.read("content", record.scan.content);
  object.read("bytes", record.scan.bytes);
  object.read("codec", record.scan.codec);
  object.read("frames", record.scan.frames);
  object.read("duration_ns", record.scan.duration_ns);
  if (const json* reason = object.any("error"); reason && reason->is_string()) {
    record.scan.error = reason->get<std::string>();
  }
  read_times(object, "key_frames", record.scan.key_frames);
  read_times(object, "timestamps", record.scan.timestamps);
  object.read("seconds", record.seconds);
  object.read("unfinished", record.unfinished);
  HET_TRY(object.finish());
  return record;
}

std::optional<ScanRecord> read_scan(const ArchiveFolder& folder, const std::string& uri) {
  const std::filesystem::path path = folder.scan(uri);
  const Result<std::string> text = read_text(path);
  if (!text) return std::nullopt;
  Result<ScanRecord> record = ScanRecord::parse(*text, path.string());
  if (!record || record->uri != uri) return std::nullopt;
  return std::move(*record);
}

Status write_scan(const ArchiveFolder& folder, const ScanRecord& record) {
  return write_new_file(folder.scan(record.uri).string(), record.to_json());
}

void remove_scan(const ArchiveFolder& folder, const std::string& uri) {
  std::error_code failed;  // what stays counts as begun once more
  std::filesystem::remove(folder.scan(uri), failed);
}

}  // namespace het::archive
