#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "zone_analysis.h"

namespace het::zones {

/// Where a picture's pixels are, for places and lengths of a configuration.
struct PictureSize {
  int width = 0;
  int height = 0;

  Place place(const Point& point, Units units) const;
  int64_t length(const Length& length) const;
};

/// True where `classes` is empty or has the label.
bool is_wanted(const std::vector<std::string>& classes, const std::string& label);

/// `label`, or kOtherClasses where there are too many.
template <class Counts>
Counts& counts_of(std::map<std::string, Counts>& by_class, const std::string& label) {
  const auto found = by_class.find(label);
  if (found != by_class.end()) return found->second;
  return by_class[by_class.size() < kMaxClasses ? label : kOtherClasses];
}

/// A moment and a place of an object with an id.
struct PlaceInTime {
  Place place;
  int64_t time_ns = 0;
};

/// One zone: its shape in a picture, who is in it, and what was counted. An object enters when it
/// is inside, and leaves when it is outside by more than the hysteresis, for more than the
/// retention.
class ZoneState {
 public:
  ZoneState(const ZoneSpec& spec, const AnalysisDefaults& defaults, const PictureSize& size);

  /// Goes on with what happened in a zone before.
  void take_over(ZoneState&& before);
  /// An observation; null where the object is not in the zone, else its visit.
  std::optional<Presence> see(int id, const std::string& label, const PlaceInTime& now,
                              std::vector<Event>& events);
  /// The visit of an object that was not observed.
  std::optional<Presence> visit(int id, int64_t now_ns) const;
  /// Whether a place is in the zone, for objects without an id; counts them in.
  bool see_nameless(const std::string& label, const Place& place, bool counts);
  void forget_nameless() { nameless_.clear(); }
  void forget(int id, std::vector<Event>& events);
  void watch_crowd(int64_t now_ns, std::vector<Event>& events);

  Anchor anchor() const { return anchor_; }
  const ZoneSpec& spec() const { return spec_; }
  size_t occupancy() const;
  std::map<std::string, ZoneCounts> counts() const;
  bool is_outside_of(const PictureSize& size) const;

 private:
  struct Visit {
    int64_t enter_ns = 0;
    int64_t inside_ns = 0;  ///< of the last observation inside
    std::string label;
    bool told_limit = false;
  };
  bool contains(const Place& place) const;
  bool is_near(const Place& place) const;
  void end(int id, const Visit& visit, std::vector<Event>& events);

  ZoneSpec spec_;
  Anchor anchor_;
  std::vector<Place> points_;  ///< of a polygon
  Place low_, high_;           ///< the rectangle around the zone and its hysteresis
  Place center_;
  int64_t radius_ = 0;
  int64_t hysteresis_ = 0;
  std::unordered_map<int, Visit> visits_;
  std::map<std::string, uint64_t> nameless_;  ///< objects without an id, by class
  std::map<std::string, ZoneCounts> counts_;  ///< without the occupancy
  std::optional<int64_t> crowded_since_;
  bool told_crowd_ = false;
};

/// One tripwire. A crossing counts when the object has left the hysteresis around the line, and
/// only what is left of crossings to and fro: what jitters on the line counts once, or not at all
/// where it goes back.
class TripwireState {
 public:
  TripwireState(const TripwireSpec& spec, const AnalysisDefaults& defaults,
                const PictureSize& size);

  void take_over(TripwireState&& before);
  /// The way between two observations.
  std::optional<Passage> move(int id, const std::string& label, const PlaceInTime& from,
                              const PlaceInTime& to, std::vector<Event>& events);
  void forget(int id) { underway_.erase(id); }

  Anchor anchor() const { return anchor_; }
  const TripwireSpec& spec() const { return spec_; }
  const std::map<std::string, TripwireCounts>& counts() const { return counts_; }

 private:
  /// Crossings of an object that has not left the line yet.
  struct Underway {
    int net = 0;  ///< forward less backward
    int64_t forward_ns = 0;
    int64_t backward_ns = 0;
  };

  TripwireSpec spec_;
  Anchor anchor_;
  Place from_, to_;
  int64_t hysteresis_ = 0;
  std::unordered_map<int, Underway> underway_;
  std::map<std::string, TripwireCounts> counts_;
};

}  // namespace het::zones
