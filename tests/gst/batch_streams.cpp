#include "batch_streams.h"

#include <gst/video/video.h>

#include <algorithm>
#include <utility>

#if GST_CHECK_VERSION(1, 28, 0)
#include <gst/analytics/analytics.h>
#endif

namespace het::gst_test {
namespace {

constexpr GstClockTime kBatchFrameTime = 40 * GST_MSECOND;
constexpr char kBatchMarker[] = "hetero-test-batch-marker";

void set_time(GstBuffer* buffer, int number) {
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * kBatchFrameTime;
  GST_BUFFER_DURATION(buffer) = kBatchFrameTime;
}

std::string event_text(GstEvent* event) {
  const GstStructure* structure = gst_event_get_structure(event);
  if (structure == nullptr || !gst_structure_has_name(structure, kBatchMarker))
    return GST_EVENT_TYPE_NAME(event);
  int number = 0;
  gst_structure_get_int(structure, "number", &number);
  return "marker " + std::to_string(number);
}

std::string list_text(GstBufferList* list) {
  std::string text;
  for (guint i = 0; i < gst_buffer_list_length(list); ++i)
    text += (i == 0 ? "" : ", ") + frame_text(gst_buffer_list_get(list, i));
  return "list(" + text + ")";
}

}  // namespace

BatchStreams::BatchStreams(std::vector<std::string> caps)
    : caps_(std::move(caps)), sticky_(caps_.size()) {
  for (size_t i = 0; i < caps_.size(); ++i) {
    set_sticky(i, gst_event_new_stream_start(("stream-" + std::to_string(i)).c_str()));
    GstCaps* of_stream = gst_caps_from_string(caps_[i].c_str());
    set_sticky(i, gst_event_new_caps(of_stream));
    gst_caps_unref(of_stream);
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    set_sticky(i, gst_event_new_segment(&segment));
  }
}

BatchStreams::~BatchStreams() {
  for (const std::vector<GstEvent*>& events : sticky_)
    for (GstEvent* event : events) gst_event_unref(event);
}

std::string batch_caps(const std::vector<std::string>& streams) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(streams.size()));
  for (const std::string& caps : streams) {
    GValue value = G_VALUE_INIT;
    g_value_init(&value, GST_TYPE_CAPS);
    g_value_take_boxed(&value, gst_caps_from_string(caps.c_str()));
    gst_value_array_append_and_take_value(&array, &value);
  }
  GstCaps* all = gst_caps_from_string("multistream/x-analytics-batch(meta:GstAnalyticsBatchMeta)");
  gst_structure_take_value(gst_caps_get_structure(all, 0), "streams", &array);
  gchar* text = gst_caps_to_string(all);
  std::string result = text;
  g_free(text);
  gst_caps_unref(all);
  return result;
}

GstMiniObject* BatchStreams::frame(size_t stream, int number, int value) const {
  GstCaps* caps = gst_caps_from_string(caps_[stream].c_str());
  GstVideoInfo info;
  const gsize size = gst_video_info_from_caps(&info, caps) ? GST_VIDEO_INFO_SIZE(&info) : 16;
  gst_caps_unref(caps);
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, size, nullptr);
  gst_buffer_memset(buffer, 0, static_cast<guint8>(value), size);
  set_time(buffer, number);
  return GST_MINI_OBJECT_CAST(buffer);
}

void BatchStreams::set_sticky(size_t stream, GstEvent* event) {
  for (GstEvent*& had : sticky_[stream]) {
    if (GST_EVENT_TYPE(had) != GST_EVENT_TYPE(event)) continue;
    gst_event_unref(std::exchange(had, event));
    return;
  }
  sticky_[stream].push_back(event);
}

GstMiniObject* batch_marker(int number) {
  return GST_MINI_OBJECT_CAST(
      gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                           gst_structure_new(kBatchMarker, "number", G_TYPE_INT, number, nullptr)));
}

#if GST_CHECK_VERSION(1, 28, 0)

