#include "serving/archive/worker/shard_messages.h"

#include "serving/launch/json_object.h"

namespace het::archive {
namespace {

using nlohmann::json;
using serving::JsonObject;

std::string line_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string order_line(const std::string& key) {
  return line_of({{"shard", key}});
}

Result<std::string> parse_order(std::string_view line) {
  HET_ASSIGN(const json value, serving::parse_json_object(line, "an order"));
  JsonObject object(value, "an order");
  std::string key;
  object.read("shard", key);
  HET_TRY(object.finish());
  return key;
}

std::string WorkerAnswer::to_line() const {
  if (kind == Kind::Done) return line_of({{"done", key}, {"frames", frames}, {"seconds", seconds}});
  if (kind == Kind::Progress) return line_of({{"progress", frames}});
  return line_of(
      {{"failed", key}, {"error", error}, {"kind", to_text(failure)}, {"given_up", given_up}});
}

Result<WorkerAnswer> WorkerAnswer::parse(std::string_view line) {
  HET_ASSIGN(const json value, serving::parse_json_object(line, "an answer"));
  WorkerAnswer answer;
  JsonObject object(value, "an answer");
  if (value.contains("done")) {
    answer.kind = Kind::Done;
    object.read("done", answer.key);
    object.read("frames", answer.frames);
    object.read("seconds", answer.seconds);
  } else if (value.contains("failed")) {
    answer.kind = Kind::Failed;
    std::string failure;
    object.read("failed", answer.key);
    object.read("error", answer.error);
    object.read("kind", failure);
    object.read("given_up", answer.given_up);
    answer.failure = failure_kind(failure).value_or(FailureKind::Error);
  } else {
    object.read("progress", answer.frames);
  }
  HET_TRY(object.finish());
  return answer;
}

}  // namespace het::archive
