#include "serving/launch/report.h"

#include <functional>
#include <utility>

#include "serving/launch/json_object.h"

namespace het::serving {
namespace {

using nlohmann::json;

void read_texts(JsonObject& object, const char* key, std::vector<std::string>& texts) {
  const json* list = object.array(key);
  if (!list) return;
  for (const json& item : *list) {
    if (!item.is_string()) {
      return object.fail(fmt::format("'{}' has {} among its texts", key, item.type_name()));
    }
    texts.push_back(item.get<std::string>());
  }
}

/// Reads the objects of a list, each by `read`, which finds its place in messages there.
void read_objects(JsonObject& object, const char* key,
                  const std::function<void(JsonObject&)>& read) {
  const json* list = object.array(key);
  if (!list) return;
  for (size_t i = 0; i < list->size(); ++i) {
    JsonObject item((*list)[i], fmt::format("{} {} of {}", key, i + 1, object.place()));
    read(item);
    if (const Status status = item.finish(); !status.ok()) return object.fail(status.message());
  }
}

json content_json(const StreamDescription& description) {
  json value = {{"report", "description"},
                {"stream", description.stream},
                {"inferences", json::array()},
                {"device_files", description.device_files},
                {"written_files", description.written_files},
                {"decoders", json::array()}};
  for (const StreamDescription::Inference& inference : description.inferences) {
    json properties = json::array();
    for (const auto& [name, text] : inference.properties) {
      properties.push_back({{"name", name}, {"value", text}});
    }
    value["inferences"].push_back({{"element", inference.element},
                                   {"device", inference.device},
                                   {"model", inference.model},
                                   {"properties", std::move(properties)}});
  }
  for (const StreamDescription::Decoder& decoder : description.decoders) {
    value["decoders"].push_back({{"element", decoder.element}, {"threads", decoder.threads}});
  }
  return value;
}

void read_content(JsonObject& object, StreamDescription& description) {
  object.read("stream", description.stream);
  read_objects(object, "inferences", [&](JsonObject& item) {
    StreamDescription::Inference& inference = description.inferences.emplace_back();
    item.read("element", inference.element);
    item.read("device", inference.device);
    item.read("model", inference.model);
    read_objects(item, "properties", [&](JsonObject& property) {
      auto& [name, text] = inference.properties.emplace_back();
      property.read("name", name);
      property.read("value", text);
    });
  });
  read_texts(object, "device_files", description.device_files);
  read_texts(object, "written_files", description.written_files);
  read_objects(object, "decoders", [&](JsonObject& item) {
    StreamDescription::Decoder& decoder = description.decoders.emplace_back();
    item.read("element", decoder.element);
    item.read("threads", decoder.threads);
  });
}

json content_json(const StreamPlays& plays) {
  return {{"report", "plays"}, {"stream", plays.stream}, {"run", plays.run}};
}

void read_content(JsonObject& object, StreamPlays& plays) {
  object.read("stream", plays.stream);
  object.read("run", plays.run);
}

json content_json(const StreamFailed& failed) {
  return {{"report", "failed"},
          {"stream", failed.stream},
          {"reason", failed.reason},
          {"retry_in_s", failed.retry_in_s}};
}

void read_content(JsonObject& object, StreamFailed& failed) {
  object.read("stream", failed.stream);
  object.read("reason", failed.reason);
  object.read("retry_in_s", failed.retry_in_s);
}

json content_json(const StreamEnded& ended) {
  return {{"report", "ended"}, {"stream", ended.stream}};
}

void read_content(JsonObject& object, StreamEnded& ended) {
  object.read("stream", ended.stream);
}

json content_json(const Progress& progress) {
  json streams = json::array();
  for (const Progress::Stream& stream : progress.streams) {
    streams.push_back({{"stream", stream.stream},
                       {"state", stream.state},
                       {"frames", stream.frames},
                       {"runs", stream.runs}});
  }
  return {{"report", "progress"},
          {"wall_s", progress.wall_s},
          {"cpu_s", progress.cpu_s},
          {"streams", std::move(streams)}};
}

void read_content(JsonObject& object, Progress& progress) {
  object.read("wall_s", progress.wall_s);
  object.read("cpu_s", progress.cpu_s);
  read_objects(object, "streams", [&](JsonObject& item) {
    Progress::Stream& stream = progress.streams.emplace_back();
    item.read("stream", stream.stream);
    item.read("state", stream.state);
    item.read("frames", stream.frames);
    item.read("runs", stream.runs);
  });
}

json content_json(const TrialResult& result) {
  return {{"report", "trial"},
          {"wall_s", result.wall_s},
          {"cpu_s", result.cpu_s},
          {"decoding_s", result.decoding_s},
          {"inference_s", result.inference_s},
          {"frames", result.frames},
          {"ended_early", result.ended_early}};
}

void read_content(JsonObject& object, TrialResult& result) {
  object.read("wall_s", result.wall_s);
  object.read("cpu_s", result.cpu_s);
  object.read("decoding_s", result.decoding_s);
  object.read("inference_s", result.inference_s);
  object.read("frames", result.frames);
  object.read("ended_early", result.ended_early);
}

json content_json(const RecordedFrame& frame) {
  json objects = json::array();
  for (const RecordedFrame::Object& object : frame.objects) {
    objects.push_back({{"label", object.label},
                       {"left", object.left},
                       {"top", object.top},
                       {"width", object.width},
                       {"height", object.height},
                       {"confidence", object.confidence},
                       {"attributes", object.attributes}});
  }
  return {{"report", "frame"},
          {"element", frame.element},
          {"index", frame.index},
          {"objects", std::move(objects)}};
}

void read_content(JsonObject& object, RecordedFrame& frame) {
  object.read("element", frame.element);
  object.read("index", frame.index);
  read_objects(object, "objects", [&](JsonObject& item) {
    RecordedFrame::Object& found = frame.objects.emplace_back();
    item.read("label", found.label);
    item.read("left", found.left);
    item.read("top", found.top);
    item.read("width", found.width);
    item.read("height", found.height);
    item.read("confidence", found.confidence);
    read_texts(item, "attributes", found.attributes);
  });
}

template <class Content>
Result<Report> read_report(JsonObject& object) {
  Content content;
  read_content(object, content);
  HET_TRY(object.finish());
  return Report{std::move(content)};
}

}  // namespace

std::string Report::to_line() const {
  const json value = std::visit([](const auto& held) { return content_json(held); }, content);
  return value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<Report> Report::parse(std::string_view line) {
  HET_ASSIGN(const json value, parse_json_object(line, "a report"));
  JsonObject object(value, "a report");
  std::string kind;
  object.read("report", kind);
  if (kind == "description") return read_report<StreamDescription>(object);
  if (kind == "plays") return read_report<StreamPlays>(object);
  if (kind == "failed") return read_report<StreamFailed>(object);
  if (kind == "ended") return read_report<StreamEnded>(object);
  if (kind == "progress") return read_report<Progress>(object);
  if (kind == "trial") return read_report<TrialResult>(object);
  if (kind == "frame") return read_report<RecordedFrame>(object);
  object.fail(fmt::format("there is none of kind '{}'", kind));
  return Failure(object.finish());
}

}  // namespace het::serving
