#include "zone_record.h"

#include <gst/video/video.h>

#include <algorithm>
#include <array>

#include "picture_change.h"
#include "structure_fields.h"

namespace het::gst {
namespace {

constexpr char kZonesMeta[] = "GstHeteroZonesMeta";

/// Appends a structure (taken over) to an array.
void append(GValue* array, GstStructure* structure) {
  GValue item = G_VALUE_INIT;
  g_value_init(&item, GST_TYPE_STRUCTURE);
  g_value_take_boxed(&item, structure);
  gst_value_array_append_and_take_value(array, &item);
}

template <class Item, class Write>
void set_structures(GstStructure* structure, const char* field, const Item& items, Write write) {
  GValue array = G_VALUE_INIT;
  g_value_init(&array, GST_TYPE_ARRAY);
  for (const auto& item : items) append(&array, write(item));
  gst_structure_take_value(structure, field, &array);
}

std::vector<const GstStructure*> structures_of(const GstStructure* structure, const char* field) {
  std::vector<const GstStructure*> found;
  const GValue* array = gst_structure_get_value(structure, field);
  if (!array || !GST_VALUE_HOLDS_ARRAY(array)) return found;
  for (guint i = 0; i < gst_value_array_get_size(array); ++i) {
    const GValue* item = gst_value_array_get_value(array, i);
    if (GST_VALUE_HOLDS_STRUCTURE(item)) found.push_back(gst_value_get_structure(item));
  }
  return found;
}

void set_numbers(GstStructure* structure, const zones::ZoneCounts& counts) {
  gst_structure_set(structure, "occupancy", G_TYPE_UINT64, guint64{counts.occupancy}, "visits",
                    G_TYPE_UINT64, guint64{counts.visits}, "ended", G_TYPE_UINT64,
                    guint64{counts.ended}, "dwell", G_TYPE_UINT64,
                    static_cast<guint64>(counts.dwell_ns), "longest", G_TYPE_UINT64,
                    static_cast<guint64>(counts.longest_ns), nullptr);
}

void set_numbers(GstStructure* structure, const zones::TripwireCounts& counts) {
  gst_structure_set(structure, "forward", G_TYPE_UINT64, guint64{counts.forward}, "backward",
                    G_TYPE_UINT64, guint64{counts.backward}, nullptr);
}

uint64_t whole_number(const GstStructure* structure, const char* field) {
  return number<guint64>(structure, field, G_TYPE_UINT64).value_or(0);
}

void read_numbers(const GstStructure* structure, zones::ZoneCounts& counts) {
  counts.occupancy = whole_number(structure, "occupancy");
  counts.visits = whole_number(structure, "visits");
  counts.ended = whole_number(structure, "ended");
  counts.dwell_ns = static_cast<int64_t>(whole_number(structure, "dwell"));
  counts.longest_ns = static_cast<int64_t>(whole_number(structure, "longest"));
}

void read_numbers(const GstStructure* structure, zones::TripwireCounts& counts) {
  counts.forward = whole_number(structure, "forward");
  counts.backward = whole_number(structure, "backward");
}

/// A zone or a tripwire: its id, its numbers, and those of each class.
template <class Shape>
GstStructure* counted(const char* name, const char* id_field, const Shape& shape) {
  GstStructure* structure = gst_structure_new_empty(name);
  set_text(structure, id_field, shape.id);
  set_numbers(structure, shape.total());
  set_structures(structure, "classes", shape.counts, [](const auto& entry) {
    GstStructure* of_class = gst_structure_new_empty("class");
    set_text(of_class, "label", entry.first);
    set_numbers(of_class, entry.second);
    return of_class;
  });
  return structure;
}

template <class Shape>
void set_shape(GstStructure* structure, const Shape& shape) {
  set_doubles(structure, "points", shape.points);
  gst_structure_set(structure, "draw", G_TYPE_BOOLEAN, shape.is_drawn, nullptr);
  if (shape.drawing.color) {
    std::vector<guint> levels;
    for (const int level : *shape.drawing.color) levels.push_back(static_cast<guint>(level));
    set_uints(structure, "color", levels);
  }
  if (shape.drawing.thickness)
    gst_structure_set(structure, "thickness", G_TYPE_INT, *shape.drawing.thickness, nullptr);
}

/// False where it is no shape of ours.
template <class Shape>
bool read_shape(const GstStructure* structure, const char* id_field, size_t numbers, Shape& shape) {
  const std::optional<std::string> id = text(structure, id_field);
  shape.points = read_doubles(structure, "points");
  if (!id || shape.points.size() < numbers || shape.points.size() % 2 != 0) return false;
  shape.id = *id;
  shape.is_drawn = number<gboolean>(structure, "draw", G_TYPE_BOOLEAN).value_or(FALSE) != FALSE;
  const std::vector<guint> levels = read_uints(structure, "color");
  if (levels.size() == 3) {
    std::array<int, 3> color{};
    for (size_t i = 0; i < color.size(); ++i)
      color[i] = static_cast<int>(std::min(levels[i], 255u));
    shape.drawing.color = color;
  }
  shape.drawing.thickness = number<int>(structure, "thickness", G_TYPE_INT);
  for (const GstStructure* of_class : structures_of(structure, "classes")) {
    if (const auto label = text(of_class, "label")) read_numbers(of_class, shape.counts[*label]);
  }
  return true;
}

/// Places are relative: they hold for a copy and for a scaled frame, but not for a part of it.
gboolean transform_record(GstBuffer* to, GstCustomMeta* meta, GstBuffer*, GQuark type,
                          gpointer data, gpointer) {
  if (GST_META_TRANSFORM_IS_COPY(type)) {
    if (static_cast<const GstMetaTransformCopy*>(data)->region) return FALSE;
  } else {
    const std::optional<PictureChange> change = PictureChange::from(type, data);
    if (!change || !change->is_upright() || !change->keeps_relative_places()) return FALSE;
  }
  GstCustomMeta* copy = gst_buffer_add_custom_meta(to, kZonesMeta);
  if (!copy) return FALSE;
  const GstStructure* from = gst_custom_meta_get_structure(meta);
  for (const char* field : {"zones", "tripwires"}) {
    if (const GValue* value = gst_structure_get_value(from, field))
      gst_structure_set_value(gst_custom_meta_get_structure(copy), field, value);
  }
  return TRUE;
}

const GstMetaInfo* zones_meta() {
  static const char* tags[] = {"video", "orientation", "size", nullptr};
  static const GstMetaInfo* const info =
      gst_meta_register_custom(kZonesMeta, tags, transform_record, nullptr, nullptr);
  return info;
}

void read_one_record(const GstStructure* structure, ZoneRecord& record) {
  for (const GstStructure* entry : structures_of(structure, "zones")) {
    ZoneRecord::Zone zone;
    zone.is_circle = text(entry, "type") == "circle";
    if (!read_shape(entry, "zone_id", zone.is_circle ? 2 : 6, zone)) continue;
    zone.radius_x = number<double>(entry, "radius-x", G_TYPE_DOUBLE).value_or(0.0);
    zone.radius_y = number<double>(entry, "radius-y", G_TYPE_DOUBLE).value_or(0.0);
    record.zones.push_back(std::move(zone));
  }
  for (const GstStructure* entry : structures_of(structure, "tripwires")) {
    ZoneRecord::Tripwire line;
    if (read_shape(entry, "tripwire_id", 4, line)) record.tripwires.push_back(std::move(line));
  }
}

}  // namespace

zones::ZoneCounts ZoneRecord::Zone::total() const {
  zones::ZoneCounts all;
  for (const auto& [label, of_class] : counts) {
    all.occupancy += of_class.occupancy;
    all.visits += of_class.visits;
    all.ended += of_class.ended;
    all.dwell_ns += of_class.dwell_ns;
    all.longest_ns = std::max(all.longest_ns, of_class.longest_ns);
  }
  return all;
}

zones::TripwireCounts ZoneRecord::Tripwire::total() const {
  zones::TripwireCounts all;
  for (const auto& [label, of_class] : counts) {
    all.forward += of_class.forward;
    all.backward += of_class.backward;
  }
  return all;
}

ZoneRecord record_of(const zones::ZoneAnalysis& analysis, int width, int height, bool draw_zones,
                     bool draw_tripwires) {
  ZoneRecord record;
  const auto add = [&](std::vector<double>& points, const zones::Point& point, zones::Units units) {
    const bool in_pixels = units == zones::Units::Pixels;
    points.push_back(in_pixels ? point.x / std::max(width, 1) : point.x);
    points.push_back(in_pixels ? point.y / std::max(height, 1) : point.y);
  };
  const zones::Configuration& configuration = analysis.configuration();
  for (size_t i = 0; i < configuration.zones.size(); ++i) {
    const zones::ZoneSpec& spec = configuration.zones[i];
    ZoneRecord::Zone& zone = record.zones.emplace_back();
    zone.id = spec.id;
    zone.is_circle = spec.is_circle;
    for (const zones::Point& point : spec.points) add(zone.points, point, spec.units);
    if (spec.is_circle) {
      add(zone.points, spec.center, spec.units);
      const double pixels =
          spec.radius * (spec.units == zones::Units::Relative ? std::min(width, height) : 1);
      zone.radius_x = pixels / std::max(width, 1);
      zone.radius_y = pixels / std::max(height, 1);
    }
    zone.is_drawn = draw_zones;
    zone.drawing = spec.drawing;
    zone.counts = analysis.zone_counts(i);
  }
  for (size_t i = 0; i < configuration.tripwires.size(); ++i) {
    const zones::TripwireSpec& spec = configuration.tripwires[i];
    ZoneRecord::Tripwire& line = record.tripwires.emplace_back();
    line.id = spec.id;
    add(line.points, spec.from, spec.units);
    add(line.points, spec.to, spec.units);
    line.is_drawn = draw_tripwires;
    line.drawing = spec.drawing;
    line.counts = analysis.tripwire_counts(i);
  }
  return record;
}

void set_zone_counts(GstStructure* structure, const ZoneRecord& record) {
  set_structures(structure, "zones", record.zones,
                 [](const ZoneRecord::Zone& zone) { return counted("zone", "zone_id", zone); });
  set_structures(structure, "tripwires", record.tripwires, [](const ZoneRecord::Tripwire& line) {
    return counted("tripwire", "tripwire_id", line);
  });
}

void attach_zone_record(GstBuffer* buffer, const ZoneRecord& record) {
  zones_meta();
  GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, kZonesMeta);
  if (!meta) return;
  GstStructure* structure = gst_custom_meta_get_structure(meta);
  set_structures(structure, "zones", record.zones, [](const ZoneRecord::Zone& zone) {
    GstStructure* entry = counted("zone", "zone_id", zone);
    gst_structure_set(entry, "type", G_TYPE_STRING, zone.is_circle ? "circle" : "polygon", nullptr);
    if (zone.is_circle)
      gst_structure_set(entry, "radius-x", G_TYPE_DOUBLE, zone.radius_x, "radius-y", G_TYPE_DOUBLE,
                        zone.radius_y, nullptr);
    set_shape(entry, zone);
    return entry;
  });
  set_structures(structure, "tripwires", record.tripwires, [](const ZoneRecord::Tripwire& line) {
    GstStructure* entry = counted("tripwire", "tripwire_id", line);
    set_shape(entry, line);
    return entry;
  });
}

