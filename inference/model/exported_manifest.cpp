#include "inference/model/exported_manifest.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace het {
namespace {

using Json = nlohmann::json;

Failure malformed_manifest(std::string_view name) {
  return error(StatusCode::ParseError,
               "the manifest of the exported model has no usable '{}'; export the model again",
               name.substr(0, 256));
}

bool is_text(const Json& value) {
  return value.is_string();
}

template <class Map>
auto entry(const Map& map, const std::string& name) -> Result<typename Map::mapped_type> {
  const auto found = map.find(name);
  if (found == map.end()) return malformed_manifest(name);
  return found->second;
}

}  // namespace

std::string ExportedManifest::to_json() const {
  Json json = Json::object();
  for (const auto& [name, value] : texts) json[name] = value;
  for (const auto& [name, value] : pairs) json[name] = value;
  for (const auto& [name, value] : lists) json[name] = value;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<ExportedManifest> ExportedManifest::parse(std::span<const std::byte> json) {
  const auto* text = reinterpret_cast<const char*>(json.data());
  const Json all = Json::parse(text, text + json.size(), nullptr, false);
  if (!all.is_object()) return malformed_manifest("object");
  ExportedManifest manifest;
  for (const auto& [name, value] : all.items()) {
    if (value.is_string()) {
      manifest.texts[name] = value.get<std::string>();
      continue;
    }
    if (!value.is_structured() || !std::ranges::all_of(value, is_text))
      return malformed_manifest(name);
    if (value.is_array()) {
      manifest.lists[name] = value.get<std::vector<std::string>>();
    } else {
      manifest.pairs[name] = value.get<std::map<std::string, std::string>>();
    }
  }
  return manifest;
}

Result<std::string> ExportedManifest::text(const std::string& name) const {
  return entry(texts, name);
}

Result<std::map<std::string, std::string>> ExportedManifest::pairs_of(
    const std::string& name) const {
  return entry(pairs, name);
}

Result<std::vector<std::string>> ExportedManifest::list(const std::string& name) const {
  return entry(lists, name);
}

}  // namespace het
