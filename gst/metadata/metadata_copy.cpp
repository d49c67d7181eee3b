#include "metadata_copy.h"

#include <algorithm>
#include <cmath>

#include "region_meta.h"

namespace het::gst {
namespace {

/// A range of pixels in a picture of another size: at least one pixel of it.
void scale_range(int from_size, int to_size, int* start, int* count) {
  const double factor = static_cast<double>(to_size) / std::max(from_size, 1);
  const auto at = [&](int place) {
    return static_cast<int>(
        std::clamp(std::lround(place * factor), 0l, static_cast<long>(to_size)));
  };
  const int first = std::min(at(*start), to_size - 1);
  const int end = at(static_cast<int>(std::min<int64_t>(int64_t{*start} + *count, from_size)));
  *start = first;
  *count = std::max(end - first, 1);
}

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
  int count = 0;
  for (const RegionMeta& region : RegionMeta::all(from)) {
    Rect rect = region.rect();
    scale_range(GST_VIDEO_INFO_WIDTH(&from_info), GST_VIDEO_INFO_WIDTH(&to_info), &rect.x,
                &rect.width);
    scale_range(GST_VIDEO_INFO_HEIGHT(&from_info), GST_VIDEO_INFO_HEIGHT(&to_info), &rect.y,
                &rect.height);
    RegionMeta copy =
        RegionMeta::add(to, form, rect, region.type(), region.confidence().value_or(1.0f));
    for (const GList* link = region.params(); link; link = link->next)
      copy.add_params(gst_structure_copy(static_cast<const GstStructure*>(link->data)));
    copy_classes(region, copy);
    ++count;
  }
  return count;
}

}  // namespace het::gst