ZoneRecord read_zone_record(GstBuffer* buffer) {
  const GstMetaInfo* const info = zones_meta();
  ZoneRecord record;
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(buffer, &state, info->api))
    read_one_record(gst_custom_meta_get_structure(reinterpret_cast<GstCustomMeta*>(meta)), record);
  return record;
}

void add_zone_params(GstBuffer* buffer, const zones::Configuration& configuration,
                     const std::vector<zones::FrameResult::Object>& objects) {
  std::vector<RegionMeta> regions = RegionMeta::all(buffer);
  for (size_t i = 0; i < std::min(objects.size(), regions.size()); ++i) {
    for (const zones::Presence& presence : objects[i].zones) {
      GstStructure* params = gst_structure_new_empty("zone");
      set_text(params, "zone_id", configuration.zones[presence.zone].id);
      if (presence.enter_ns && presence.dwell_ns)
        gst_structure_set(params, "enter-time", G_TYPE_UINT64,
                          static_cast<guint64>(*presence.enter_ns), "dwell", G_TYPE_UINT64,
                          static_cast<guint64>(*presence.dwell_ns), nullptr);
      regions[i].add_params(params);
    }
    for (const zones::Passage& passage : objects[i].tripwires) {
      GstStructure* params =
          gst_structure_new("tripwire", "direction", G_TYPE_INT, passage.direction, "time",
                            G_TYPE_UINT64, static_cast<guint64>(passage.time_ns), nullptr);
      set_text(params, "tripwire_id", configuration.tripwires[passage.tripwire].id);
      regions[i].add_params(params);
    }
  }
}

}  // namespace het::gst
