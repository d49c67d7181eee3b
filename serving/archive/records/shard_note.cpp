#include "serving/archive/records/shard_note.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "inference/base/new_file.h"
#include "serving/archive/records/archive_plan.h"
#include "serving/archive/records/sha256.h"
#include "serving/launch/json_object.h"

namespace het::archive {
namespace {

using nlohmann::json;
using serving::JsonObject;

json time_json(const std::optional<uint64_t>& time_ns) {
  return time_ns ? json(*time_ns) : json();
}

void read_time(JsonObject& object, const char* key, std::optional<uint64_t>& time_ns) {
  const json* value = object.any(key);
  if (!value || value->is_null()) return;
  if (!value->is_number_unsigned()) {
    return object.fail(fmt::format("'{}' is neither a time nor null", key));
  }
  time_ns = value->get<uint64_t>();
}

}  // namespace

std::string ShardNote::to_json() const {
  const json value = {{"key", key},
                      {"frames", frames},
                      {"first_ns", time_json(first_ns)},
                      {"last_ns", time_json(last_ns)},
                      {"timestamps", timestamps},
                      {"lines", lines},
                      {"bytes", bytes},
                      {"sha256", sha256},
                      {"seconds", seconds},
                      {"start_seconds", start_seconds},
                      {"host", host},
                      {"pid", pid},
                      {"ended_s", ended_s},
                      {"process_s", process_s}};
  return value.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<ShardNote> ShardNote::parse(std::string_view text, const std::string& place) {
  HET_ASSIGN(const json value, serving::parse_json_object(text, place));
  ShardNote note;
  JsonObject object(value, place);
  object.read("key", note.key);
  object.read("frames", note.frames);
  read_time(object, "first_ns", note.first_ns);
  read_time(object, "last_ns", note.last_ns);
  object.read("timestamps", note.timestamps);
  object.read("lines", note.lines);
  object.read("bytes", note.bytes);
  object.read("sha256", note.sha256);
  object.read("seconds", note.seconds);
  object.read("start_seconds", note.start_seconds);
  object.read("host", note.host);
  object.read("pid", note.pid);
  object.read("ended_s", note.ended_s);
  object.read("process_s", note.process_s);
  HET_TRY(object.finish());
  return note;
}

std::string timestamps_digest(std::vector<uint64_t> times_ns, uint64_t untimed) {
  std::ranges::sort(times_ns);
  Sha256 sum;
  for (const uint64_t time : times_ns) sum.add(std::to_string(time) + "\n");
  for (uint64_t i = 0; i < untimed; ++i) sum.add("none\n");
  return sum.digits();
}

Result<std::optional<ShardNote>> read_note(const ArchiveFolder& folder, const std::string& key) {
  if (::access(folder.note(key).c_str(), F_OK) != 0) return std::optional<ShardNote>();
  HET_ASSIGN(const std::string text, read_text(folder.note(key)));
  HET_ASSIGN(ShardNote note, ShardNote::parse(text, folder.note(key).string()));
  if (note.key != key) {
    return error(StatusCode::ParseError, "{} is the note of shard {}", folder.note(key).string(),
                 note.key);
  }
  return std::optional(std::move(note));
}

std::optional<ShardNote> done_note(const ArchiveFolder& folder, const std::string& key) {
  Result<std::optional<ShardNote>> note = read_note(folder, key);
  if (!note || !*note) return std::nullopt;
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(folder.output(key), failed);
  if (failed || bytes != (*note)->bytes) return std::nullopt;
  return std::move(*note);
}

Status write_note(const ArchiveFolder& folder, const ShardNote& note) {
  return write_new_file(folder.note(note.key).string(), note.to_json());
}

}  // namespace het::archive
