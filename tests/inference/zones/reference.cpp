#include "reference.h"

#include <algorithm>
#include <numeric>

namespace het::zones {
namespace {

__extension__ using Whole = __int128;

struct Corner {
  Whole x, y;
};

Corner corner_of(const Point& point) {
  return {static_cast<int64_t>(point.x * kQuarters), static_cast<int64_t>(point.y * kQuarters)};
}

/// A number as a fraction, above / below with below > 0.
struct Fraction {
  Whole above, below;
  Fraction(Whole a, Whole b) : above(b < 0 ? -a : a), below(b < 0 ? -b : b) {}
  bool is_from_0_to_1() const { return above >= 0 && above <= below; }
};

/// Squared distance from a segment at most that of `reach`: by the foot of the perpendicular, and
/// |p-a|^2 less the part along the segment.
bool is_within(const Corner& a, const Corner& b, const Corner& p, Whole reach) {
  const Whole ux = b.x - a.x, uy = b.y - a.y, vx = p.x - a.x, vy = p.y - a.y;
  const Whole length = ux * ux + uy * uy;
  const Whole along = ux * vx + uy * vy;
  if (length > 0 && Fraction(along, length).is_from_0_to_1())
    return (vx * vx + vy * vy) * length - along * along <= reach * reach * length;
  const auto squared = [&](const Corner& end) {
    return (p.x - end.x) * (p.x - end.x) + (p.y - end.y) * (p.y - end.y);
  };
  return std::min(squared(a), squared(b)) <= reach * reach;
}

/// The sign of the way's crossing: solves from + t (to - from) = a + u (b - a) by Cramer's rule.
int crossing_sign(const Corner& from, const Corner& to, const Corner& a, const Corner& b) {
  const auto is_right = [&](const Corner& p) {
    return (p.y - a.y) * (b.x - a.x) >= (p.x - a.x) * (b.y - a.y);
  };
  const bool before = is_right(from);
  const bool after = is_right(to);
  if (before == after) return 0;
  const Whole dx = to.x - from.x, dy = to.y - from.y;
  const Whole ex = b.x - a.x, ey = b.y - a.y;
  const Whole determinant = ex * dy - ey * dx;
  const Fraction u((from.x - a.x) * -dy - (from.y - a.y) * -dx, -determinant);
  if (!u.is_from_0_to_1()) return 0;
  return after ? 1 : -1;
}

bool is_in_zone(const ZoneSpec& zone, const Sighting& seen, Whole reach) {
  const Corner p{seen.x, seen.y};
  if (zone.is_circle) {
    const Corner c = corner_of(zone.center);
    const Whole radius = static_cast<int64_t>(zone.radius * kQuarters) + reach;
    return (p.x - c.x) * (p.x - c.x) + (p.y - c.y) * (p.y - c.y) <= radius * radius;
  }
  if (reference_contains(zone.points, seen.x, seen.y)) return true;
  if (reach == 0) return false;
  for (size_t i = 0; i < zone.points.size(); ++i) {
    const Corner a = corner_of(zone.points[i]);
    const Corner b = corner_of(zone.points[(i + 1) % zone.points.size()]);
    if (is_within(a, b, p, reach)) return true;
  }
  return false;
}

/// The pieces of a way in which the object was not forgotten: [first, last].
std::vector<std::pair<size_t, size_t>> pieces_of(const std::vector<Sighting>& way,
                                                 int64_t grace_ns) {
  std::vector<std::pair<size_t, size_t>> pieces;
  for (size_t i = 0; i < way.size(); ++i) {
    const bool is_new =
        i == 0 || (way[i].after_miss && way[i].time_ns - way[i - 1].time_ns > grace_ns);
    if (is_new) pieces.emplace_back(i, i);
    pieces.back().second = i;
  }
  return pieces;
}

}  // namespace

bool reference_contains(const std::vector<Point>& points, int64_t x, int64_t y) {
  const Corner p{x, y};
  int below = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    const Corner a = corner_of(points[i]);
    const Corner b = corner_of(points[(i + 1) % points.size()]);
    if (is_within(a, b, p, 0)) return true;
    const Corner& left = a.x < b.x ? a : b;
    const Corner& right = a.x < b.x ? b : a;
    if (p.x < left.x || p.x >= right.x) continue;
    // The edge's height at x is left.y + rise * (x - left.x) / run.
    const Whole run = right.x - left.x;
    if (left.y * run + (right.y - left.y) * (p.x - left.x) > p.y * run) ++below;
  }
  return below % 2 == 1;
}

ReferenceWay reference_way(const Configuration& configuration, int64_t hysteresis_quarters,
                           int64_t grace_ns, const std::vector<Sighting>& way) {
  ReferenceWay found;
  found.visits.resize(configuration.zones.size());
  found.crossings.resize(configuration.tripwires.size());
  for (const auto& [first, last] : pieces_of(way, grace_ns)) {
    for (size_t z = 0; z < configuration.zones.size(); ++z) {
      const ZoneSpec& zone = configuration.zones[z];
      // A visit is a longest run of sightings in the wider zone that begins with one in the zone.
      for (size_t i = first; i <= last; ++i) {
        if (!is_in_zone(zone, way[i], 0)) continue;
        size_t end = i;
        while (end < last && is_in_zone(zone, way[end + 1], hysteresis_quarters)) ++end;
        found.visits[z].push_back({way[i].time_ns, way[end].time_ns});
        i = end;
      }
    }
    for (size_t l = 0; l < configuration.tripwires.size(); ++l) {
      const Corner a = corner_of(configuration.tripwires[l].from);
      const Corner b = corner_of(configuration.tripwires[l].to);
      std::vector<int> signs;
      for (size_t i = first; i <= last; ++i) {
        const Corner p{way[i].x, way[i].y};
        if (i > first) signs.push_back(crossing_sign({way[i - 1].x, way[i - 1].y}, p, a, b));
        if (is_within(a, b, p, hysteresis_quarters)) continue;
        const int net = std::accumulate(signs.begin(), signs.end(), 0);
        if (net != 0) found.crossings[l].push_back(net > 0 ? 1 : -1);
        signs.clear();
      }
    }
  }
  return found;
}

}  // namespace het::zones
