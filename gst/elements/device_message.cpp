#include "device_message.h"

#include <fmt/format.h>

namespace het::gst {

void post_device_event(GstElement* element, const std::string& model, const DeviceEvent& event) {
  const bool is_lost = !event.cause.empty();
  const std::string text =
      is_lost ? fmt::format("model '{}' goes on without {}: {}", model, event.device, event.cause)
              : fmt::format("model '{}' uses {} again", model, event.device);
  GstStructure* const details =
      gst_structure_new(is_lost ? "device-lost" : "device-back", "model", G_TYPE_STRING,
                        model.c_str(), "device", G_TYPE_STRING, event.device.c_str(), nullptr);
  if (is_lost) gst_structure_set(details, "cause", G_TYPE_STRING, event.cause.c_str(), nullptr);
  gst_element_message_full_with_details(element, is_lost ? GST_MESSAGE_WARNING : GST_MESSAGE_INFO,
                                        GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_FAILED,
                                        g_strdup(text.c_str()), nullptr, __FILE__, GST_FUNCTION,
                                        __LINE__, details);
}

}  // namespace het::gst
