#include "batch_caps.h"

namespace het::gst {
namespace {

constexpr const char* kBatch = "multistream/x-analytics-batch";
constexpr const char* kStreams = "streams";

bool is_batch(const GstStructure* structure) {
  return gst_structure_has_name(structure, kBatch);
}

const GValue* streams_of(const GstStructure* batch) {
  const GValue* streams = gst_structure_get_value(batch, kStreams);
  return streams != nullptr && GST_VALUE_HOLDS_ARRAY(streams) ? streams : nullptr;
}

/// Null where it says nothing.
GstCaps* nth_stream(const GValue* streams, guint index) {
  const GValue* value = gst_value_array_get_value(streams, index);
  return GST_VALUE_HOLDS_CAPS(value) ? static_cast<GstCaps*>(g_value_get_boxed(value)) : nullptr;
}

/// `change` takes the caps of a stream over.
void change_streams(GstStructure* batch, const std::function<GstCaps*(GstCaps*)>& change) {
  const GValue* had = streams_of(batch);
  if (had == nullptr) return;
  GValue streams = G_VALUE_INIT;
  gst_value_array_init(&streams, gst_value_array_get_size(had));
  for (guint i = 0; i < gst_value_array_get_size(had); ++i) {
    GstCaps* caps = nth_stream(had, i);
    GValue value = G_VALUE_INIT;
    g_value_init(&value, GST_TYPE_CAPS);
    if (caps != nullptr) g_value_take_boxed(&value, change(gst_caps_ref(caps)));
    gst_value_array_append_and_take_value(&streams, &value);
  }
  gst_structure_take_value(batch, kStreams, &streams);
}

}  // namespace

bool is_batch_caps(const GstCaps* caps) {
  return gst_caps_get_size(caps) > 0 && is_batch(gst_caps_get_structure(caps, 0));
}

std::vector<const GstCaps*> stream_caps(const GstCaps* caps) {
  std::vector<const GstCaps*> all;
  const GValue* streams = streams_of(gst_caps_get_structure(caps, 0));
  const guint count = streams != nullptr ? gst_value_array_get_size(streams) : 0;
  for (guint i = 0; i < count; ++i) all.push_back(nth_stream(streams, i));
  return all;
}

bool is_unknown_stream(const GstCaps* caps) {
  return gst_caps_get_size(caps) == 1 &&
         gst_structure_has_name(gst_caps_get_structure(caps, 0), "application/unknown");
}

void change_frame_structures(GstCaps* caps, const std::function<void(GstStructure*)>& change) {
  const auto change_stream = [&](GstCaps* stream) {
    GstCaps* changed = gst_caps_make_writable(stream);
    for (guint i = 0; i < gst_caps_get_size(changed); ++i) {
      GstStructure* structure = gst_caps_get_structure(changed, i);
      if (gst_structure_has_name(structure, "video/x-raw")) change(structure);
    }
    return changed;
  };
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    GstStructure* structure = gst_caps_get_structure(caps, i);
    if (is_batch(structure)) {
      change_streams(structure, change_stream);
    } else {
      change(structure);
    }
  }
}

GstCaps* with_streams_among(GstCaps* caps, GstCaps* frames) {
  const auto intersect = [frames](GstCaps* stream) {
    GstCaps* both = gst_caps_intersect_full(stream, frames, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(stream);
    return both;
  };
  GstCaps* result = gst_caps_make_writable(caps);
  for (guint i = 0; i < gst_caps_get_size(result); ++i) {
    GstStructure* structure = gst_caps_get_structure(result, i);
    if (is_batch(structure)) change_streams(structure, intersect);
  }
  return result;
}

}  // namespace het::gst