namespace {

template <class Object>
Object** copy_of(const std::vector<Object*>& objects) {
  auto** copy = g_new(Object*, objects.size());
  std::copy(objects.begin(), objects.end(), copy);
  return copy;
}

const GstAnalyticsBatchStream& stream_of(GstBuffer* batch, size_t stream) {
  return gst_buffer_get_analytics_batch_meta(batch)->streams[stream];
}

}  // namespace

GstBuffer* BatchStreams::batch(int number,
                               const std::vector<std::vector<GstMiniObject*>>& objects) const {
  GstBuffer* buffer = gst_buffer_new();
  set_time(buffer, number);
  GstAnalyticsBatchMeta* meta = gst_buffer_add_analytics_batch_meta(buffer);
  meta->n_streams = objects.size();
  meta->streams = g_new0(GstAnalyticsBatchStream, objects.size());
  for (size_t i = 0; i < objects.size(); ++i) {
    GstAnalyticsBatchStream& stream = meta->streams[i];
    stream.index = static_cast<guint>(i);
    stream.sticky_events = copy_of(sticky_[i]);
    stream.n_sticky_events = sticky_[i].size();
    for (GstEvent* event : sticky_[i]) gst_event_ref(event);
    stream.objects = copy_of(objects[i]);
    stream.n_objects = objects[i].size();
  }
  return buffer;
}

std::vector<GstMiniObject*> batch_objects(GstBuffer* batch, size_t stream) {
  const GstAnalyticsBatchStream& of_batch = stream_of(batch, stream);
  return {of_batch.objects, of_batch.objects + of_batch.n_objects};
}

GstEvent* batch_sticky(GstBuffer* batch, size_t stream, GstEventType type) {
  const GstAnalyticsBatchStream& of_batch = stream_of(batch, stream);
  for (gsize i = 0; i < of_batch.n_sticky_events; ++i)
    if (GST_EVENT_TYPE(of_batch.sticky_events[i]) == type) return of_batch.sticky_events[i];
  return nullptr;
}

#else

GstBuffer* BatchStreams::batch(int number,
                               const std::vector<std::vector<GstMiniObject*>>& objects) const {
  GstBuffer* buffer = gst_buffer_new();
  set_time(buffer, number);
  for (const std::vector<GstMiniObject*>& of_stream : objects)
    for (GstMiniObject* object : of_stream) gst_mini_object_unref(object);
  return buffer;
}

std::vector<GstMiniObject*> batch_objects(GstBuffer*, size_t) {
  return {};
}

GstEvent* batch_sticky(GstBuffer*, size_t, GstEventType) {
  return nullptr;
}

#endif

std::vector<std::string> batch_texts(GstBuffer* batch, size_t stream) {
  std::vector<std::string> texts;
  for (GstMiniObject* object : batch_objects(batch, stream)) {
    if (GST_IS_EVENT(object)) {
      texts.push_back(event_text(GST_EVENT_CAST(object)));
    } else if (GST_IS_BUFFER_LIST(object)) {
      texts.push_back(list_text(GST_BUFFER_LIST_CAST(object)));
    } else {
      texts.push_back(frame_text(GST_BUFFER_CAST(object)));
    }
  }
  return texts;
}

std::string frame_text(GstBuffer* buffer) {
  std::string text = "frame " + std::to_string(GST_BUFFER_PTS(buffer) / kBatchFrameTime);
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta);
    text += std::string(" ") + g_quark_to_string(region->roi_type) + " " +
            std::to_string(region->x) + "," + std::to_string(region->y) + "," +
            std::to_string(region->w) + "," + std::to_string(region->h);
    const GstStructure* found = gst_video_region_of_interest_meta_get_param(region, "detection");
    guint age = 0;
    if (found != nullptr && gst_structure_get_uint(found, "age-frames", &age))
      text += " age " + std::to_string(age);
  }
  return text;
}

}  // namespace het::gst_test
