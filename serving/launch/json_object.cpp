#include "serving/launch/json_object.h"

#include <utility>

namespace het::serving {

using nlohmann::json;

JsonObject::JsonObject(const json& value, std::string place)
    : value_(value), place_(std::move(place)) {
  if (!value_.is_object()) fail(fmt::format("it is {}, not an object", value_.type_name()));
}

void JsonObject::fail(std::string message) {
  if (problem_.empty()) problem_ = std::move(message);
}

const json* JsonObject::member(const char* key, std::string_view wanted, IsType is_type) {
  asked_.emplace(key);
  if (!problem_.empty()) return nullptr;
  const auto found = value_.find(key);
  if (found == value_.end()) {
    fail(fmt::format("'{}' is missing", key));
    return nullptr;
  }
  if (is_type && !((*found).*is_type)()) {
    fail(fmt::format("'{}' is {}, not {}", key, found->type_name(), wanted));
    return nullptr;
  }
  return &*found;
}

void JsonObject::read(const char* key, std::string& value) {
  if (const json* found = member(key, "a text", &json::is_string)) {
    value = found->get_ref<const std::string&>();
  }
}

void JsonObject::read(const char* key, bool& value) {
  if (const json* found = member(key, "true or false", &json::is_boolean)) {
    value = found->get<bool>();
  }
}

void JsonObject::read(const char* key, double& value) {
  if (const json* found = member(key, "a number", &json::is_number)) value = found->get<double>();
}

const json* JsonObject::array(const char* key) {
  return member(key, "a list", &json::is_array);
}

const json* JsonObject::object(const char* key) {
  return member(key, "an object", &json::is_object);
}

const json* JsonObject::any(const char* key) {
  return member(key, "", nullptr);
}

Status JsonObject::finish() {
  if (problem_.empty()) {
    for (const auto& item : value_.items()) {
      if (!asked_.contains(item.key())) fail(fmt::format("'{}' is not known", item.key()));
    }
  }
  if (problem_.empty()) return {};
  return error(StatusCode::ParseError, "cannot read {}: {}", place_, problem_);
}

Result<json> parse_json_object(std::string_view text, std::string_view what) {
  json value = json::parse(text, nullptr, false);
  if (value.is_discarded()) {
    return error(StatusCode::ParseError, "cannot read {}: {} bytes that are no JSON", what,
                 text.size());
  }
  if (!value.is_object()) {
    return error(StatusCode::ParseError, "cannot read {}: it is {}, not an object", what,
                 value.type_name());
  }
  return value;
}

}  // namespace het::serving
