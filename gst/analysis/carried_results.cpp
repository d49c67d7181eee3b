#include "carried_results.h"

#include <algorithm>

namespace het::gst {

void CarriedResults::keep(GstBuffer* buffer, const GstVideoInfo& info,
                          const std::vector<RegionResults>& found) {
  forget();
  std::vector<FrameRegion> regions;
  for (const RegionResults& part : found) {
    if (part.index < 0) {
      found_.push_back(part);
      continue;
    }
    if (regions.empty()) regions = frame_regions(buffer);
    const auto index = static_cast<size_t>(part.index);
    if (index < regions.size())
      in_regions_.push_back({regions[index].rect, regions[index].type, part});
  }
  info_ = info;
  time_ = GST_BUFFER_PTS(buffer);
}

void CarriedResults::forget() {
  found_.clear();
  in_regions_.clear();
  frames_ = 0;
}

void CarriedResults::add_of_regions(GstBuffer* buffer, const std::vector<RegionResults>& has,
                                    std::vector<RegionResults>& parts) const {
  if (in_regions_.empty()) return;
  for (const FrameRegion& region : frame_regions(buffer)) {
    const auto is_of_it = [&](const RegionResults& part) { return part.index == region.index; };
    if (std::any_of(has.begin(), has.end(), is_of_it)) continue;
    const auto kept = std::find_if(in_regions_.begin(), in_regions_.end(), [&](const OfRegion& of) {
      return of.rect == region.rect && of.type == region.type;
    });
    if (kept == in_regions_.end()) continue;
    parts.push_back(kept->part);
    parts.back().index = region.index;
  }
}

int CarriedResults::attach(GstBuffer** buffer, const GstVideoInfo& info,
                           std::string_view model_name, MetadataForm form,
                           const std::vector<RegionResults>* found, ObjectClasses* classes) {
  const auto has_results = [&] { return !found_.empty() || !in_regions_.empty(); };
  if (has_results() && !gst_video_info_is_equal(&info, &info_)) forget();
  std::vector<RegionResults> parts = found_;
  if (found != nullptr) add_of_regions(*buffer, *found, parts);
  if (has_results()) ++frames_;
  if (parts.empty()) return -1;
  ResultAge age{frames_, GST_CLOCK_TIME_NONE};
  const GstClockTime now = GST_BUFFER_PTS(*buffer);
  if (GST_CLOCK_TIME_IS_VALID(now) && GST_CLOCK_TIME_IS_VALID(time_) && now >= time_) {
    age.time = now - time_;
  }
  *buffer = gst_buffer_make_writable(*buffer);
  return attach_results(*buffer, info, model_name, form, parts, &age, classes);
}

}  // namespace het::gst
