#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"

/// What a user says about zones and tripwires, and how it is read from JSON; docs/analytics.md has
/// every key.
namespace het::zones {

enum class Units { Pixels, Relative };

/// Relative to the picture's width and height; the origin is its upper left corner.
struct Point {
  double x = 0.0;
  double y = 0.0;
  bool operator==(const Point&) const = default;
};

/// Relative to the picture's shorter side.
struct Length {
  double value = 0.0;
  Units units = Units::Pixels;
  bool operator==(const Length&) const = default;
};

/// The point of an object's box that says where the object is.
enum class Anchor { Center, BottomCenter };

enum class Directions { Both, Forward, Backward };

/// How a zone or a tripwire is drawn.
struct Drawing {
  std::optional<std::array<int, 3>> color;  ///< red, green, blue
  std::optional<int> thickness;             ///< pixels
};

struct ZoneSpec {
  std::string id;
  bool is_circle = false;
  std::vector<Point> points;  ///< of a polygon
  Point center;               ///< of a circle
  double radius = 0.0;
  Units units = Units::Pixels;
  std::vector<std::string> classes;  ///< empty: all
  std::optional<Anchor> anchor;
  std::optional<Length> hysteresis;
  std::optional<size_t> max_objects;
  double crowd_time_s = 0.0;
  std::optional<double> dwell_limit_s;
  double retention_s = 0.0;  ///< outside for that long before a visit ends
  Drawing drawing;

  bool has_shape_of(const ZoneSpec& other) const {
    return is_circle == other.is_circle && points == other.points && center == other.center &&
           radius == other.radius && units == other.units;
  }
};

struct TripwireSpec {
  std::string id;
  Point from;
  Point to;
  Units units = Units::Pixels;
  std::vector<std::string> classes;  ///< empty: all
  std::optional<Anchor> anchor;
  std::optional<Length> hysteresis;
  Directions directions = Directions::Both;
  Drawing drawing;

  bool has_shape_of(const TripwireSpec& other) const {
    return from == other.from && to == other.to && units == other.units;
  }
};

struct Configuration {
  std::vector<ZoneSpec> zones;
  std::vector<TripwireSpec> tripwires;
  std::optional<double> grace_time_s;
};

/// Where a configuration stands.
struct ConfigurationSource {
  std::string file;       ///< path of a JSON object; empty: none
  std::string zones;      ///< a JSON array, appended; empty: none
  std::string tripwires;  ///< the same
  std::string camera;     ///< a name among the file's "cameras"; empty: none
};

/// Limits of a configuration: more is an error.
inline constexpr size_t kMaxShapes = 1000;  ///< zones, and as many tripwires
inline constexpr size_t kMaxPoints = 1000;  ///< of a polygon

/// Fails with the file, the place in it ("zones[2].points[1].x"), what is there and what has to be:
/// NotFound, ParseError or InvalidArgument.
HET_API Result<Configuration> read_configuration(const ConfigurationSource& source);

}  // namespace het::zones
