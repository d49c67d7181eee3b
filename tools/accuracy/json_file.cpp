#include "tools/accuracy/json_file.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

namespace het {
namespace {

/// No picture is as large; products of such numbers stay finite.
constexpr double kMostPixels = 1e9;

/// What stands where something else is wanted; long values are cut.
std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

}  // namespace

Result<nlohmann::json> read_json_file(const std::string& path) {
  std::error_code code;
  if (std::filesystem::is_directory(path, code)) {
    return error(StatusCode::NotFound, "'{}' is a folder, not a JSON file", path);
  }
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return error(StatusCode::NotFound, "cannot open '{}'", path);
  try {
    return nlohmann::json::parse(stream);
  } catch (const nlohmann::json::exception& exception) {
    return error(StatusCode::ParseError, "'{}' is no JSON: {}", path, exception.what());
  }
}

Result<const nlohmann::json*> json_list(const nlohmann::json& document, std::string_view file,
                                        const char* key) {
  if (!document.is_object() || !document.contains(key) || !document[key].is_array()) {
    return error(StatusCode::ParseError, "{}: there is no list '{}'", file, key);
  }
  return &document[key];
}

Result<JsonEntry> JsonEntry::at(const nlohmann::json& list, std::string_view file,
                                std::string_view list_name, size_t index) {
  JsonEntry entry(list[index], file, fmt::format("{}[{}]", list_name, index));
  if (entry.value_->is_object()) return entry;
  return error(StatusCode::ParseError, "{}: {} is no object but {}", file, entry.place_,
               shown(*entry.value_));
}

bool JsonEntry::has(const char* key) const {
  return value_->contains(key);
}

const nlohmann::json& JsonEntry::operator[](const char* key) const {
  static const nlohmann::json kAbsent;
  const auto found = value_->find(key);
  return found == value_->end() ? kAbsent : *found;
}

Failure JsonEntry::fail(const char* key, std::string_view what) const {
  return error(StatusCode::ParseError, "{}: {}.{}: {}", file_, place_, key, what);
}

Result<int64_t> JsonEntry::integer(const char* key) const {
  const nlohmann::json& value = (*this)[key];
  const bool is_too_large =
      value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX);
  if (!value.is_number_integer() || is_too_large) {
    return fail(key, has(key) ? "a whole number is wanted, not " + shown(value) : "is missing");
  }
  return value.get<int64_t>();
}

Result<double> JsonEntry::number(const char* key) const {
  const nlohmann::json& value = (*this)[key];
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    return fail(key, has(key) ? "a finite number is wanted, not " + shown(value) : "is missing");
  }
  return value.get<double>();
}

Result<std::string> JsonEntry::text(const char* key) const {
  const nlohmann::json& value = (*this)[key];
  if (!value.is_string()) {
    return fail(key, has(key) ? "a text is wanted, not " + shown(value) : "is missing");
  }
  return value.get<std::string>();
}

Result<std::vector<double>> JsonEntry::box(const char* key) const {
  const nlohmann::json& value = (*this)[key];
  if (!has(key)) return fail(key, "is missing");
  std::vector<double> numbers;
  if (value.is_array() && value.size() == 4) {
    for (const nlohmann::json& number : value) {
      if (number.is_number() && std::abs(number.get<double>()) <= kMostPixels) {
        numbers.push_back(number.get<double>());
      }
    }
  }
  if (numbers.size() != 4 || numbers[2] < 0.0 || numbers[3] < 0.0) {
    return fail(key,
                "[x, y, width, height] in pixels is wanted, four numbers, no negative size "
                "and none above 1e9, not " +
                    shown(value));
  }
  return numbers;
}

}  // namespace het
