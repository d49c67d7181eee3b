#include "carried_results.h"

namespace het::gst {

void CarriedResults::keep(const GstBuffer* buffer, const GstVideoInfo& info,
                          const std::vector<RegionResults>& found) {
  forget();
  for (const RegionResults& part : found) {
    if (part.index < 0) found_.push_back(part);
  }
  info_ = info;
  time_ = GST_BUFFER_PTS(buffer);
}

void CarriedResults::forget() {
  found_.clear();
  frames_ = 0;
}

int CarriedResults::attach(GstBuffer** buffer, const GstVideoInfo& info,
                           std::string_view model_name, MetadataForm form) {
  if (!found_.empty() && !gst_video_info_is_equal(&info, &info_)) forget();
  if (found_.empty()) return -1;
  ResultAge age{++frames_, GST_CLOCK_TIME_NONE};
  const GstClockTime now = GST_BUFFER_PTS(*buffer);
  if (GST_CLOCK_TIME_IS_VALID(now) && GST_CLOCK_TIME_IS_VALID(time_) && now >= time_) {
    age.time = now - time_;
  }
  *buffer = gst_buffer_make_writable(*buffer);
  return attach_results(*buffer, info, model_name, form, found_, &age);
}

}  // namespace het::gst
