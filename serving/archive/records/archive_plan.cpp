#include "serving/archive/records/archive_plan.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "inference/base/new_file.h"
#include "serving/launch/json_object.h"

namespace het::archive {
namespace {

using nlohmann::json;
using serving::JsonObject;

constexpr uint64_t kFormat = 1;

json video_json(const PlannedVideo& video) {
  return {{"name", video.name},
          {"uri", video.uri},
          {"path", video.path},
          {"content", video.content},
          {"bytes", video.bytes},
          {"frames", video.frames},
          {"duration_ns", video.duration_ns},
          {"error", video.error ? json(*video.error) : json()},
          {"shards", video.shards}};
}

json shard_json(const PlannedShard& shard) {
  return {{"key", shard.key},           {"video", shard.video},
          {"start_ns", shard.start_ns}, {"stop_ns", shard.stop_ns ? json(*shard.stop_ns) : json()},
          {"from_ns", shard.from_ns},   {"frames", shard.frames}};
}

bool read_indices(const json& list, std::vector<size_t>& indices) {
  for (const json& item : list) {
    if (!item.is_number_unsigned()) return false;
    indices.push_back(item.get<size_t>());
  }
  return true;
}

Status read_video(const json& value, const std::string& place, PlannedVideo& video) {
  JsonObject object(value, place);
  object.read("name", video.name);
  object.read("uri", video.uri);
  object.read("path", video.path);
  object.read("content", video.content);
  object.read("bytes", video.bytes);
  object.read("frames", video.frames);
  object.read("duration_ns", video.duration_ns);
  if (const json* reason = object.any("error"); reason && !reason->is_null()) {
    if (!reason->is_string()) object.fail("'error' is neither a text nor null");
    video.error = reason->is_string() ? reason->get<std::string>() : "";
  }
  if (const json* list = object.array("shards"); list && !read_indices(*list, video.shards)) {
    object.fail("'shards' are not all indices");
  }
  return object.finish();
}

Status read_shard(const json& value, const std::string& place, PlannedShard& shard) {
  JsonObject object(value, place);
  object.read("key", shard.key);
  object.read("video", shard.video);
  object.read("start_ns", shard.start_ns);
  object.read("from_ns", shard.from_ns);
  object.read("frames", shard.frames);
  if (const json* stop = object.any("stop_ns"); stop && !stop->is_null()) {
    if (!stop->is_number_unsigned()) object.fail("'stop_ns' is neither a time nor null");
    shard.stop_ns = stop->is_number_unsigned() ? stop->get<uint64_t>() : 0;
  }
  return object.finish();
}

/// A key becomes the name of files.
bool is_key(const std::string& key) {
  return !key.empty() && key.find_first_not_of("0123456789abcdef") == std::string::npos;
}

Status check_indices(const ArchivePlan& plan, const std::string& place) {
  std::vector<size_t> owners(plan.shards.size(), plan.videos.size());
  for (size_t i = 0; i < plan.videos.size(); ++i) {
    if (plan.videos[i].shards.empty()) {
      return error(StatusCode::ParseError, "{}: video {} has no shard", place, i);
    }
    for (const size_t shard : plan.videos[i].shards) {
      if (shard >= plan.shards.size() || plan.shards[shard].video != i) {
        return error(StatusCode::ParseError, "{}: shard {} of video {} is not one of its own",
                     place, shard, i);
      }
      owners[shard] = i;
    }
  }
  for (size_t i = 0; i < plan.shards.size(); ++i) {
    if (owners[i] == plan.videos.size()) {
      return error(StatusCode::ParseError, "{}: shard {} belongs to no video", place, i);
    }
    if (!is_key(plan.shards[i].key)) {
      return error(StatusCode::ParseError, "{}: '{}' is no key of a shard", place,
                   plan.shards[i].key);
    }
  }
  return {};
}

}  // namespace

std::string ArchivePlan::to_json() const {
  json value = {{"format", kFormat},
                {"pipeline", pipeline},
                {"version", version},
                {"options", {{"shard_s", shard_s}, {"overlap_s", overlap_s}}}};
  value["videos"] = json::array();
  for (const PlannedVideo& video : videos) value["videos"].push_back(video_json(video));
  value["shards"] = json::array();
  for (const PlannedShard& shard : shards) value["shards"].push_back(shard_json(shard));
  return value.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<ArchivePlan> ArchivePlan::parse(std::string_view text, const std::string& place) {
  HET_ASSIGN(const json value, serving::parse_json_object(text, place));
  ArchivePlan plan;
  JsonObject object(value, place);
  uint64_t format = 0;
  object.read("format", format);
  if (format != kFormat) {
    return error(StatusCode::ParseError, "{} has format {}, not {}; plan it again", place, format,
                 kFormat);
  }
  object.read("version", plan.version);
  if (const json* words = object.array("pipeline")) {
    for (const json& word : *words) {
      if (!word.is_string()) object.fail("a word of 'pipeline' is no text");
      plan.pipeline.push_back(word.is_string() ? word.get<std::string>() : "");
    }
  }
  if (const json* options = object.object("options")) {
    JsonObject inner(*options, place + ", options");
    inner.read("shard_s", plan.shard_s);
    inner.read("overlap_s", plan.overlap_s);
    HET_TRY(inner.finish());
  }
  if (const json* list = object.array("videos")) {
    for (const json& item : *list) {
      const std::string what = fmt::format("video {} of {}", plan.videos.size(), place);
      HET_TRY(read_video(item, what, plan.videos.emplace_back()));
    }
  }
  if (const json* list = object.array("shards")) {
    for (const json& item : *list) {
      const std::string what = fmt::format("shard {} of {}", plan.shards.size(), place);
      HET_TRY(read_shard(item, what, plan.shards.emplace_back()));
    }
  }
  HET_TRY(object.finish());
  HET_TRY(check_indices(plan, place));
  return plan;
}

Result<ArchivePlan> read_plan(const ArchiveFolder& folder) {
  HET_TRY(folder.check_exists());
  const Result<std::string> text = read_text(folder.plan());
  if (!text) {
    return Failure(text.error().with_context(
        fmt::format("'{}' has no plan; `hetero archive plan` makes one", folder.path().string())));
  }
  return ArchivePlan::parse(*text, folder.plan().string());
}

Status write_plan(const ArchiveFolder& folder, const ArchivePlan& plan) {
  return write_new_file(folder.plan().string(), plan.to_json());
}

Result<std::string> read_text(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {});
  if (file.fail() || file.bad()) {
    return error(StatusCode::NotFound, "cannot read '{}': {}", path.string(),
                 errno != 0 ? std::strerror(errno) : "not all of it came");
  }
  return text;
}

}  // namespace het::archive
