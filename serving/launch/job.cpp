#include "serving/launch/job.h"

#include <array>
#include <utility>

#include "serving/launch/json_object.h"

namespace het::serving {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<Job::Kind, const char*>, 4> kJobKinds = {
    {{Job::Kind::Run, "run"},
     {Job::Kind::Describe, "describe"},
     {Job::Kind::Trial, "trial"},
     {Job::Kind::Record, "record"}}};

/// Arguments of a command line are bytes: those that are no UTF-8 travel as a list of numbers.
json argument_json(const std::string& argument) {
  const json text = argument;
  if (text.dump(-1, ' ', false, json::error_handler_t::ignore) ==
      text.dump(-1, ' ', false, json::error_handler_t::replace)) {
    return text;
  }
  json bytes = json::array();
  for (const char byte : argument) bytes.push_back(static_cast<unsigned char>(byte));
  return bytes;
}

bool read_argument(const json& value, std::string& argument) {
  if (value.is_string()) {
    argument = value.get<std::string>();
    return true;
  }
  if (!value.is_array()) return false;
  for (const json& byte : value) {
    if (!byte.is_number_unsigned() || byte.get<uint64_t>() > 255) return false;
    argument.push_back(static_cast<char>(byte.get<uint8_t>()));
  }
  return true;
}

void read_streams(JsonObject& job, std::vector<StreamJob>& streams) {
  const json* list = job.array("streams");
  if (!list) return;
  for (const json& item : *list) {
    StreamJob& stream = streams.emplace_back();
    JsonObject object(item, fmt::format("stream {} of {}", streams.size(), job.place()));
    object.read("name", stream.name);
    object.read("decoder_threads", stream.decoder_threads);
    if (const json* arguments = object.array("arguments")) {
      for (const json& argument : *arguments) {
        if (!read_argument(argument, stream.arguments.emplace_back())) {
          object.fail(fmt::format("argument {} is neither a text nor a list of bytes",
                                  stream.arguments.size()));
        }
      }
    }
    if (const Status status = object.finish(); !status.ok()) return job.fail(status.message());
  }
}

void read_defaults(JsonObject& job, std::map<std::string, Properties>& defaults) {
  const json* devices = job.object("defaults");
  if (!devices) return;
  for (const auto& device : devices->items()) {
    Properties& properties = defaults[device.key()];
    if (!device.value().is_object()) {
      return job.fail(fmt::format("defaults of {} are {}, not an object", device.key(),
                                  device.value().type_name()));
    }
    for (const auto& property : device.value().items()) {
      if (!property.value().is_string()) {
        return job.fail(fmt::format("property {} of {} is {}, not a text", property.key(),
                                    device.key(), property.value().type_name()));
      }
      properties[property.key()] = property.value().get<std::string>();
    }
  }
}

void read_back_off(JsonObject& job, BackOff& back_off) {
  const json* value = job.object("back_off");
  if (!value) return;
  JsonObject object(*value, "its back_off");
  object.read("first_s", back_off.first_s);
  object.read("longest_s", back_off.longest_s);
  object.read("stable_s", back_off.stable_s);
  object.read("most", back_off.most);
  if (const Status status = object.finish(); !status.ok()) job.fail(status.message());
}

void read_kind(JsonObject& job, Job::Kind& kind) {
  std::string text;
  job.read("kind", text);
  for (const auto& [value, name] : kJobKinds) {
    if (text != name) continue;
    kind = value;
    return;
  }
  job.fail(fmt::format("'kind' is '{}', not run, describe, trial or record", text));
}

}  // namespace

std::string Job::to_json() const {
  json value;
  for (const auto& [known, name] : kJobKinds) {
    if (known == kind) value["kind"] = name;
  }
  value["instance"] = instance;
  value["number"] = number;
  value["restarts"] = restarts;
  value["streams"] = json::array();
  for (const StreamJob& stream : streams) {
    json arguments = json::array();
    for (const std::string& argument : stream.arguments) {
      arguments.push_back(argument_json(argument));
    }
    value["streams"].push_back({{"name", stream.name},
                                {"arguments", std::move(arguments)},
                                {"decoder_threads", stream.decoder_threads}});
  }
  value["defaults"] = json::object();
  for (const auto& [device, properties] : defaults) {
    value["defaults"][device] = json::object();
    for (const auto& [name, text] : properties) value["defaults"][device][name] = text;
  }
  value["trial_s"] = trial_s;
  value["loops"] = loops;
  value["unpaced"] = unpaced;
  value["record_frames"] = record_frames;
  value["back_off"] = {{"first_s", back_off.first_s},
                       {"longest_s", back_off.longest_s},
                       {"stable_s", back_off.stable_s},
                       {"most", back_off.most}};
  value["stop_timeout_s"] = stop_timeout_s;
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Job> Job::parse(std::string_view text) {
  HET_ASSIGN(const json value, parse_json_object(text, "a job"));
  Job job;
  JsonObject object(value, "a job");
  read_kind(object, job.kind);
  object.read("instance", job.instance);
  object.read("number", job.number);
  object.read("restarts", job.restarts);
  read_streams(object, job.streams);
  read_defaults(object, job.defaults);
  object.read("trial_s", job.trial_s);
  object.read("loops", job.loops);
  object.read("unpaced", job.unpaced);
  object.read("record_frames", job.record_frames);
  read_back_off(object, job.back_off);
  object.read("stop_timeout_s", job.stop_timeout_s);
  HET_TRY(object.finish());
  return job;
}

}  // namespace het::serving
