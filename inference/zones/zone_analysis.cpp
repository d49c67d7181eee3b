#include "zone_analysis.h"

#include <algorithm>
#include <utility>

#include "zone_state.h"

namespace het::zones {
namespace {

constexpr double kNsPerGraceSecond = 1e9;

Place anchor_place(const SeenObject& object, Anchor anchor) {
  const double x = (object.left + object.right) / 2.0;
  return place_at(x, anchor == Anchor::Center ? (object.top + object.bottom) / 2.0 : object.bottom);
}

/// A place of before, for a zone or a line with this id and shape.
template <class State, class Spec>
void take_over_from(std::vector<State>& before, const Spec& spec, State& state) {
  for (State& other : before) {
    if (other.spec().id == spec.id && other.spec().has_shape_of(spec))
      state.take_over(std::move(other));
  }
}

}  // namespace

ZoneAnalysis::ZoneAnalysis() = default;
ZoneAnalysis::~ZoneAnalysis() = default;

std::vector<Event> ZoneAnalysis::configure(const Configuration& configuration,
                                           const AnalysisDefaults& defaults, int width,
                                           int height) {
  std::vector<Event> events;
  if (width != width_ || height != height_) events = reset();
  width_ = width;
  height_ = height;
  configuration_ = configuration;
  grace_ns_ = static_cast<int64_t>(configuration.grace_time_s.value_or(defaults.grace_time_s) *
                                   kNsPerGraceSecond);
  const PictureSize size{width, height};
  std::vector<ZoneState> zones;
  for (const ZoneSpec& spec : configuration.zones) {
    take_over_from(zones_, spec, zones.emplace_back(spec, defaults, size));
  }
  zones_ = std::move(zones);
  std::vector<TripwireState> tripwires;
  for (const TripwireSpec& spec : configuration.tripwires) {
    take_over_from(tripwires_, spec, tripwires.emplace_back(spec, defaults, size));
  }
  tripwires_ = std::move(tripwires);
  return events;
}

bool ZoneAnalysis::follow(const SeenFrame& frame, const SeenObject& object, FrameResult& result,
                          FrameResult::Object& found) {
  const int id = *object.id;
  auto track = tracks_.find(id);
  if (track != tracks_.end()) {
    // An id can be only one object of a frame.
    if (track->second.seen_in == frames_) return false;
    if (track->second.is_missed && frame.time_ns - track->second.seen_ns > grace_ns_) {
      forget(id, result.events);
      track = tracks_.end();
    }
  }
  if (track == tracks_.end() && tracks_.size() >= kMaxFollowed) return false;
  FollowedObject now;
  now.center = anchor_place(object, Anchor::Center);
  now.bottom_center = anchor_place(object, Anchor::BottomCenter);
  now.seen_ns = frame.time_ns;
  now.seen_in = frames_;
  const auto at = [](const FollowedObject& followed, Anchor anchor) {
    return PlaceInTime{anchor == Anchor::Center ? followed.center : followed.bottom_center,
                       followed.seen_ns};
  };
  for (size_t i = 0; i < tripwires_.size() && track != tracks_.end(); ++i) {
    TripwireState& line = tripwires_[i];
    std::optional<Passage> passage = line.move(id, object.label, at(track->second, line.anchor()),
                                               at(now, line.anchor()), result.events);
    if (!passage) continue;
    passage->tripwire = i;
    found.tripwires.push_back(*passage);
  }
  for (size_t i = 0; i < zones_.size(); ++i) {
    std::optional<Presence> presence =
        zones_[i].see(id, object.label, at(now, zones_[i].anchor()), result.events);
    if (!presence) continue;
    presence->zone = i;
    found.zones.push_back(*presence);
  }
  tracks_[id] = now;
  return true;
}

FrameResult ZoneAnalysis::update(const SeenFrame& frame) {
  FrameResult result;
  if (frame.time_ns < last_ns_) result.events = reset();
  last_ns_ = frame.time_ns;
  ++frames_;
  result.objects.resize(frame.objects.size());
  if (frame.is_analysed) {
    for (ZoneState& zone : zones_) zone.forget_nameless();
  }
  for (size_t i = 0; i < frame.objects.size(); ++i) {
    const SeenObject& object = frame.objects[i];
    FrameResult::Object& found = result.objects[i];
    if (object.id && !object.is_carried && follow(frame, object, result, found)) continue;
    if (object.id && object.is_carried) {
      const auto track = tracks_.find(*object.id);
      if (track != tracks_.end()) track->second.carried_in = frames_;
    }
    for (size_t zone = 0; zone < zones_.size(); ++zone) {
      std::optional<Presence> presence;
      if (object.id) {
        if (object.is_carried) presence = zones_[zone].visit(*object.id, frame.time_ns);
      } else if (zones_[zone].see_nameless(object.label,
                                           anchor_place(object, zones_[zone].anchor()),
                                           frame.is_analysed)) {
        presence.emplace();
      }
      if (!presence) continue;
      presence->zone = zone;
      found.zones.push_back(*presence);
    }
  }
  if (frame.is_analysed) forget_missed(frame, result.events);
  for (ZoneState& zone : zones_) zone.watch_crowd(frame.time_ns, result.events);
  return result;
}

void ZoneAnalysis::forget(int id, std::vector<Event>& events) {
  for (ZoneState& zone : zones_) zone.forget(id, events);
  for (TripwireState& line : tripwires_) line.forget(id);
  tracks_.erase(id);
}

void ZoneAnalysis::forget_missed(const SeenFrame& frame, std::vector<Event>& events) {
  std::vector<int> ended;
  for (auto& [id, track] : tracks_) {
    if (track.seen_in == frames_ || track.carried_in == frames_) continue;
    track.is_missed = true;
    if (frame.time_ns - track.seen_ns > grace_ns_) ended.push_back(id);
  }
  std::sort(ended.begin(), ended.end());
  for (const int id : ended) forget(id, events);
}

std::vector<Event> ZoneAnalysis::reset() {
  std::vector<Event> events;
  std::vector<int> ids;
  for (const auto& [id, track] : tracks_) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const int id : ids) forget(id, events);
  for (ZoneState& zone : zones_) zone.forget_nameless();
  last_ns_ = INT64_MIN;
  return events;
}

std::map<std::string, ZoneCounts> ZoneAnalysis::zone_counts(size_t zone) const {
  return zones_[zone].counts();
}

std::map<std::string, TripwireCounts> ZoneAnalysis::tripwire_counts(size_t tripwire) const {
  return tripwires_[tripwire].counts();
}

std::vector<std::string> ZoneAnalysis::zones_outside() const {
  std::vector<std::string> ids;
  for (const ZoneState& zone : zones_) {
    if (zone.is_outside_of({width_, height_})) ids.push_back(zone.spec().id);
  }
  return ids;
}

}  // namespace het::zones
