#include "serving/metrics/watch/device_losses.h"

#include <mutex>

namespace het::metrics::device_losses {
namespace {

struct AllLosses {
  std::mutex mutex;  ///< protects devices; taken alone
  std::map<std::string, Count> devices;
};

AllLosses& all_losses() {
  static auto* const made = new AllLosses();
  return *made;
}

/// The details of a warning or an information, borrowed; null: it has none.
const GstStructure* details_of(GstMessage* message) {
  const GstStructure* details = nullptr;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_WARNING) {
    gst_message_parse_warning_details(message, &details);
  } else {
    gst_message_parse_info_details(message, &details);
  }
  return details;
}

}  // namespace

void take(WatchedPipeline& pipeline, GstElement* element, GstMessage* message) {
  const GstStructure* details = details_of(message);
  const char* device = details ? gst_structure_get_string(details, "device") : nullptr;
  if (!device) return;
  const bool is_lost = gst_structure_has_name(details, "device-lost");
  if (!is_lost && !gst_structure_has_name(details, "device-back")) return;
  {
    AllLosses& all = all_losses();
    std::lock_guard lock(all.mutex);
    Count& count = all.devices[device];
    ++(is_lost ? count.losses : count.returns);
  }
  std::lock_guard lock(pipeline.mutex);
  const std::pair<std::string, std::string> lost(GST_OBJECT_NAME(element), device);
  if (is_lost) {
    pipeline.lost.insert(lost);
  } else {
    pipeline.lost.erase(lost);
  }
}

std::map<std::string, Count> counts() {
  AllLosses& all = all_losses();
  std::lock_guard lock(all.mutex);
  return all.devices;
}

}  // namespace het::metrics::device_losses
