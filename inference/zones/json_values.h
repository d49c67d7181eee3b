#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "configuration.h"

/// Values of a configuration; every failure is a ParseError that begins with the value's path.
namespace het::zones {

/// A JSON value and where it is: "zones[2].points[1]"; empty for the whole text.
struct JsonValue {
  const nlohmann::json* json = nullptr;
  std::string path;

  JsonValue item(size_t index) const;
  /// A member of an object; none where it is missing.
  std::optional<JsonValue> member(const char* key) const;
  /// The same; missing is a failure.
  Result<JsonValue> needed(const char* key) const;
  /// "zones[2].points[1].x: text".
  Failure failure(std::string_view text) const;
  /// The value, as messages show it.
  std::string shown() const;

  Status is_object(std::initializer_list<std::string_view> keys) const;
  Status is_array(size_t least, size_t most) const;
  Result<double> number(double low, double high) const;
  Result<std::string> text() const;
  /// The index of a text among `names`.
  Result<size_t> one_of(std::initializer_list<std::string_view> names) const;
};

Result<Point> read_point(const JsonValue& value, Units units);
Result<std::optional<Units>> read_units(const JsonValue& object);
Result<std::vector<std::string>> read_classes(const JsonValue& object);
Result<std::optional<Anchor>> read_anchor(const JsonValue& object);
/// A member in units of the object.
Result<std::optional<Length>> read_length(const JsonValue& object, const char* key, Units units);
/// A member in seconds.
Result<std::optional<double>> read_seconds(const JsonValue& object, const char* key);
Result<Drawing> read_drawing(const JsonValue& object);

}  // namespace het::zones
