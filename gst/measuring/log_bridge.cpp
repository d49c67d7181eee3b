#include "log_bridge.h"

#include <gst/gst.h>

#include <string>

#include "inference/base/log.h"

namespace het::gst {
namespace {

GstDebugLevel debug_level(LogLevel level) {
  switch (level) {
    case LogLevel::Error:
      return GST_LEVEL_ERROR;
    case LogLevel::Warning:
      return GST_LEVEL_WARNING;
    case LogLevel::Info:
      return GST_LEVEL_INFO;
    case LogLevel::Debug:
      break;
  }
  return GST_LEVEL_DEBUG;
}

}  // namespace

void connect_log() {
  GstDebugCategory* category =
      _gst_debug_category_new("hetero", 0, "messages of the inference library");
  const bool debug = gst_debug_category_get_threshold(category) >= GST_LEVEL_DEBUG;
  set_log_sink(
      [category](LogLevel level, std::string_view message) {
        gst_debug_log(category, debug_level(level), "inference", "", 0, nullptr, "%.*s",
                      static_cast<int>(message.size()), message.data());
      },
      debug ? LogLevel::Debug : LogLevel::Info);
}

}  // namespace het::gst
