#include "json_text.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

namespace het::zones {
namespace {

using nlohmann::json;

constexpr std::streamoff kMaxConfigurationBytes = 1 << 20;

/// "line 3, column 7" of a byte, which counts from 1.
std::string place_of_byte(const std::string& text, size_t byte) {
  const auto end =
      text.begin() + static_cast<std::ptrdiff_t>(std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = 1 + std::count(text.begin(), end, '\n');
  const auto start = std::find(std::make_reverse_iterator(end), text.rend(), '\n').base();
  return fmt::format("line {}, column {}", line, end - start + 1);
}

/// The library's text without the name of its exception and the place, which counts bytes.
std::string reason_of(const json::exception& failure) {
  std::string reason = failure.what();
  for (const char* mark : {"] ", "column "}) {
    const size_t at = reason.find(mark);
    if (at != std::string::npos) reason.erase(0, at + std::string(mark).size());
  }
  const size_t colon = reason.find(": ");
  return colon == std::string::npos ? reason : reason.substr(colon + 2);
}

}  // namespace

Result<json> parse_json_text(const std::string& text) {
  std::vector<std::set<std::string>> open_objects;
  std::string repeated;
  const auto note = [&](int, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == json::parse_event_t::object_end && !open_objects.empty()) open_objects.pop_back();
    if (event == json::parse_event_t::key && !open_objects.empty() &&
        !open_objects.back().insert(value.get<std::string>()).second && repeated.empty())
      repeated = value.get<std::string>();
    return true;
  };
  try {
    json content = json::parse(text, note);
    if (!repeated.empty())
      return error(StatusCode::ParseError, "an object has the key \"{}\" twice; remove one",
                   repeated);
    return content;
  } catch (const json::parse_error& failure) {
    return error(StatusCode::ParseError, "no JSON at {}: {}", place_of_byte(text, failure.byte),
                 reason_of(failure));
  } catch (const json::exception& failure) {
    return error(StatusCode::ParseError, "no JSON: {}", reason_of(failure));
  }
}

Result<json> parse_json_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return error(StatusCode::NotFound, "cannot open '{}'", path);
  const std::streamoff size = file.tellg();
  if (size > kMaxConfigurationBytes)
    return error(StatusCode::InvalidArgument, "'{}' has {} bytes, and at most {} are read", path,
                 size, kMaxConfigurationBytes);
  file.seekg(0);
  std::string text(static_cast<size_t>(std::max<std::streamoff>(size, 0)), '\0');
  if (size < 0 || !file.read(text.data(), size))
    return error(StatusCode::NotFound, "cannot read '{}'; it has to be a file", path);
  Result<json> content = parse_json_text(text);
  if (!content) return Failure(content.error().with_context(fmt::format("'{}'", path)));
  return content;
}

}  // namespace het::zones
