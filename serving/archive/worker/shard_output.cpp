#include "serving/archive/worker/shard_output.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <vector>

#include "serving/archive/records/sha256.h"

namespace het::archive {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMostShown = 60;

Failure not_a_line(const std::string& line, size_t number, std::string_view why) {
  return error(StatusCode::ParseError,
               "line {} of what the pipeline has written to {{output}} {}: '{}'; let it write a "
               "JSON object a line (heterometapublish file-format=json-lines)",
               number, why, line.substr(0, kMostShown));
}

/// Reads the lines of what the pipeline has written.
class WrittenLines {
 public:
  explicit WrittenLines(const fs::path& path) : path_(path), file_(path, std::ios::binary) {}

  Status check() const {
    if (file_.is_open()) return {};
    return error(StatusCode::NotFound, "the pipeline has ended and written no {{output}} ('{}')",
                 path_.string());
  }

  /// False at the end. `object` is the line's.
  Result<bool> next(std::string& line, json& object) {
    if (!std::getline(file_, line)) {
      if (!file_.bad()) return false;
      return error(StatusCode::NotFound, "cannot read '{}'", path_.string());
    }
    ++number_;
    if (file_.eof()) return not_a_line(line, number_, "has no end");
    object = json::parse(line, nullptr, false);
    if (!object.is_object()) return not_a_line(line, number_, "is no JSON object");
    return true;
  }

  Result<uint64_t> time_of(const std::string& line, const json& object) const {
    const auto time = object.find("timestamp");
    if (time == object.end() || !time->is_number_unsigned()) {
      return not_a_line(line, number_, "has no timestamp, which ranges need");
    }
    return time->get<uint64_t>();
  }

 private:
  fs::path path_;
  std::ifstream file_;
  size_t number_ = 0;
};

Status check_lines(const fs::path& written) {
  WrittenLines lines(written);
  HET_TRY(lines.check());
  std::string line;
  json object;
  while (true) {
    HET_ASSIGN(const bool is_line, lines.next(line, object));
    if (!is_line) return {};
  }
}

Status close_written(std::ofstream& file, const fs::path& path) {
  errno = 0;
  file.close();
  if (file) return {};
  return error(StatusCode::Internal, "cannot write '{}': {}", path.string(),
               errno != 0 ? std::strerror(errno) : "not all of it arrived; is there room left?");
}

Status divide_lines(const PlannedShard& shard, const ShardParts& parts) {
  WrittenLines lines(parts.written());
  HET_TRY(lines.check());
  std::ofstream range(parts.lines(), std::ios::binary | std::ios::trunc);
  std::ofstream overlap(parts.overlap(), std::ios::binary | std::ios::trunc);
  std::string line;
  json object;
  while (true) {
    HET_ASSIGN(const bool is_line, lines.next(line, object));
    if (!is_line) break;
    HET_ASSIGN(const uint64_t time, lines.time_of(line, object));
    if (shard.has(time)) {
      range << line << '\n';
    } else if (time < shard.start_ns) {
      overlap << line << '\n';
    }
  }
  HET_TRY(close_written(range, parts.lines()));
  return close_written(overlap, parts.overlap());
}

void count_frames(const PlannedShard& shard, bool is_whole, const FrameTimes::Frames& frames,
                  ShardNote& note) {
  std::vector<uint64_t> times;
  for (const uint64_t time : frames.times_ns) {
    if (is_whole || shard.has(time)) times.push_back(time);
  }
  note.frames = times.size() + frames.untimed;
  if (!times.empty()) {
    const auto [first, last] = std::ranges::minmax(times);
    note.first_ns = first;
    note.last_ns = last;
  }
  note.timestamps = timestamps_digest(std::move(times), frames.untimed);
}

}  // namespace

ShardParts::ShardParts(const ArchiveFolder& folder, const std::string& key)
    : written_(folder.part(folder.outputs() / (key + ".written.jsonl"))),
      lines_(folder.part(folder.output(key))),
      overlap_(folder.part(folder.overlap_output(key))) {}

ShardParts::~ShardParts() {
  for (const fs::path& path : {written_, lines_, overlap_}) {
    std::error_code failed;
    fs::remove(path, failed);
  }
}

Status finish_shard(const ArchiveFolder& folder, const ArchivePlan& plan, const PlannedShard& shard,
                    const ShardParts& parts, const FrameTimes::Frames& frames, ShardNote& note) {
  const bool is_whole = plan.is_whole(shard);
  HET_TRY(is_whole ? check_lines(parts.written()) : divide_lines(shard, parts));
  const fs::path& lines = is_whole ? parts.written() : parts.lines();
  count_frames(shard, is_whole, frames, note);
  HET_ASSIGN(const FileDigest digest, digest_file(lines.string()));
  note.lines = digest.lines;
  note.bytes = digest.bytes;
  note.sha256 = digest.sha256;
  if (!is_whole && shard.from_ns < shard.start_ns) {
    HET_TRY(keep_part(parts.overlap(), folder.overlap_output(shard.key)));
  }
  HET_TRY(keep_part(lines, folder.output(shard.key)));
  return write_note(folder, note);
}

}  // namespace het::archive
