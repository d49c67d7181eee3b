#include "json_values.h"

#include <algorithm>
#include <cmath>

#include "geometry.h"

namespace het::zones {
namespace {

constexpr size_t kMaxTextBytes = 256;
constexpr size_t kMaxClassesOfShape = 1000;
constexpr double kMaxSeconds = 1e6;
constexpr int kMaxThickness = 100;

std::string joined(std::initializer_list<std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

}  // namespace

JsonValue JsonValue::item(size_t index) const {
  return {&(*json)[index], fmt::format("{}[{}]", path, index)};
}

std::optional<JsonValue> JsonValue::member(const char* key) const {
  const auto found = json->find(key);
  if (found == json->end()) return std::nullopt;
  return JsonValue{&*found, path.empty() ? key : path + "." + key};
}

Result<JsonValue> JsonValue::needed(const char* key) const {
  std::optional<JsonValue> found = member(key);
  if (found) return *std::move(found);
  return JsonValue{nullptr, path.empty() ? key : path + "." + key}.failure("is missing");
}

Failure JsonValue::failure(std::string_view text) const {
  return error(StatusCode::ParseError, "{}: {}", path.empty() ? "the whole" : path, text);
}

std::string JsonValue::shown() const {
  constexpr size_t kShownBytes = 60;
  std::string text = json->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kShownBytes) text = text.substr(0, kShownBytes) + "...";
  return text;
}

Status JsonValue::is_object(std::initializer_list<std::string_view> keys) const {
  if (!json->is_object()) return failure(fmt::format("{} is no JSON object", shown()));
  for (const auto& [key, value] : json->items()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end())
      return JsonValue{&value, path.empty() ? key : path + "." + key}.failure(
          fmt::format("is no key that is known here; those are {}", joined(keys)));
  }
  return {};
}

Status JsonValue::is_array(size_t least, size_t most) const {
  if (!json->is_array()) return failure(fmt::format("{} is no JSON array", shown()));
  if (json->size() >= least && json->size() <= most) return {};
  const std::string wanted =
      least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  return failure(fmt::format("has {} entries, and has to have {}", json->size(), wanted));
}

Result<double> JsonValue::number(double low, double high) const {
  if (!json->is_number()) return failure(fmt::format("{} is no number", shown()));
  const double value = json->get<double>();
  if (std::isfinite(value) && value >= low && value <= high) return value;
  return failure(fmt::format("{} is not from {} to {}", shown(), low, high));
}

Result<std::string> JsonValue::text() const {
  if (!json->is_string()) return failure(fmt::format("{} is no text in quotation marks", shown()));
  std::string value = json->get<std::string>();
  if (value.empty()) return failure("is an empty text");
  if (value.size() > kMaxTextBytes || value.find('\0') != std::string::npos)
    return failure(fmt::format("{} has more than {} bytes or a byte 0", shown(), kMaxTextBytes));
  return value;
}

Result<size_t> JsonValue::one_of(std::initializer_list<std::string_view> names) const {
  HET_ASSIGN(const std::string value, text());
  const auto* const found = std::find(names.begin(), names.end(), value);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  return failure(fmt::format("\"{}\" is none of {}", value, joined(names)));
}

Result<Point> read_point(const JsonValue& value, Units units) {
  HET_TRY(value.is_object({"x", "y"}));
  Point point;
  for (const char* key : {"x", "y"}) {
    HET_ASSIGN(const JsonValue coordinate, value.needed(key));
    auto number = units == Units::Relative ? coordinate.number(0.0, 1.0)
                                           : coordinate.number(-kMaxPixels, kMaxPixels);
    if (!number && units == Units::Relative && coordinate.json->is_number())
      return coordinate.failure(coordinate.shown() +
                                " is not from 0 to 1, as \"units\" are \"relative\"");
    if (!number) return Failure(std::move(number.error()));
    (*key == 'x' ? point.x : point.y) = *number;
  }
  return point;
}

Result<std::optional<Units>> read_units(const JsonValue& object) {
  const auto found = object.member("units");
  if (!found) return std::optional<Units>();
  HET_ASSIGN(const size_t index, found->one_of({"pixels", "relative"}));
  return std::optional<Units>(index == 0 ? Units::Pixels : Units::Relative);
}

Result<std::vector<std::string>> read_classes(const JsonValue& object) {
  std::vector<std::string> classes;
  const auto found = object.member("classes");
  if (!found) return classes;
  HET_TRY(found->is_array(1, kMaxClassesOfShape));
  for (size_t i = 0; i < found->json->size(); ++i) {
    HET_ASSIGN(std::string name, found->item(i).text());
    classes.push_back(std::move(name));
  }
  return classes;
}

Result<std::optional<Anchor>> read_anchor(const JsonValue& object) {
  const auto found = object.member("anchor");
  if (!found) return std::optional<Anchor>();
  HET_ASSIGN(const size_t index, found->one_of({"center", "bottom-center"}));
  return std::optional<Anchor>(index == 0 ? Anchor::Center : Anchor::BottomCenter);
}

Result<std::optional<Length>> read_length(const JsonValue& object, const char* key, Units units) {
  const auto found = object.member(key);
  if (!found) return std::optional<Length>();
  HET_ASSIGN(const double value, found->number(0.0, units == Units::Relative ? 1.0 : kMaxPixels));
  return std::optional<Length>(Length{value, units});
}

Result<std::optional<double>> read_seconds(const JsonValue& object, const char* key) {
  const auto found = object.member(key);
  if (!found) return std::optional<double>();
  HET_ASSIGN(const double value, found->number(0.0, kMaxSeconds));
  return std::optional<double>(value);
}

Result<Drawing> read_drawing(const JsonValue& object) {
  Drawing drawing;
  if (const auto color = object.member("color")) {
    HET_TRY(color->is_object({"r", "g", "b"}));
    std::array<int, 3> levels{};
    for (size_t i = 0; i < levels.size(); ++i) {
      constexpr std::array<const char*, 3> kChannels{"r", "g", "b"};
      const auto channel = color->member(kChannels[i]);
      if (!channel) continue;
      HET_ASSIGN(const double level, channel->number(0.0, 255.0));
      levels[i] = static_cast<int>(level);
    }
    drawing.color = levels;
  }
  if (const auto thickness = object.member("thickness")) {
    HET_ASSIGN(const double pixels, thickness->number(1.0, kMaxThickness));
    drawing.thickness = static_cast<int>(pixels);
  }
  return drawing;
}

}  // namespace het::zones
