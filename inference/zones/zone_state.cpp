#include "zone_state.h"

#include <algorithm>
#include <utility>

namespace het::zones {
namespace {

constexpr double kNsPerSecond = 1e9;

int64_t hysteresis_of(const std::optional<Length>& length, const AnalysisDefaults& defaults,
                      const PictureSize& size) {
  return size.length(length.value_or(Length{defaults.hysteresis_pixels, Units::Pixels}));
}

}  // namespace

Place PictureSize::place(const Point& point, Units units) const {
  return units == Units::Relative ? place_at(point.x * width, point.y * height)
                                  : place_at(point.x, point.y);
}

int64_t PictureSize::length(const Length& length) const {
  return length_in_places(length.units == Units::Relative ? length.value * std::min(width, height)
                                                          : length.value);
}

bool is_wanted(const std::vector<std::string>& classes, const std::string& label) {
  return classes.empty() || std::find(classes.begin(), classes.end(), label) != classes.end();
}

ZoneState::ZoneState(const ZoneSpec& spec, const AnalysisDefaults& defaults,
                     const PictureSize& size)
    : spec_(spec),
      anchor_(spec.anchor.value_or(defaults.anchor)),
      center_(size.place(spec.center, spec.units)),
      radius_(size.length({spec.radius, spec.units})),
      hysteresis_(hysteresis_of(spec.hysteresis, defaults, size)) {
  for (const Point& point : spec.points) points_.push_back(size.place(point, spec.units));
  low_ = high_ = center_;
  int64_t reach = radius_;
  if (!spec.is_circle) {
    low_ = high_ = points_.front();
    reach = 0;
    for (const Place& point : points_) {
      low_ = {std::min(low_.x, point.x), std::min(low_.y, point.y)};
      high_ = {std::max(high_.x, point.x), std::max(high_.y, point.y)};
    }
  }
  low_ = {low_.x - reach - hysteresis_, low_.y - reach - hysteresis_};
  high_ = {high_.x + reach + hysteresis_, high_.y + reach + hysteresis_};
}

void ZoneState::take_over(ZoneState&& before) {
  visits_ = std::move(before.visits_);
  nameless_ = std::move(before.nameless_);
  counts_ = std::move(before.counts_);
  crowded_since_ = before.crowded_since_;
  told_crowd_ = before.told_crowd_;
}

bool ZoneState::contains(const Place& place) const {
  if (place.x < low_.x || place.x > high_.x || place.y < low_.y || place.y > high_.y) return false;
  return spec_.is_circle ? circle_contains(center_, radius_, place)
                         : polygon_contains(points_, place);
}

bool ZoneState::is_near(const Place& place) const {
  if (place.x < low_.x || place.x > high_.x || place.y < low_.y || place.y > high_.y) return false;
  if (spec_.is_circle) return circle_contains(center_, radius_ + hysteresis_, place);
  for (size_t i = 0; i < points_.size(); ++i) {
    if (is_near_segment(points_[i], points_[(i + 1) % points_.size()], hysteresis_, place))
      return true;
  }
  return polygon_contains(points_, place);
}

std::optional<Presence> ZoneState::see(int id, const std::string& label, const PlaceInTime& now,
                                       std::vector<Event>& events) {
  auto found = visits_.find(id);
  if (found == visits_.end()) {
    if (!is_wanted(spec_.classes, label) || !contains(now.place)) return std::nullopt;
    found = visits_.emplace(id, Visit{now.time_ns, now.time_ns, label}).first;
    ++counts_of(counts_, label).visits;
    events.push_back({Event::Kind::Enter, spec_.id, id, label, now.time_ns});
  }
  Visit& visit = found->second;
  if (is_near(now.place)) {
    visit.inside_ns = now.time_ns;
  } else if (static_cast<double>(now.time_ns - visit.inside_ns) >
             spec_.retention_s * kNsPerSecond) {
    end(id, visit, events);
    visits_.erase(found);
    return std::nullopt;
  }
  const int64_t dwell_ns = now.time_ns - visit.enter_ns;
  if (spec_.dwell_limit_s && !visit.told_limit && visit.inside_ns == now.time_ns &&
      static_cast<double>(dwell_ns) >= *spec_.dwell_limit_s * kNsPerSecond) {
    visit.told_limit = true;
    events.push_back({Event::Kind::DwellLimit, spec_.id, id, visit.label, now.time_ns, dwell_ns});
  }
  return Presence{0, visit.enter_ns, dwell_ns};
}

std::optional<Presence> ZoneState::visit(int id, int64_t now_ns) const {
  const auto found = visits_.find(id);
  if (found == visits_.end()) return std::nullopt;
  return Presence{0, found->second.enter_ns, now_ns - found->second.enter_ns};
}

bool ZoneState::see_nameless(const std::string& label, const Place& place, bool counts) {
  if (!is_wanted(spec_.classes, label) || !contains(place)) return false;
  if (counts) ++counts_of(nameless_, label);
  return true;
}

void ZoneState::end(int id, const Visit& visit, std::vector<Event>& events) {
  ZoneCounts& counts = counts_of(counts_, visit.label);
  const int64_t dwell_ns = visit.inside_ns - visit.enter_ns;
  ++counts.ended;
  counts.dwell_ns += dwell_ns;
  counts.longest_ns = std::max(counts.longest_ns, dwell_ns);
  events.push_back({Event::Kind::Exit, spec_.id, id, visit.label, visit.inside_ns, dwell_ns});
}

void ZoneState::forget(int id, std::vector<Event>& events) {
  const auto found = visits_.find(id);
  if (found == visits_.end()) return;
  end(id, found->second, events);
  visits_.erase(found);
}

size_t ZoneState::occupancy() const {
  size_t count = visits_.size();
  for (const auto& [label, objects] : nameless_) count += objects;
  return count;
}

void ZoneState::watch_crowd(int64_t now_ns, std::vector<Event>& events) {
  const size_t now = occupancy();
  const auto tell = [&](Event::Kind kind) {
    Event& event = events.emplace_back();
    event.kind = kind;
    event.shape = spec_.id;
    event.time_ns = now_ns;
    event.occupancy = now;
  };
  if (!spec_.max_objects || now <= *spec_.max_objects) {
    if (told_crowd_) tell(Event::Kind::CrowdEnd);
    told_crowd_ = false;
    crowded_since_.reset();
    return;
  }
  if (!crowded_since_) crowded_since_ = now_ns;
  if (told_crowd_ ||
      static_cast<double>(now_ns - *crowded_since_) < spec_.crowd_time_s * kNsPerSecond)
    return;
  told_crowd_ = true;
  tell(Event::Kind::CrowdBegin);
}

std::map<std::string, ZoneCounts> ZoneState::counts() const {
  std::map<std::string, ZoneCounts> counts = counts_;
  for (const auto& [id, visit] : visits_) ++counts_of(counts, visit.label).occupancy;
  for (const auto& [label, objects] : nameless_) counts_of(counts, label).occupancy += objects;
  return counts;
}

bool ZoneState::is_outside_of(const PictureSize& size) const {
  const Place end = place_at(size.width, size.height);
  return high_.x - hysteresis_ < 0 || high_.y - hysteresis_ < 0 || low_.x + hysteresis_ > end.x ||
         low_.y + hysteresis_ > end.y;
}

TripwireState::TripwireState(const TripwireSpec& spec, const AnalysisDefaults& defaults,
                             const PictureSize& size)
    : spec_(spec),
      anchor_(spec.anchor.value_or(defaults.anchor)),
      from_(size.place(spec.from, spec.units)),
      to_(size.place(spec.to, spec.units)),
      hysteresis_(hysteresis_of(spec.hysteresis, defaults, size)) {}

void TripwireState::take_over(TripwireState&& before) {
  underway_ = std::move(before.underway_);
  counts_ = std::move(before.counts_);
}

std::optional<Passage> TripwireState::move(int id, const std::string& label,
                                           const PlaceInTime& from, const PlaceInTime& to,
                                           std::vector<Event>& events) {
  const std::optional<LineCrossing> crossing = line_crossing(from.place, to.place, from_, to_);
  auto found = underway_.find(id);
  if (crossing) {
    if (found == underway_.end()) found = underway_.emplace(id, Underway()).first;
    Underway& underway = found->second;
    underway.net += crossing->direction;
    const auto time =
        from.time_ns +
        static_cast<int64_t>(static_cast<double>(to.time_ns - from.time_ns) * crossing->fraction);
    (crossing->direction > 0 ? underway.forward_ns : underway.backward_ns) = time;
  }
  if (found == underway_.end() || is_near_segment(from_, to_, hysteresis_, to.place))
    return std::nullopt;
  const Underway underway = found->second;
  underway_.erase(found);
  if (underway.net == 0 || !is_wanted(spec_.classes, label)) return std::nullopt;
  const bool is_forward = underway.net > 0;
  if (spec_.directions == (is_forward ? Directions::Backward : Directions::Forward))
    return std::nullopt;
  TripwireCounts& counts = counts_of(counts_, label);
  ++(is_forward ? counts.forward : counts.backward);
  const Passage passage{0, is_forward ? 1 : -1,
                        is_forward ? underway.forward_ns : underway.backward_ns};
  events.push_back(
      {Event::Kind::Crossing, spec_.id, id, label, passage.time_ns, 0, passage.direction});
  return passage;
}

}  // namespace het::zones
