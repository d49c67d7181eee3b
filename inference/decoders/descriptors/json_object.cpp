#include "inference/decoders/descriptors/json_object.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "inference/decoders/name_list.h"

namespace het {

using nlohmann::json;

Result<JsonObject> JsonObject::at(const json& value, std::string_view origin, std::string path) {
  if (!value.is_object())
    return error(StatusCode::ParseError, "{}: {}: expected an object, found {}", origin,
                 path.empty() ? "document" : path, value.type_name());
  return JsonObject(value, origin, std::move(path));
}

bool JsonObject::has(std::string_view key) const {
  return value_->find(key) != value_->end();
}

const json& JsonObject::operator[](std::string_view key) const {
  static const json kAbsent;
  const auto found = value_->find(key);
  return found == value_->end() ? kAbsent : *found;
}

std::string JsonObject::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

Failure JsonObject::fail(std::string_view key, std::string_view what) const {
  return error(StatusCode::ParseError, "{}: {}: {}", origin_, path_of(key), what);
}

Status JsonObject::allow_keys(const std::vector<std::string_view>& keys) const {
  for (const auto& [key, value] : value_->items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return fail(key, fmt::format("unknown key; allowed here are {}", name_list(keys)));
  }
  return {};
}

Result<std::string> JsonObject::text(std::string_view key, std::string_view fallback) const {
  if (!has(key)) return std::string(fallback);
  const json& value = (*this)[key];
  if (!value.is_string())
    return fail(key, fmt::format("expected a string, found {}", value.type_name()));
  return value.get_ref<const std::string&>();
}

Result<std::string> JsonObject::choice(std::string_view key, std::string_view fallback,
                                       std::initializer_list<std::string_view> allowed) const {
  HET_ASSIGN(std::string value, text(key, fallback));
  if (std::find(allowed.begin(), allowed.end(), value) == allowed.end())
    return fail(key, fmt::format("'{}' is not allowed; use one of {}", value, name_list(allowed)));
  return value;
}

Result<bool> JsonObject::boolean(std::string_view key, bool fallback) const {
  if (!has(key)) return fallback;
  const json& value = (*this)[key];
  if (!value.is_boolean())
    return fail(key, fmt::format("expected true or false, found {}", value.type_name()));
  return value.get<bool>();
}

Result<float> JsonObject::number(std::string_view key, float fallback, float lowest,
                                 float highest) const {
  if (!has(key)) return fallback;
  const json& value = (*this)[key];
  if (!value.is_number())
    return fail(key, fmt::format("expected a number, found {}", value.type_name()));
  const auto number = value.get<double>();
  if (!(number >= lowest && number <= highest))
    return fail(key, fmt::format("{} is outside {}..{}", number, lowest, highest));
  return static_cast<float>(number);
}

Result<int> JsonObject::integer(std::string_view key, int fallback, int lowest, int highest) const {
  if (!has(key)) return fallback;
  const json& value = (*this)[key];
  if (!value.is_number_integer())
    return fail(key, fmt::format("expected an integer, found {}", value.dump()));
  const auto number = value.get<double>();  // of any size without wrapping round
  if (number < lowest || number > highest)
    return fail(key, fmt::format("{} is outside {}..{}", value.dump(), lowest, highest));
  return static_cast<int>(number);
}

Result<std::vector<float>> JsonObject::numbers(std::string_view key, size_t limit) const {
  std::vector<float> numbers;
  if (!has(key)) return numbers;
  const json& value = (*this)[key];
  const bool fits = value.is_array() && value.size() <= limit &&
                    std::all_of(value.begin(), value.end(), [](const json& item) {
                      return item.is_number() && std::abs(item.get<double>()) <= 1e30;
                    });
  if (!fits) return fail(key, fmt::format("expected an array of at most {} numbers", limit));
  for (const json& item : value) numbers.push_back(item.get<float>());
  return numbers;
}

Result<std::vector<std::vector<float>>> JsonObject::number_lists(std::string_view key,
                                                                 size_t limit) const {
  std::vector<std::vector<float>> lists;
  if (!has(key)) return lists;
  const json& value = (*this)[key];
  const auto is_list = [&](const json& list) {
    return list.is_array() && list.size() <= limit &&
           std::all_of(list.begin(), list.end(), [](const json& item) {
             return item.is_number() && std::abs(item.get<double>()) <= 1e30;
           });
  };
  if (!value.is_array() || value.size() > limit ||
      !std::all_of(value.begin(), value.end(), is_list))
    return fail(key, fmt::format("expected at most {0} arrays of at most {0} numbers", limit));
  for (const json& list : value) lists.push_back(list.get<std::vector<float>>());
  return lists;
}

Result<std::vector<int>> JsonObject::integers(std::string_view key, int lowest, int highest,
                                              size_t limit) const {
  std::vector<int> numbers;
  if (!has(key)) return numbers;
  const json& value = (*this)[key];
  const bool fits = value.is_array() && value.size() <= limit &&
                    std::all_of(value.begin(), value.end(), [&](const json& item) {
                      return item.is_number_integer() && item.get<double>() >= lowest &&
                             item.get<double>() <= highest;
                    });
  if (!fits)
    return fail(key, fmt::format("expected at most {} integers in {}..{}", limit, lowest, highest));
  for (const json& item : value) numbers.push_back(item.get<int>());
  return numbers;
}

Result<std::vector<std::string>> JsonObject::texts(std::string_view key, size_t limit) const {
  std::vector<std::string> texts;
  if (!has(key)) return texts;
  const json& value = (*this)[key];
  const bool fits = value.is_array() && std::all_of(value.begin(), value.end(),
                                                    [](const json& i) { return i.is_string(); });
  if (!fits) return fail(key, "expected an array of strings");
  if (value.size() > limit)
    return fail(key, fmt::format("{} strings are more than the limit of {}", value.size(), limit));
  for (const json& item : value) texts.push_back(item.get_ref<const std::string&>());
  return texts;
}

Result<JsonObject> JsonObject::object(std::string_view key) const {
  static const json kEmpty = json::object();
  return at(has(key) ? (*this)[key] : kEmpty, origin_, path_of(key));
}

Result<std::vector<JsonObject>> JsonObject::objects(std::string_view key, size_t limit) const {
  std::vector<JsonObject> objects;
  const json& value = (*this)[key];
  if (!value.is_array())
    return fail(key, fmt::format("expected an array of objects, found {}", value.type_name()));
  if (value.size() > limit)
    return fail(key, fmt::format("{} entries are more than the limit of {}", value.size(), limit));
  for (size_t i = 0; i < value.size(); ++i) {
    HET_ASSIGN(JsonObject item, at(value[i], origin_, fmt::format("{}[{}]", path_of(key), i)));
    objects.push_back(std::move(item));
  }
  return objects;
}

}  // namespace het
