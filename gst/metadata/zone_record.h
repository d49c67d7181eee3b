#pragma once

#include <gst/gst.h>

#include <map>
#include <string>
#include <vector>

#include "inference/zones/zone_analysis.h"
#include "metadata.h"

/// Zones and tripwires on frames. Objects have params:
///   "zone"      zone_id: string; of an object with an id enter-time (ns of stream time) and dwell
///               (ns): uint64. One for each zone that the object is in.
///   "tripwire"  tripwire_id: string; direction: int (1 forward, -1 backward); time (ns of stream
///               time when it was on the line): uint64. On the frame in which the crossing counts.
/// The frame has a GstCustomMeta "GstHeteroZonesMeta" with the shapes and what was counted: arrays
/// `zones` and `tripwires` of structures, as set_zone_counts() writes them, with
///   type: string, points: array of double (x, y, ...), radius-x and radius-y: double, all in 0..1
///   of the picture; draw: boolean; color: array of uint; thickness: int.
namespace het::gst {

struct ZoneRecord {
  struct Zone {
    std::string id;
    bool is_circle = false;
    std::vector<double> points;  ///< x, y, x, y ... in 0..1 of the picture; of a circle its centre
    double radius_x = 0.0;
    double radius_y = 0.0;
    bool is_drawn = false;
    zones::Drawing drawing;
    std::map<std::string, zones::ZoneCounts> counts;  ///< by class

    zones::ZoneCounts total() const;
  };
  struct Tripwire {
    std::string id;
    std::vector<double> points;  ///< of two ends
    bool is_drawn = false;
    zones::Drawing drawing;
    std::map<std::string, zones::TripwireCounts> counts;

    zones::TripwireCounts total() const;
  };
  std::vector<Zone> zones;
  std::vector<Tripwire> tripwires;

  bool empty() const { return zones.empty() && tripwires.empty(); }
};

/// The shapes and counts of an analysis of pictures of this size.
ZoneRecord record_of(const zones::ZoneAnalysis& analysis, int width, int height, bool draw_zones,
                     bool draw_tripwires);

/// Sets the arrays `zones` (zone_id: string; occupancy, visits, ended: uint64; dwell, longest:
/// uint64, ns) and `tripwires` (tripwire_id: string; forward, backward: uint64); each entry has an
/// array `classes` of structures with a label and the same numbers.
void set_zone_counts(GstStructure* structure, const ZoneRecord& record);

/// Leaves a record on a writable buffer. It goes along where a frame is copied or scaled, and is
/// dropped where it is cut or turned.
void attach_zone_record(GstBuffer* buffer, const ZoneRecord& record);

/// All records of a buffer, as one. What another element has written wrongly is left out.
ZoneRecord read_zone_record(GstBuffer* buffer);

/// Adds the params to the n-th regions of a writable buffer.
void add_zone_params(GstBuffer* buffer, const zones::Configuration& configuration,
                     const std::vector<zones::FrameResult::Object>& objects);

}  // namespace het::gst
