#include "inference/decoders/descriptors/known_models.h"

#include <nlohmann/json.hpp>

#include "inference/base/log.h"
#include "inference/decoders/descriptors/known_models_text.h"
#include "inference/decoders/model_proc.h"

namespace het {
namespace {

using nlohmann::json;

Result<KnownReading> parse_known_reading(const json& entry) {
  KnownReading reading;
  reading.source = entry.at("source").get<std::string>();
  for (const auto& [name, shape] : entry.at("outputs").items())
    reading.outputs[name] = shape.is_array() ? shape.get<Shape>() : Shape{shape.get<int64_t>()};
  if (entry.contains("picture")) reading.picture = entry.at("picture").get<Shape>();
  json descriptor{{"json_schema_version", "2.2.0"},
                  {"output_postproc", entry.at("output_postproc")}};
  if (entry.contains("input_preproc")) descriptor["input_preproc"] = entry["input_preproc"];
  HET_ASSIGN(ModelProc model_proc, parse_model_proc(descriptor.dump(), reading.source));
  reading.configs = std::move(model_proc.outputs);
  if (!model_proc.inputs.empty()) reading.pictures = std::move(model_proc.inputs.front());
  return reading;
}

}  // namespace

Result<KnownModels> parse_known_models(std::string_view json_text) {
  KnownModels known;
  try {
    const json document = json::parse(json_text);
    for (const json& entry : document.at("readings")) {
      HET_ASSIGN(KnownReading reading, parse_known_reading(entry));
      known.readings.push_back(std::move(reading));
    }
    known.labels = document.at("labels").get<std::map<std::string, std::vector<std::string>>>();
  } catch (const json::exception& failure) {
    return error(StatusCode::ParseError, "the list of known models: {}", failure.what());
  }
  return known;
}

const KnownModels& known_models() {
  static const KnownModels kKnown = [] {
    Result<KnownModels> parsed = parse_known_models(known_models_text());
    if (parsed) return std::move(*parsed);
    log(LogLevel::Error, "{}", parsed.error().message());  // a test reads it, so never
    return KnownModels{};
  }();
  return kKnown;
}

}  // namespace het
