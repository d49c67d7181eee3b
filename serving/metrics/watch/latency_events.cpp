// Records are GStreamer's unstable API, as tracers are.
#ifndef GST_USE_UNSTABLE_API
#define GST_USE_UNSTABLE_API
#endif
#include "serving/metrics/watch/latency_events.h"

#include <gst/gsttracerrecord.h>

#include <atomic>
#include <chrono>
#include <string>
#include <utility>

namespace het::metrics::latency_events {
namespace {

constexpr const char* kFromSource = "heterometrics-from-source";
constexpr const char* kFromElement = "heterometrics-from-element";
/// Sources that a sink is told of apart.
constexpr size_t kMostSources = 32;

std::atomic<bool> measures_pipelines = false;
std::atomic<bool> measures_elements = false;

uint64_t steady_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

GstStructure* text_field(const char* meaning) {
  return gst_structure_new("value", "type", G_TYPE_GTYPE, G_TYPE_STRING, "description",
                           G_TYPE_STRING, meaning, nullptr);
}

GstStructure* time_field() {
  return gst_structure_new("value", "type", G_TYPE_GTYPE, G_TYPE_UINT64, "description",
                           G_TYPE_STRING, "ns that it took", nullptr);
}

/// For as long as the process lives.
GstTracerRecord* kept(GstTracerRecord* record) {
  GST_OBJECT_FLAG_SET(record, GST_OBJECT_FLAG_MAY_BE_LEAKED);
  return record;
}

/// Lines of GST_DEBUG=GST_TRACER:7, as the tracer latency writes them.
GstTracerRecord* pipeline_record() {
  static GstTracerRecord* const made = kept(gst_tracer_record_new(
      "hetero-latency.class", "source", GST_TYPE_STRUCTURE, text_field("the source"), "sink",
      GST_TYPE_STRUCTURE, text_field("the sink"), "time", GST_TYPE_STRUCTURE, time_field(),
      nullptr));
  return made;
}

GstTracerRecord* element_record() {
  static GstTracerRecord* const made = kept(gst_tracer_record_new(
      "hetero-element-latency.class", "element", GST_TYPE_STRUCTURE, text_field("the element"),
      "time", GST_TYPE_STRUCTURE, time_field(), nullptr));
  return made;
}

void note_element(WatchedElement& element, uint64_t ns) {
  gst_tracer_record_log(element_record(), element.name.c_str(), guint64{ns});
  std::lock_guard lock(element.mutex);
  element.latency.take(static_cast<double>(ns) * 1e-9);
}

void note_pipeline(WatchedElement& sink, const std::string& source, uint64_t ns) {
  gst_tracer_record_log(pipeline_record(), source.c_str(), sink.name.c_str(), guint64{ns});
  std::lock_guard lock(sink.mutex);
  auto& known = sink.latency_from;
  const bool is_one_more = known.size() < kMostSources || known.contains(source);
  known[is_one_more ? source : "_other"].take(static_cast<double>(ns) * 1e-9);
}

/// True for an event of ours that ends here.
bool take_event(GstPad* pad, WatchedPad& watched, GstEvent* event) {
  if (GST_EVENT_TYPE(event) != GST_EVENT_CUSTOM_DOWNSTREAM) return false;
  const GstStructure* content = gst_event_get_structure(event);
  if (!content) return false;
  const bool is_sink = watched.element->is_sink;
  guint64 time = 0;
  if (gst_structure_has_name(content, kFromSource)) {
    const char* source = gst_structure_get_string(content, "source");
    if (!is_sink || !source) return false;
    gst_structure_get_uint64(content, "time", &time);
    std::lock_guard lock(watched.mutex);
    watched.begun_ns = time;
    watched.source = source;
    return true;
  }
  if (!gst_structure_has_name(content, kFromElement)) return false;
  gpointer from = nullptr;
  gst_structure_get(content, "from", G_TYPE_POINTER, &from, "time", G_TYPE_UINT64, &time, nullptr);
  if (from == pad) return false;
  std::lock_guard lock(watched.mutex);
  watched.entered_ns = time;
  return true;
}

GstPadProbeReturn look_at_event(GstPad* pad, GstPadProbeInfo* content, gpointer) {
  WatchedPad* watched = Registry::of_pad(pad);
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(content);
  return watched && take_event(pad, *watched, event) ? GST_PAD_PROBE_DROP : GST_PAD_PROBE_OK;
}

void take_pad(GstPad* pad, WatchedPad& watched) {
  const bool is_source_pad = GST_PAD_IS_SRC(pad);
  // Events end at the next element's source pad, or in a sink.
  if (!is_source_pad && !watched.element->is_sink) return;
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, look_at_event, nullptr, nullptr);
}

}  // namespace

void begin(bool with_pipeline, bool with_element) {
  measures_pipelines = with_pipeline;
  measures_elements = with_element;
  if (with_pipeline || with_element) Registry::of_process().on_new_pad(take_pad);
}

void before_push(GstPad* pad, WatchedPad& watched) {
  if (measures_pipelines && watched.element->is_source) {
    gst_pad_push_event(
        pad, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                  gst_structure_new(kFromSource, "source", G_TYPE_STRING,
                                                    watched.element->name.c_str(), "time",
                                                    G_TYPE_UINT64, guint64{steady_ns()}, nullptr)));
  }
  if (!measures_elements) return;
  uint64_t entered_ns = 0;
  {
    std::lock_guard lock(watched.mutex);
    entered_ns = std::exchange(watched.entered_ns, 0);
  }
  const uint64_t now = steady_ns();
  if (entered_ns > 0 && now > entered_ns) note_element(*watched.element, now - entered_ns);
  gst_pad_push_event(
      pad, gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                                gst_structure_new(kFromElement, "from", G_TYPE_POINTER, pad, "time",
                                                  G_TYPE_UINT64, guint64{now}, nullptr)));
}

void at_sink(WatchedPad& watched) {
  if (!measures_pipelines) return;
  uint64_t begun_ns = 0;
  std::string source;
  {
    std::lock_guard lock(watched.mutex);
    begun_ns = std::exchange(watched.begun_ns, 0);
    source = watched.source;
  }
  const uint64_t now = steady_ns();
  if (begun_ns > 0 && now > begun_ns) note_pipeline(*watched.element, source, now - begun_ns);
}

}  // namespace het::metrics::latency_events
