#include "serving/launch/instance/decoder_threads.h"

#include "serving/launch/instance/pipeline_elements.h"

namespace het::serving {
namespace {

/// avdec_* and libde265dec; vp8dec, vp9dec and av1dec; dav1ddec; others.
constexpr const char* kThreadProperties[] = {"max-threads", "threads", "n-threads", "num-threads"};

GParamSpec* thread_property(GstElement* element) {
  if (!is_video_decoder(element)) return nullptr;
  for (const char* name : kThreadProperties) {
    GParamSpec* property = g_object_class_find_property(G_OBJECT_GET_CLASS(element), name);
    if (!property || (property->flags & G_PARAM_READWRITE) != G_PARAM_READWRITE) continue;
    if (G_IS_PARAM_SPEC_INT(property) || G_IS_PARAM_SPEC_UINT(property)) return property;
  }
  return nullptr;
}

}  // namespace

bool is_video_decoder(GstElement* element) {
  return has_class(element, {"Decoder", "Video"}) || has_class(element, {"Decoder", "Image"});
}

std::optional<size_t> decoder_threads(GstElement* element) {
  GParamSpec* property = thread_property(element);
  if (!property) return std::nullopt;
  GValue value = G_VALUE_INIT;
  g_value_init(&value, property->value_type);
  g_object_get_property(G_OBJECT(element), property->name, &value);
  size_t threads = 0;
  if (!g_param_value_defaults(property, &value)) {
    threads = G_VALUE_HOLDS_UINT(&value) ? g_value_get_uint(&value)
                                         : static_cast<size_t>(MAX(g_value_get_int(&value), 0));
  }
  g_value_unset(&value);
  return threads;
}

void set_decoder_threads(GstElement* element, size_t threads) {
  GParamSpec* property = thread_property(element);
  if (threads == 0 || !property || decoder_threads(element) != 0) return;
  GValue value = G_VALUE_INIT;
  g_value_init(&value, property->value_type);
  if (G_VALUE_HOLDS_UINT(&value)) {
    g_value_set_uint(&value, static_cast<guint>(MIN(threads, size_t{G_MAXINT})));
  } else {
    g_value_set_int(&value, static_cast<gint>(MIN(threads, size_t{G_MAXINT})));
  }
  g_param_value_validate(property, &value);
  g_object_set_property(G_OBJECT(element), property->name, &value);
  g_value_unset(&value);
}

}  // namespace het::serving
