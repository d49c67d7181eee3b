#include "serving/tune/frame_objects.h"

#include <fmt/format.h>
#include <gst/video/gstvideometa.h>

#include <cmath>
#include <string>

namespace het::serving {
namespace {

double number_field(const GstStructure* structure, const char* name, double otherwise) {
  gdouble value = 0;
  const bool is_there = gst_structure_get_double(structure, name, &value);
  return is_there && std::isfinite(value) ? value : otherwise;
}

/// Places as the model gave them, where they are: the meta has whole pixels.
void read_detection(const GstStructure* detection, RecordedFrame::Object& object) {
  const double left = number_field(detection, "x_min", -1);
  const double top = number_field(detection, "y_min", -1);
  const double right = number_field(detection, "x_max", -1);
  const double bottom = number_field(detection, "y_max", -1);
  object.confidence = number_field(detection, "confidence", 0);
  if (right <= left || bottom <= top) return;
  object.left = left;
  object.top = top;
  object.width = right - left;
  object.height = bottom - top;
}

std::string attribute_text(const GstStructure* classification) {
  const char* name = gst_structure_get_string(classification, "attribute_name");
  const char* label = gst_structure_get_string(classification, "label");
  gint label_id = -1;
  gst_structure_get_int(classification, "label_id", &label_id);
  return fmt::format("{}={}", name ? name : gst_structure_get_name(classification),
                     label ? std::string(label) : std::to_string(label_id));
}

RecordedFrame::Object read_object(const GstVideoRegionOfInterestMeta& meta) {
  RecordedFrame::Object object;
  const char* type = g_quark_to_string(meta.roi_type);
  object.label = type ? type : "";
  object.left = meta.x;
  object.top = meta.y;
  object.width = meta.w;
  object.height = meta.h;
  for (GList* item = meta.params; item; item = item->next) {
    const auto* params = static_cast<const GstStructure*>(item->data);
    if (gst_structure_has_name(params, "detection")) {
      read_detection(params, object);
    } else if (gst_structure_has_field(params, "label_id") ||
               gst_structure_has_field(params, "label")) {
      object.attributes.push_back(attribute_text(params));
    }
  }
  return object;
}

}  // namespace

std::vector<RecordedFrame::Object> frame_objects(GstBuffer* buffer) {
  std::vector<RecordedFrame::Object> objects;
  gpointer state = nullptr;
  while (const GstMeta* meta = gst_buffer_iterate_meta_filtered(
             buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    objects.push_back(read_object(*reinterpret_cast<const GstVideoRegionOfInterestMeta*>(meta)));
  }
  return objects;
}

}  // namespace het::serving
