#include "json_meta.h"

static gboolean json_meta_init(GstMeta* meta, gpointer, GstBuffer*) {
  reinterpret_cast<GstHeteroJsonMeta*>(meta)->message = nullptr;
  return TRUE;
}

static void json_meta_free(GstMeta* meta, GstBuffer*) {
  g_free(reinterpret_cast<GstHeteroJsonMeta*>(meta)->message);
}

static gboolean json_meta_transform(GstBuffer* dest, GstMeta* meta, GstBuffer*, GQuark type,
                                    gpointer) {
  if (!GST_META_TRANSFORM_IS_COPY(type)) return FALSE;
  het::gst::add_json_message(dest, reinterpret_cast<GstHeteroJsonMeta*>(meta)->message);
  return TRUE;
}

GType gst_hetero_json_meta_api_get_type() {
  static const gchar* tags[] = {nullptr};
  static const GType type = gst_meta_api_type_register("GstHeteroJsonMetaAPI", tags);
  return type;
}

const GstMetaInfo* gst_hetero_json_meta_get_info() {
  static const GstMetaInfo* info = gst_meta_register(
      GST_HETERO_JSON_META_API_TYPE, "GstHeteroJsonMeta", sizeof(GstHeteroJsonMeta), json_meta_init,
      json_meta_free, json_meta_transform);
  return info;
}

namespace het::gst {

void add_json_message(GstBuffer* buffer, const std::string& message) {
  auto* meta = reinterpret_cast<GstHeteroJsonMeta*>(
      gst_buffer_add_meta(buffer, gst_hetero_json_meta_get_info(), nullptr));
  meta->message = g_strdup(message.c_str());
}

std::vector<std::string> json_messages(GstBuffer* buffer) {
  std::vector<std::string> messages;
  gpointer state = nullptr;
  GstMeta* meta = nullptr;
  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_HETERO_JSON_META_API_TYPE)) !=
         nullptr) {
    messages.emplace_back(reinterpret_cast<GstHeteroJsonMeta*>(meta)->message);
  }
  return messages;
}

bool remove_json_message(GstBuffer* buffer, std::string_view message) {
  gpointer state = nullptr;
  GstMeta* meta = nullptr;
  while ((meta = gst_buffer_iterate_meta_filtered(buffer, &state, GST_HETERO_JSON_META_API_TYPE)) !=
         nullptr) {
    if (reinterpret_cast<GstHeteroJsonMeta*>(meta)->message == message)
      return gst_buffer_remove_meta(buffer, meta) != FALSE;
  }
  return false;
}

}  // namespace het::gst
