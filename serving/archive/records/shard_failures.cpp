#include "serving/archive/records/shard_failures.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "inference/base/new_file.h"
#include "serving/archive/records/archive_plan.h"
#include "serving/launch/json_object.h"

namespace het::archive {
namespace {

using nlohmann::json;
using serving::JsonObject;

constexpr std::array<std::pair<FailureKind, const char*>, 3> kKinds = {
    {{FailureKind::Error, "error"}, {FailureKind::Crash, "crash"}, {FailureKind::Stall, "stall"}}};

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

Status read_try(const json& value, const std::string& place, FailedTry& failed) {
  JsonObject object(value, place);
  std::string kind;
  object.read("time", failed.time);
  object.read("host", failed.host);
  object.read("kind", kind);
  object.read("error", failed.error);
  HET_TRY(object.finish());
  const std::optional<FailureKind> known = failure_kind(kind);
  if (!known) {
    return error(StatusCode::ParseError, "{}: '{}' is not error, crash or stall", place, kind);
  }
  failed.kind = *known;
  return {};
}

}  // namespace

const char* to_text(FailureKind kind) {
  for (const auto& [known, text] : kKinds) {
    if (known == kind) return text;
  }
  return "error";
}

std::optional<FailureKind> failure_kind(std::string_view text) {
  for (const auto& [known, name] : kKinds) {
    if (text == name) return known;
  }
  return std::nullopt;
}

std::string ShardFailures::to_json() const {
  json value = {{"key", key}, {"given_up", given_up}, {"tries", json::array()}};
  for (const FailedTry& failed : tries) {
    value["tries"].push_back({{"time", failed.time},
                              {"host", failed.host},
                              {"kind", to_text(failed.kind)},
                              {"error", failed.error}});
  }
  return value.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<ShardFailures> ShardFailures::parse(std::string_view text, const std::string& place) {
  HET_ASSIGN(const json value, serving::parse_json_object(text, place));
  ShardFailures failures;
  JsonObject object(value, place);
  object.read("key", failures.key);
  object.read("given_up", failures.given_up);
  if (const json* list = object.array("tries")) {
    for (const json& item : *list) {
      const std::string what = fmt::format("try {} of {}", failures.tries.size(), place);
      HET_TRY(read_try(item, what, failures.tries.emplace_back()));
    }
  }
  HET_TRY(object.finish());
  return failures;
}

Result<ShardFailures> read_failures(const ArchiveFolder& folder, const std::string& key) {
  const std::filesystem::path path = folder.failures(key);
  if (::access(path.c_str(), F_OK) != 0) return ShardFailures{key, {}, false};
  HET_ASSIGN(const std::string text, read_text(path));
  return ShardFailures::parse(text, path.string());
}

Result<ShardFailures> add_failure(const ArchiveFolder& folder, const std::string& key,
                                  FailureKind kind, const std::string& error, size_t most) {
  HET_ASSIGN(ShardFailures failures, read_failures(folder, key));
  failures.tries.push_back({time_text(), host_name(), kind, error});
  failures.given_up = failures.tries.size() >= most;
  HET_TRY(write_new_file(folder.failures(key).string(), failures.to_json()));
  return failures;
}

Status remove_failures(const ArchiveFolder& folder, const std::string& key) {
  const std::filesystem::path path = folder.failures(key);
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return {};
  return error(StatusCode::Internal, "cannot remove '{}': {}", path.string(), std::strerror(errno));
}

}  // namespace het::archive
