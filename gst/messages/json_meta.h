#pragma once

#include <gst/gst.h>

#include <string>
#include <string_view>
#include <vector>

/// A JSON message about its buffer, as heterometaconvert writes it and heterometapublish sends it.
/// Goes along when a buffer is copied.
struct GstHeteroJsonMeta {
  GstMeta meta;
  gchar* message;  ///< UTF-8, owned
};

GType gst_hetero_json_meta_api_get_type();
const GstMetaInfo* gst_hetero_json_meta_get_info();
#define GST_HETERO_JSON_META_API_TYPE (gst_hetero_json_meta_api_get_type())

namespace het::gst {

/// The buffer must be writable.
void add_json_message(GstBuffer* buffer, const std::string& message);

/// In the order in which they were added.
std::vector<std::string> json_messages(GstBuffer* buffer);

/// Removes the first one with this text from a writable buffer; false where there is none.
bool remove_json_message(GstBuffer* buffer, std::string_view message);

}  // namespace het::gst
