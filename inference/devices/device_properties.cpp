#include "inference/devices/device_properties.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace het {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

Failure malformed(std::string_view text) {
  return error(StatusCode::ParseError,
               "'{}' is not of the form {{CPU:{{NUM_STREAMS:2}},GPU:{{PERF_COUNT:YES}}}}, nor a "
               "JSON object of objects",
               text);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The entries of "{KEY:VALUE,KEY:VALUE}"; brackets and braces in values must match.
Result<Entries> entries_of(std::string_view text) {
  const std::string_view whole = text = trimmed(text);
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return malformed(whole);
  text = text.substr(1, text.size() - 2);
  Entries entries;
  while (!trimmed(text).empty()) {
    size_t depth = 0;
    size_t end = 0;
    for (; end < text.size() && (text[end] != ',' || depth > 0); ++end) {
      if (text[end] == '{' || text[end] == '[') ++depth;
      if (text[end] != '}' && text[end] != ']') continue;
      if (depth == 0) return malformed(whole);
      --depth;
    }
    const std::string_view entry = text.substr(0, end);
    const size_t colon = entry.find(':');
    if (depth != 0 || colon == std::string_view::npos) return malformed(whole);
    const std::string_view key = trimmed(entry.substr(0, colon));
    if (key.empty()) return malformed(whole);
    entries.emplace_back(key, trimmed(entry.substr(colon + 1)));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

/// Numbers and booleans as users would write them.
std::string text_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "YES" : "NO";
  return value.dump();
}

}  // namespace

Result<std::map<std::string, Properties>> parse_device_properties(std::string_view text) {
  std::map<std::string, Properties> result;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_discarded()) {
    if (!json.is_object()) return malformed(text);
    for (const auto& [device, properties] : json.items()) {
      if (!properties.is_object()) return malformed(text);
      for (const auto& [name, value] : properties.items()) {
        if (value.is_structured()) return malformed(text);
        result[device][name] = text_of(value);
      }
    }
    return result;
  }
  HET_ASSIGN(const Entries devices, entries_of(text));
  for (const auto& [device, properties] : devices) {
    HET_ASSIGN(const Entries entries, entries_of(properties));
    for (const auto& [name, value] : entries) result[device][name] = value;
  }
  return result;
}

}  // namespace het
