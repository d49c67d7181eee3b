#include "serving/metrics/watch/element_values.h"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace het::metrics {
namespace {

struct StatsField {
  const char* field;
  std::string_view family;
};

constexpr StatsField kInferenceFields[] = {
    {"frames-in", "hetero_frames_in"},
    {"frames", "hetero_frames_out"},
    {"frames-analysed", "hetero_frames_analysed"},
    {"frames-late", "hetero_frames_late"},
    {"frames-dropped", "hetero_frames_dropped"},
    {"frames-carried", "hetero_frames_carried"},
    {"frames-in-flight", "hetero_frames_in_flight"},
    {"regions", "hetero_regions_analysed"},
    {"regions-skipped", "hetero_regions_skipped"},
    {"objects", "hetero_objects"},
    {"requests", "hetero_requests"},
    {"requests-busy", "hetero_requests_busy"},
};
constexpr StatsField kPublisherFields[] = {
    {"written", "hetero_messages_written"},
    {"delivered", "hetero_messages_delivered"},
    {"dropped", "hetero_messages_dropped"},
    {"waiting", "hetero_messages_waiting"},
};
constexpr StatsField kAnalyticsFields[] = {
    {"frames", "hetero_analytics_frames"},
    {"frames-analysed", "hetero_analytics_frames_analysed"},
    {"objects", "hetero_analytics_objects"},
};
constexpr StatsField kMotionFields[] = {
    {"frames", "hetero_motion_frames"},
    {"frames-moving", "hetero_motion_frames_moving"},
    {"frames-still", "hetero_motion_frames_still"},
    {"regions", "hetero_motion_regions"},
    {"light-changes", "hetero_motion_light_changes"},
};
constexpr StatsField kTrackFields[] = {
    {"frames", "hetero_track_frames"},
    {"objects", "hetero_track_objects"},
    {"ids", "hetero_track_ids"},
};
constexpr StatsField kSinkFields[] = {
    {"rendered", "gst_sink_rendered"},
    {"dropped", "gst_sink_dropped"},
};

/// What the fields of an element's `stats` are told as; nothing for elements that are not known.
std::span<const StatsField> fields_of(const WatchedElement& element) {
  const std::string_view factory = element.factory;
  if (factory == "heterodetect" || factory == "heteroclassify" || factory == "heteroinference") {
    return kInferenceFields;
  }
  if (factory.starts_with("heterometapublish")) return kPublisherFields;
  if (factory == "heteroanalytics") return kAnalyticsFields;
  if (factory == "heteromotiondetect") return kMotionFields;
  if (factory == "heterotrack") return kTrackFields;
  if (element.is_sink) return kSinkFields;
  return {};
}

/// A whole number of any kind.
std::optional<double> number_of(const GValue* value) {
  if (!value) return std::nullopt;
  GValue number = G_VALUE_INIT;
  g_value_init(&number, G_TYPE_DOUBLE);
  std::optional<double> found;
  if (g_value_transform(value, &number)) found = g_value_get_double(&number);
  g_value_unset(&number);
  return found;
}

/// Of a property that is a number.
std::optional<double> property_number(GstElement* element, const char* name) {
  if (!g_object_class_find_property(G_OBJECT_GET_CLASS(element), name)) return std::nullopt;
  GValue value = G_VALUE_INIT;
  g_object_get_property(G_OBJECT(element), name, &value);
  const std::optional<double> found = number_of(&value);
  g_value_unset(&value);
  return found;
}

void write_levels(MetricText& text, GstElement* element, Labels labels) {
  constexpr double kSecondsOfNs = 1e-9;
  if (const auto buffers = property_number(element, "current-level-buffers"))
    text.add("gst_queue_buffers", labels, *buffers);
  if (const auto bytes = property_number(element, "current-level-bytes"))
    text.add("gst_queue_level_bytes", labels, *bytes);
  if (const auto time = property_number(element, "current-level-time"))
    text.add("gst_queue_level_seconds", labels, *time * kSecondsOfNs);
}

void write_classes(MetricText& text, const GstStructure* stats, const std::string& pipeline,
                   const std::string& element) {
  const GValue* classes = gst_structure_get_value(stats, "objects-by-class");
  if (!classes || !GST_VALUE_HOLDS_ARRAY(classes)) return;
  for (guint i = 0; i < gst_value_array_get_size(classes); ++i) {
    const GstStructure* one = gst_value_get_structure(gst_value_array_get_value(classes, i));
    const char* label = one ? gst_structure_get_string(one, "label") : nullptr;
    const auto count = one ? number_of(gst_structure_get_value(one, "count")) : std::nullopt;
    if (!label || !count) continue;
    text.add("hetero_objects_by_class",
             {{"pipeline", pipeline}, {"element", element}, {"class", *label ? label : "_none"}},
             *count);
  }
}

void write_stats(MetricText& text, GstElement* element, const Registry::Entry& entry,
                 std::span<const StatsField> fields) {
  GstStructure* stats = nullptr;
  g_object_get(element, "stats", &stats, nullptr);
  if (!stats) return;
  const std::string& pipeline = entry.pipeline->name;
  for (const StatsField& field : fields) {
    const auto number = number_of(gst_structure_get_value(stats, field.field));
    if (number)
      text.add(field.family, {{"pipeline", pipeline}, {"element", entry.element->name}}, *number);
  }
  write_classes(text, stats, pipeline, entry.element->name);
  gst_structure_free(stats);
}

void write_latencies(MetricText& text, const Registry::Entry& entry) {
  const WatchedElement& element = *entry.element;
  std::lock_guard lock(element.mutex);
  if (element.latency.sum > 0) {
    text.add("gst_element_latency_seconds",
             {{"pipeline", entry.pipeline->name}, {"element", element.name}}, element.latency);
  }
  for (const auto& [source, values] : element.latency_from) {
    text.add("gst_pipeline_latency_seconds",
             {{"pipeline", entry.pipeline->name}, {"source", source}, {"sink", element.name}},
             values);
  }
}

}  // namespace

void write_element(MetricText& text, const Registry::Entry& entry) {
  const WatchedElement& watched = *entry.element;
  const auto element = watched.object.get();
  if (!element) return;
  const Labels labels = {{"pipeline", entry.pipeline->name}, {"element", watched.name}};
  if (watched.is_source) {
    text.add("gst_source_buffers", labels, static_cast<double>(watched.pushed.load()));
    text.add("gst_source_bytes", labels, static_cast<double>(watched.pushed_bytes.load()));
  }
  if (watched.is_sink) {
    text.add("gst_sink_buffers", labels, static_cast<double>(watched.arrived.load()));
    const int64_t last_ns = watched.arrived_ns;
    if (last_ns > 0) {
      text.add("gst_sink_last_buffer_timestamp_seconds", labels,
               static_cast<double>(last_ns / 1000000) * 1e-3);
    }
  }
  if (watched.has_levels) write_levels(text, element.get(), labels);
  write_latencies(text, entry);
  const std::span<const StatsField> fields = fields_of(watched);
  if (watched.has_stats && !fields.empty()) write_stats(text, element.get(), entry, fields);
}

}  // namespace het::metrics
