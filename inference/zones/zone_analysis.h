#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "configuration.h"
#include "geometry.h"
#include "inference/base/visibility.h"

/// Who is in which zone for how long, and who has crossed which line.
namespace het::zones {

/// An object of a frame, in pixels of the picture.
struct SeenObject {
  std::optional<int> id;  ///< who it is, from a tracker
  std::string label;
  double left = 0.0;
  double top = 0.0;
  double right = 0.0;
  double bottom = 0.0;
  /// The box is that of an earlier frame, or where the object is supposed: no observation.
  bool is_carried = false;
};

struct SeenFrame {
  int64_t time_ns = 0;      ///< stream time
  bool is_analysed = true;  ///< false: nobody looked for objects, so that none is missing
  std::vector<SeenObject> objects;
};

/// An object in a zone.
struct Presence {
  size_t zone = 0;                  ///< index
  std::optional<int64_t> enter_ns;  ///< when the visit began; none for objects without an id
  std::optional<int64_t> dwell_ns;  ///< since then
};

/// An object that has crossed a line.
struct Passage {
  size_t tripwire = 0;  ///< index
  int direction = 0;    ///< 1 forward: from the left of the line to its right; -1 backward
  int64_t time_ns = 0;  ///< when it was on the line, between two observations
};

struct Event {
  enum class Kind { Enter, Exit, DwellLimit, Crossing, CrowdBegin, CrowdEnd };
  Kind kind = Kind::Enter;
  std::string shape;  ///< id of the zone or tripwire
  std::optional<int> object_id;
  std::string label;
  int64_t time_ns = 0;   ///< of an exit: of the last observation in the zone
  int64_t dwell_ns = 0;  ///< of an exit and a dwell limit
  int direction = 0;     ///< of a crossing
  size_t occupancy = 0;  ///< of a crowd
};

struct FrameResult {
  struct Object {
    std::vector<Presence> zones;
    std::vector<Passage> tripwires;
  };
  std::vector<Object> objects;  ///< one for each of the frame
  std::vector<Event> events;    ///< each of them once
};

struct ZoneCounts {
  uint64_t occupancy = 0;  ///< now
  uint64_t visits = 0;     ///< begun, by objects with an id
  uint64_t ended = 0;      ///< of these
  int64_t dwell_ns = 0;    ///< of all that have ended
  int64_t longest_ns = 0;  ///< of these
};

struct TripwireCounts {
  uint64_t forward = 0;
  uint64_t backward = 0;
};

/// What holds where a configuration says nothing.
struct AnalysisDefaults {
  Anchor anchor = Anchor::BottomCenter;
  double hysteresis_pixels = 0.0;
  double grace_time_s = 1.0;
};

/// Limits, so that no tracker and no model fills the memory. Objects beyond the first count by
/// their place alone, classes beyond the second as kOtherClasses.
inline constexpr size_t kMaxFollowed = 10000;
inline constexpr size_t kMaxClasses = 1000;
inline constexpr char kOtherClasses[] = "(other)";

class ZoneState;
class TripwireState;

/// The zones and tripwires of one stream. One thread at a time.
class HET_API ZoneAnalysis {
 public:
  ZoneAnalysis();
  ~ZoneAnalysis();
  ZoneAnalysis(const ZoneAnalysis&) = delete;
  ZoneAnalysis& operator=(const ZoneAnalysis&) = delete;

  /// For pictures of this size. Zones and tripwires with the id and shape of one before go on:
  /// with their counts, visits and what is under way. Another size begins all visits anew.
  /// Returns the exits.
  std::vector<Event> configure(const Configuration& configuration, const AnalysisDefaults& defaults,
                               int width, int height);
  /// The next frame. A time before the last one is a new beginning, as reset() is.
  FrameResult update(const SeenFrame& frame);
  /// Forgets all objects; their visits end, counts stay. Returns the exits.
  std::vector<Event> reset();

  const Configuration& configuration() const { return configuration_; }
  /// By class, sorted; one entry for each class that was ever counted.
  std::map<std::string, ZoneCounts> zone_counts(size_t zone) const;
  std::map<std::string, TripwireCounts> tripwire_counts(size_t tripwire) const;
  /// Of all objects with an id that are remembered.
  size_t followed() const { return tracks_.size(); }
  /// Zones of no part of which a point lies in the picture.
  std::vector<std::string> zones_outside() const;

 private:
  /// What is known of an object with an id.
  struct FollowedObject {
    Place center;
    Place bottom_center;
    int64_t seen_ns = 0;
    uint64_t seen_in = 0;     ///< number of the frame
    uint64_t carried_in = 0;  ///< the same, of one without an observation
    bool is_missed = false;   ///< not in a frame that was analysed since
  };

  bool follow(const SeenFrame& frame, const SeenObject& object, FrameResult& result,
              FrameResult::Object& found);
  void forget(int id, std::vector<Event>& events);
  void forget_missed(const SeenFrame& frame, std::vector<Event>& events);

  Configuration configuration_;
  std::vector<ZoneState> zones_;
  std::vector<TripwireState> tripwires_;
  std::unordered_map<int, FollowedObject> tracks_;
  int width_ = 0;
  int height_ = 0;
  int64_t grace_ns_ = 0;
  int64_t last_ns_ = INT64_MIN;
  uint64_t frames_ = 0;
};

}  // namespace het::zones
