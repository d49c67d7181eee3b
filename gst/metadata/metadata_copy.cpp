#include "metadata_copy.h"

#include "metadata_tensors.h"
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
    GstStructure* params =
        gst_structure_new("classification", "label", G_TYPE_STRING, known.label.c_str(), nullptr);
    if (known.confidence >= 0.0f)
      gst_structure_set(params, "confidence", G_TYPE_DOUBLE, static_cast<double>(known.confidence),
                        nullptr);
    to.add_params(params);
  }
}

/// The id that another element's tracker gave it.
void copy_track(const RegionMeta& from, RegionMeta& to) {
  for (const GList* link = from.params(); link; link = link->next) {
    if (gst_structure_has_name(static_cast<const GstStructure*>(link->data), "object_id")) return;
  }
  if (const std::optional<int> id = from.track_id())
    to.add_params(gst_structure_new("object_id", "id", G_TYPE_INT, *id, nullptr));
}

/// Those that other elements attached, as params of ours.
void copy_segmentations(const RegionMeta& from, const GstVideoInfo& from_info, RegionMeta& to,
                        const GstVideoInfo& to_info) {
  ObjectTensors read;
  for (const RegionSegmentation& segmentation : from.segmentations())
    read_segmentation(segmentation, GST_VIDEO_INFO_WIDTH(&from_info),
                      GST_VIDEO_INFO_HEIGHT(&from_info), read);
  const auto width = static_cast<float>(GST_VIDEO_INFO_WIDTH(&to_info));
  const auto height = static_cast<float>(GST_VIDEO_INFO_HEIGHT(&to_info));
  const auto place = [&](const auto& box, auto& target) {
    target.x_min = static_cast<float>(box.x_min) * width;
    target.x_max = static_cast<float>(box.x_max) * width;
    target.y_min = static_cast<float>(box.y_min) * height;
    target.y_max = static_cast<float>(box.y_max) * height;
  };
  Results results;
  for (const ObjectSegmentation& known : read.segmentations) {
    Segmentation& segmentation = results.segmentations.emplace_back();
    place(known, segmentation);
    segmentation.width = known.columns();
    segmentation.height = known.rows();
    segmentation.labels = known.labels;
    const auto cells = static_cast<size_t>(known.values.element_count());
    for (size_t cell = 0; cell < cells; ++cell)
      segmentation.class_ids.push_back(known.class_id(cell));
  }
  add_tensors(to, width, height, "", results);
  for (const ObjectMask& known : read.masks) {
    Detection detection;
    place(known, detection);
    detection.mask.width = known.columns();
    detection.mask.height = known.rows();
    const std::span<const float> values = known.values.values<float>();
    detection.mask.values.assign(values.begin(), values.end());
    add_mask(to, width, height, "", detection);
  }
}

/// Without what it carries.
RegionMeta add_copy(const RegionMeta& region, const GstVideoInfo& from_info, GstBuffer* to,
                    const GstVideoInfo& to_info, MetadataForm form) {
  const int width = GST_VIDEO_INFO_WIDTH(&to_info);
  const int height = GST_VIDEO_INFO_HEIGHT(&to_info);
  if (region.is_whole_picture()) return RegionMeta::add_whole_picture(to, form, width, height);
  const Rect rect = scaled_rect(region.rect(), GST_VIDEO_INFO_WIDTH(&from_info),
                                GST_VIDEO_INFO_HEIGHT(&from_info), width, height);
  std::optional<TurnedBox> turned = region.turned_box();
  if (turned)
    turned->rect = scaled_rect(turned->rect, GST_VIDEO_INFO_WIDTH(&from_info),
                               GST_VIDEO_INFO_HEIGHT(&from_info), width, height);
  return RegionMeta::add(to, form, rect, region.type(), region.confidence().value_or(1.0f),
                         turned ? &*turned : nullptr);
}

}  // namespace

std::vector<GstStructure*> params_of_others(const RegionMeta& region, const GstVideoInfo& info) {
  std::vector<GstStructure*> params;
  GstBuffer* buffer = gst_buffer_new();
  RegionMeta copy = add_copy(region, info, buffer, info, MetadataForm::RegionOfInterest);
  copy_classes(region, copy);
  copy_track(region, copy);
  copy_segmentations(region, info, copy, info);
  for (const GList* link = copy.params(); link; link = link->next)
    params.push_back(gst_structure_copy(static_cast<const GstStructure*>(link->data)));
  gst_buffer_unref(buffer);
  return params;
}

int copy_regions(GstBuffer* from, const GstVideoInfo& from_info, GstBuffer* to,
                 const GstVideoInfo& to_info) {
  const MetadataForm form = RegionMeta::form_of(to).value_or(default_metadata_form());
  const std::vector<RegionMeta> regions = RegionMeta::all(from);
  std::vector<RegionMeta> copies;
  for (const RegionMeta& region : regions) {
    RegionMeta copy = add_copy(region, from_info, to, to_info, form);
    for (const GList* link = region.params(); link; link = link->next)
      copy.add_params(gst_structure_copy(static_cast<const GstStructure*>(link->data)));
    copy_classes(region, copy);
    copy_track(region, copy);
    copy_segmentations(region, from_info, copy, to_info);
    copies.push_back(copy);
  }
  // Ids begin anew on each frame.
  for (size_t i = 0; i < regions.size(); ++i) {
    if (const auto parent = parent_of(regions, i)) copies[i].set_parent(to, &copies[*parent]);
  }
  return static_cast<int>(copies.size());
}

}  // namespace het::gst
