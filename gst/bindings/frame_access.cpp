#include "frame_access.h"

#include "gst/messages/json_meta.h"
#include "gst/metadata/metadata.h"
#include "gst/metadata/metadata_copy.h"

namespace het::gst {
namespace {

MetadataForm form_for(GstBuffer* buffer) {
  return RegionMeta::form_of(buffer).value_or(default_metadata_form());
}

RegionContent content_of(const RegionMeta& region) {
  RegionContent content;
  if (region.has_rect()) content.rect = region.rect();
  content.type = region.type();
  content.is_whole_picture = region.is_whole_picture();
  content.confidence = region.confidence();
  content.turned = region.turned_box();
  content.id = region.id();
  content.parent_id = region.parent_id();
  return content;
}

const FrameAccess kTable = {
    HET_GST_VERSION,
    RegionMeta::all,
    content_of,
    [](const RegionMeta& region) { return region.params(); },
    params_of_others,
    object_id,
    [](GstBuffer* buffer, const Rect& rect, std::string_view type, float confidence) {
      return RegionMeta::add(buffer, form_for(buffer), rect, type, confidence);
    },
    [](GstBuffer* buffer, int width, int height) {
      return RegionMeta::add_whole_picture(buffer, form_for(buffer), width, height);
    },
    [](RegionMeta& region, GstStructure* params) { region.add_params(params); },
    [](RegionMeta& region, int id) { set_object_id(region, id); },
    [](GstBuffer* buffer, RegionMeta region, const RegionMeta& parent) {
      region.set_parent(buffer, &parent);
    },
    [](GstBuffer* buffer, RegionMeta region) { region.remove(buffer); },
    json_messages,
    add_json_message,
    remove_json_message,
};

}  // namespace

void offer_frame_access(GstPlugin* plugin) {
  g_object_set_data(G_OBJECT(plugin), kFrameAccess, const_cast<FrameAccess*>(&kTable));
}

}  // namespace het::gst
