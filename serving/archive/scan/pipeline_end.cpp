#include "serving/archive/scan/pipeline_end.h"

#include <chrono>
#include <optional>

#include "serving/archive/scan/reading_threads.h"
#include "serving/launch/instance/bus_text.h"

namespace het::archive {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kMostQuiet = std::chrono::seconds(60);
constexpr auto kMostWordless = std::chrono::seconds(1);
constexpr GstClockTime kPoll = 100 * GST_MSECOND;

/// What the bus says of the end; nothing while it goes on.
std::optional<Status> end_on(GstBus* bus, const std::string& what) {
  GstMessage* const message = gst_bus_timed_pop_filtered(
      bus, kPoll, static_cast<GstMessageType>(GST_MESSAGE_EOS | GST_MESSAGE_ERROR));
  if (!message) return std::nullopt;
  Status status;
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_ERROR) {
    status =
        error(StatusCode::ParseError, "cannot read '{}': {}", what, serving::message_text(message));
  }
  gst_message_unref(message);
  return status;
}

}  // namespace

GstPad* add_end(GstElement* pipeline) {
  GstElement* const sink = gst_element_factory_make("fakesink", nullptr);
  if (!sink) return nullptr;
  g_object_set(sink, "sync", FALSE, "async", FALSE, nullptr);
  gst_bin_add(GST_BIN(pipeline), sink);
  gst_element_sync_state_with_parent(sink);
  return gst_element_get_static_pad(sink, "sink");
}

Status wait_for_end(GstElement* pipeline, const std::string& what,
                    const std::function<uint64_t()>& moved,
                    const std::function<bool()>& is_stopped) {
  GstBus* const bus = gst_element_get_bus(pipeline);
  std::optional<Status> end;
  uint64_t seen = 0;
  auto quiet_since = Clock::now();
  while (!end) {
    end = end_on(bus, what);
    if (end) break;
    const uint64_t now = moved();
    if (now != seen) quiet_since = Clock::now();
    seen = now;
    if (is_stopped()) {
      end = error(StatusCode::Cancelled, "stopped while reading '{}'", what);
    } else if (Clock::now() - quiet_since > kMostWordless && has_stopped_reading(pipeline)) {
      end = error(StatusCode::Internal, "cannot read '{}': GStreamer has stopped without a reason",
                  what);
    } else if (Clock::now() - quiet_since > kMostQuiet) {
      end = error(StatusCode::TimedOut, "reading '{}' stands still: nothing comes after {}", what,
                  seen);
    }
  }
  gst_object_unref(bus);
  gst_element_set_state(pipeline, GST_STATE_NULL);
  return *end;
}

}  // namespace het::archive
