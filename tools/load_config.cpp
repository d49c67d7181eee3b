#include "tools/load_config.h"

#include <fstream>
#include <nlohmann/json.hpp>

namespace het {

Result<Properties> read_config(Core& core, const std::string& path, const std::string& device) {
  Properties own;
  if (path.empty()) return own;
  std::ifstream stream(path);
  if (!stream) return error(StatusCode::NotFound, "cannot open -load_config '{}'", path);
  const std::string kind = parse_device_name(device).kind;
  try {
    const nlohmann::json config = nlohmann::json::parse(stream);
    for (const auto& [section, values] : config.items()) {
      Properties properties;
      for (const auto& [name, value] : values.items()) {
        properties[name] = value.is_string() ? value.get<std::string>() : value.dump();
      }
      if (section == device || section == kind) {
        own.merge(properties);
        continue;
      }
      Status status = core.devices().check_kind(section);
      const bool is_kind = status.ok();
      if (is_kind && !core.devices().is_composite(kind)) continue;
      if (is_kind) status = core.set_property(section, properties);
      if (status.ok() || (is_kind && status.code() == StatusCode::NotFound)) continue;
      return error(status.code(), "-load_config '{}', section '{}': {}", path, section,
                   status.message());
    }
  } catch (const nlohmann::json::exception& exception) {
    return error(StatusCode::ParseError, "-load_config '{}': {}", path, exception.what());
  }
  return own;
}

}  // namespace het
