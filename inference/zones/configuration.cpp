#include "configuration.h"

#include <algorithm>
#include <utility>

#include "geometry.h"
#include "json_text.h"
#include "json_values.h"

namespace het::zones {
namespace {

/// What holds for all zones and tripwires that say nothing themselves.
struct ShapeDefaults {
  Units units = Units::Pixels;
  std::optional<Anchor> anchor;
  std::optional<Length> hysteresis;
  std::vector<std::string> classes;
};

/// Whether all points lie on one line.
bool has_no_area(const std::vector<Point>& points) {
  const Point& a = points[0];
  for (const Point& b : points) {
    for (const Point& c : points) {
      if ((b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x) != 0.0) return false;
    }
  }
  return true;
}

/// The members that zones and tripwires share.
template <class Spec>
Status read_shared(const JsonValue& object, const ShapeDefaults& defaults, Spec& spec) {
  HET_ASSIGN(const JsonValue id, object.needed("id"));
  HET_ASSIGN(spec.id, id.text());
  HET_ASSIGN(const std::optional<Units> units, read_units(object));
  spec.units = units.value_or(defaults.units);
  HET_ASSIGN(spec.classes, read_classes(object));
  if (spec.classes.empty()) spec.classes = defaults.classes;
  HET_ASSIGN(spec.anchor, read_anchor(object));
  if (!spec.anchor) spec.anchor = defaults.anchor;
  HET_ASSIGN(spec.hysteresis, read_length(object, "hysteresis", spec.units));
  if (!spec.hysteresis) spec.hysteresis = defaults.hysteresis;
  HET_ASSIGN(spec.drawing, read_drawing(object));
  return {};
}

Status read_polygon(const JsonValue& object, ZoneSpec& zone) {
  for (const char* key : {"center", "radius"}) {
    if (const auto found = object.member(key))
      return found->failure("belongs to a zone of \"type\" \"circle\", and this is a polygon");
  }
  HET_ASSIGN(const JsonValue points, object.needed("points"));
  HET_TRY(points.is_array(3, kMaxPoints));
  for (size_t i = 0; i < points.json->size(); ++i) {
    HET_ASSIGN(const Point point, read_point(points.item(i), zone.units));
    zone.points.push_back(point);
  }
  if (has_no_area(zone.points)) return points.failure("lie on one line, which is no polygon");
  return {};
}

Status read_circle(const JsonValue& object, ZoneSpec& zone) {
  if (const auto found = object.member("points"))
    return found->failure("belongs to a zone of \"type\" \"polygon\", and this is a circle");
  HET_ASSIGN(const JsonValue center, object.needed("center"));
  HET_ASSIGN(zone.center, read_point(center, zone.units));
  HET_ASSIGN(const JsonValue radius, object.needed("radius"));
  HET_ASSIGN(zone.radius, radius.number(0.0, zone.units == Units::Relative ? 1.0 : kMaxPixels));
  if (zone.radius <= 0.0) return radius.failure("is 0, and has to be more");
  return {};
}

Result<ZoneSpec> read_zone(const JsonValue& object, const ShapeDefaults& defaults) {
  HET_TRY(object.is_object({"id", "type", "points", "center", "radius", "units", "classes",
                            "anchor", "hysteresis", "max-objects", "crowd-time", "dwell-limit",
                            "object-retention", "track-dwell-time", "color", "thickness"}));
  ZoneSpec zone;
  HET_TRY(read_shared(object, defaults, zone));
  if (const auto type = object.member("type")) {
    HET_ASSIGN(const size_t index, type->one_of({"polygon", "circle"}));
    zone.is_circle = index == 1;
  }
  HET_TRY(zone.is_circle ? read_circle(object, zone) : read_polygon(object, zone));
  if (const auto limit = object.member("max-objects")) {
    HET_ASSIGN(const double count, limit->number(0.0, 1e6));
    zone.max_objects = static_cast<size_t>(count);
    if (static_cast<double>(*zone.max_objects) != count)
      return limit->failure(fmt::format("{} is no whole number", limit->shown()));
  }
  HET_ASSIGN(const std::optional<double> crowd_time, read_seconds(object, "crowd-time"));
  zone.crowd_time_s = crowd_time.value_or(0.0);
  if (crowd_time && !zone.max_objects)
    return object.member("crowd-time")->failure("has no effect without \"max-objects\"");
  HET_ASSIGN(zone.dwell_limit_s, read_seconds(object, "dwell-limit"));
  HET_ASSIGN(const std::optional<double> retention, read_seconds(object, "object-retention"));
  zone.retention_s = retention.value_or(0.0);
  // DL Streamer measures the time in a zone where this is true; here it is always measured.
  if (const auto tracks = object.member("track-dwell-time"); tracks && !tracks->json->is_boolean())
    return tracks->failure(fmt::format("{} is neither true nor false", tracks->shown()));
  return zone;
}

Result<TripwireSpec> read_tripwire(const JsonValue& object, const ShapeDefaults& defaults) {
  HET_TRY(object.is_object({"id", "points", "units", "classes", "anchor", "hysteresis", "direction",
                            "color", "thickness"}));
  TripwireSpec line;
  HET_TRY(read_shared(object, defaults, line));
  HET_ASSIGN(const JsonValue points, object.needed("points"));
  HET_TRY(points.is_array(2, 2));
  HET_ASSIGN(line.from, read_point(points.item(0), line.units));
  HET_ASSIGN(line.to, read_point(points.item(1), line.units));
  if (line.from == line.to)
    return points.item(1).failure("is the same as points[0], which is no line");
  if (const auto direction = object.member("direction")) {
    HET_ASSIGN(const size_t index, direction->one_of({"both", "forward", "backward"}));
    line.directions = index == 0   ? Directions::Both
                      : index == 1 ? Directions::Forward
                                   : Directions::Backward;
  }
  return line;
}

/// Appends the shapes of an array.
template <class Spec, class Read>
Status read_shapes(const JsonValue& array, const ShapeDefaults& defaults, Read read,
                   std::vector<Spec>& specs) {
  HET_TRY(array.is_array(0, kMaxShapes));
  for (size_t i = 0; i < array.json->size(); ++i) {
    const JsonValue object = array.item(i);
    HET_ASSIGN(Spec spec, read(object, defaults));
    const auto is_of_id = [&](const Spec& other) { return other.id == spec.id; };
    if (std::any_of(specs.begin(), specs.end(), is_of_id))
      return object.member("id")->failure(
          fmt::format("\"{}\" has been given before; every one needs an id of its own", spec.id));
    specs.push_back(std::move(spec));
  }
  if (specs.size() > kMaxShapes)
    return array.failure(fmt::format("make {} with those before; at most {} are possible",
                                     specs.size(), kMaxShapes));
  return {};
}

/// The members of a file, or of one of its cameras.
Status read_level(const JsonValue& object, ShapeDefaults& defaults, Configuration& configuration) {
  HET_ASSIGN(const std::optional<Units> units, read_units(object));
  if (units) defaults.units = *units;
  HET_ASSIGN(const std::optional<Anchor> anchor, read_anchor(object));
  if (anchor) defaults.anchor = anchor;
  HET_ASSIGN(std::vector<std::string> classes, read_classes(object));
  if (!classes.empty()) defaults.classes = std::move(classes);
  HET_ASSIGN(const std::optional<Length> hysteresis,
             read_length(object, "hysteresis", defaults.units));
  if (hysteresis) defaults.hysteresis = hysteresis;
  HET_ASSIGN(const std::optional<double> grace_time, read_seconds(object, "grace-time"));
  if (grace_time) configuration.grace_time_s = grace_time;
  if (const auto zones = object.member("zones"))
    HET_TRY(read_shapes(*zones, defaults, read_zone, configuration.zones));
  if (const auto lines = object.member("tripwires"))
    HET_TRY(read_shapes(*lines, defaults, read_tripwire, configuration.tripwires));
  return {};
}

std::string names_of(const nlohmann::json& cameras) {
  std::string names;
  for (const auto& [name, unused] : cameras.items()) names += (names.empty() ? "" : ", ") + name;
  return names.empty() ? "none" : names;
}

/// The cameras that are not chosen are read, too: a fault in one of them is told at once.
Status read_cameras(const JsonValue& cameras, const std::string& wanted,
                    const ShapeDefaults& defaults, Configuration& configuration) {
  if (!cameras.json->is_object())
    return cameras.failure(cameras.shown() + " is no JSON object with a name for each camera");
  const Configuration shared = configuration;
  bool is_found = false;
  for (const auto& [name, content] : cameras.json->items()) {
    const JsonValue camera{&content, cameras.path + "." + name};
    HET_TRY(camera.is_object(
        {"units", "anchor", "classes", "hysteresis", "grace-time", "zones", "tripwires"}));
    ShapeDefaults own_defaults = defaults;
    Configuration own = shared;
    HET_TRY(read_level(camera, own_defaults, own));
    if (name != wanted) continue;
    configuration = std::move(own);
    is_found = true;
  }
  if (!wanted.empty() && !is_found)
    return cameras.failure(
        fmt::format("has no camera '{}', which the property camera names; it "
                    "has {}",
                    wanted, names_of(*cameras.json)));
  if (wanted.empty() && configuration.zones.empty() && configuration.tripwires.empty())
    return cameras.failure(
        fmt::format("the property camera has to name one of them: {}", names_of(*cameras.json)));
  return {};
}

Status read_file(const ConfigurationSource& source, Configuration& configuration) {
  HET_ASSIGN(const nlohmann::json content, parse_json_file(source.file));
  const auto read = [&]() -> Status {
    const JsonValue whole{&content, ""};
    HET_TRY(whole.is_object({"units", "anchor", "classes", "hysteresis", "grace-time", "zones",
                             "tripwires", "cameras"}));
    ShapeDefaults defaults;
    HET_TRY(read_level(whole, defaults, configuration));
    if (const auto cameras = whole.member("cameras"))
      return read_cameras(*cameras, source.camera, defaults, configuration);
    if (source.camera.empty()) return {};
    return error(StatusCode::ParseError,
                 "cameras: is missing, and the property camera names '{}' of it", source.camera);
  };
  return read().with_context(fmt::format("'{}'", source.file));
}

template <class Spec, class Read>
Status read_property(const char* name, const std::string& text, Read read,
                     std::vector<Spec>& specs) {
  if (text.empty()) return {};
  const auto parsed = [&]() -> Status {
    HET_ASSIGN(const nlohmann::json content, parse_json_text(text));
    return read_shapes(JsonValue{&content, name}, ShapeDefaults(), read, specs);
  };
  return parsed().with_context(fmt::format("property {}", name));
}

}  // namespace

Result<Configuration> read_configuration(const ConfigurationSource& source) {
  Configuration configuration;
  if (!source.file.empty()) {
    HET_TRY(read_file(source, configuration).with_context("property config"));
  } else if (!source.camera.empty()) {
    return error(StatusCode::InvalidArgument,
                 "property camera is '{}', but no property config names the file that has it",
                 source.camera);
  }
  HET_TRY(read_property("zones", source.zones, read_zone, configuration.zones));
  HET_TRY(read_property("tripwires", source.tripwires, read_tripwire, configuration.tripwires));
  return configuration;
}

}  // namespace het::zones
