#include "metadata_copy.h"

#include <vector>

#include "region_meta.h"
#include "scaled_rect.h"

namespace het::gst {
namespace {

/// The classes that no params name, as other elements attach them.
void copy_classes(const RegionMeta& from, RegionMeta& to) {
  for (const RegionClass& known : from.classes()) {
    const auto names_it = [&](const GList* link) {
      const char* label =
          gst_structure_get_string(static_cast<const GstStructure*>(link->data), "label");
      return label != nullptr && label == known.label;
    };
    const GList* link = from.params();
    while (link != nullptr && !names_it(link)) link = link->next;
    if (link != nullptr) continue;
    to.add_params(gst_structure_new("classification", "label", G_TYPE_STRING, known.label.c_str(),
                                    "confidence", G_TYPE_DOUBLE,
                                    static_cast<double>(known.confidence), nullptr));
  }
}

}  // namespace

int copy_regions(GstBuffer* from, const GstVideoInfo& from_info, GstBuffer* to,
                 const GstVideoInfo& to_info) {
  const MetadataForm form = RegionMeta::form_of(to).value_or(default_metadata_form());
  const std::vector<RegionMeta> regions = RegionMeta::all(from);
  std::vector<RegionMeta> copies;
  for (const RegionMeta& region : regions) {
    const Rect rect = scaled_rect(region.rect(), GST_VIDEO_INFO_WIDTH(&from_info),
                                  GST_VIDEO_INFO_HEIGHT(&from_info), GST_VIDEO_INFO_WIDTH(&to_info),
                                  GST_VIDEO_INFO_HEIGHT(&to_info));
    RegionMeta copy =
        RegionMeta::add(to, form, rect, region.type(), region.confidence().value_or(1.0f));
    for (const GList* link = region.params(); link; link = link->next)
      copy.add_params(gst_structure_copy(static_cast<const GstStructure*>(link->data)));
    copy_classes(region, copy);
    copies.push_back(copy);
  }
  // Ids begin anew on each frame.
  for (size_t i = 0; i < regions.size(); ++i) {
    if (const auto parent = parent_of(regions, i)) copies[i].set_parent(to, &copies[*parent]);
  }
  return static_cast<int>(copies.size());
}

}  // namespace het::gst
