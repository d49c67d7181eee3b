#include "element_rig.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace het::gst_test {
namespace {

constexpr GstClockTime kFrameTime = 40 * GST_MSECOND;
GstStaticPadTemplate any_sink =
    GST_STATIC_PAD_TEMPLATE("rig-sink", GST_PAD_SINK, GST_PAD_ALWAYS, GST_STATIC_CAPS_ANY);
constexpr char kMarker[] = "hetero-test-marker";

std::string describe(GstEvent* event) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_CAPS: {
      GstCaps* caps = nullptr;
      GstVideoInfo info;
      gst_event_parse_caps(event, &caps);
      if (!gst_video_info_from_caps(&info, caps))
        return std::string("caps ") + gst_structure_get_name(gst_caps_get_structure(caps, 0));
      return "caps " + std::to_string(info.width) + "x" + std::to_string(info.height) + " " +
             gst_video_format_to_string(GST_VIDEO_INFO_FORMAT(&info));
    }
    case GST_EVENT_CUSTOM_DOWNSTREAM: {
      int number = 0;
      gst_structure_get_int(gst_event_get_structure(event), "number", &number);
      return "marker " + std::to_string(number);
    }
    default:
      return GST_EVENT_TYPE_NAME(event);
  }
}

}  // namespace

ElementRig::ElementRig(const std::string& factory, const std::string& properties) {
  GError* failure = nullptr;
  element_ = gst_parse_launch_full((factory + " " + properties).c_str(), nullptr,
                                   GST_PARSE_FLAG_FATAL_ERRORS, &failure);
  if (!element_) {
    const std::string text = failure ? failure->message : factory;
    g_clear_error(&failure);
    throw std::invalid_argument(text);
  }
  gst_object_ref_sink(element_);
  bus_ = gst_bus_new();
  gst_element_set_bus(element_, bus_);

  source_ = gst_pad_new("rig-src", GST_PAD_SRC);
  sink_ = gst_pad_new_from_static_template(&any_sink, "rig-sink");
  gst_pad_set_element_private(sink_, this);
  gst_pad_set_chain_function(sink_, chain);
  gst_pad_set_event_function(sink_, sink_event);
  GstPad* in = gst_element_get_static_pad(element_, "sink");
  GstPad* out = gst_element_get_static_pad(element_, "src");
  gst_pad_link(source_, in);
  gst_pad_link(out, sink_);
  gst_object_unref(in);
  gst_object_unref(out);
}

ElementRig::~ElementRig() {
  stop();
  gst_element_set_bus(element_, nullptr);
  gst_object_unref(bus_);
  gst_object_unref(source_);
  gst_object_unref(sink_);
  gst_object_unref(element_);
}

bool ElementRig::start(const std::string& caps) {
  gst_pad_set_active(sink_, TRUE);
  if (gst_element_set_state(element_, GST_STATE_PLAYING) == GST_STATE_CHANGE_FAILURE) return false;
  gst_pad_set_active(source_, TRUE);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  return event(gst_event_new_stream_start("rig")) && set_caps(caps) &&
         event(gst_event_new_segment(&segment));
}

void ElementRig::stop() {
  gst_pad_set_active(source_, FALSE);
  gst_pad_set_active(sink_, FALSE);
  gst_element_set_state(element_, GST_STATE_NULL);
}

bool ElementRig::set_caps(const std::string& text) {
  GstCaps* caps = gst_caps_from_string(text.c_str());
  gst_video_info_from_caps(&info_, caps);
  const bool accepted = event(gst_event_new_caps(caps));
  gst_caps_unref(caps);
  return accepted;
}

GstBuffer* ElementRig::frame(int number, int value) const {
  GstBuffer* buffer = gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info_), nullptr);
  gst_buffer_memset(buffer, 0, static_cast<guint8>(value), GST_VIDEO_INFO_SIZE(&info_));
  GST_BUFFER_PTS(buffer) = static_cast<GstClockTime>(number) * kFrameTime;
  GST_BUFFER_DURATION(buffer) = kFrameTime;
  return buffer;
}

bool ElementRig::marker(int number) {
  return event(
      gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM,
                           gst_structure_new(kMarker, "number", G_TYPE_INT, number, nullptr)));
}

std::vector<std::string> ElementRig::arrived() {
  std::lock_guard lock(mutex_);
  return arrived_;
}

bool ElementRig::wait_for(const std::string& entry, unsigned limit_s) {
  std::unique_lock lock(mutex_);
  return noted_.wait_for(lock, std::chrono::seconds(limit_s), [&] {
    return std::find(arrived_.begin(), arrived_.end(), entry) != arrived_.end();
  });
}

std::vector<std::string> ElementRig::errors() {
  std::vector<std::string> texts;
  GstMessage* message = nullptr;
  while ((message = gst_bus_pop_filtered(bus_, GST_MESSAGE_ERROR)) != nullptr) {
    GError* failure = nullptr;
    gst_message_parse_error(message, &failure, nullptr);
    texts.emplace_back(failure->message);
    g_error_free(failure);
    gst_message_unref(message);
  }
  return texts;
}

void ElementRig::note(const std::string& entry) {
  {
    std::lock_guard lock(mutex_);
    arrived_.push_back(entry);
  }
  noted_.notify_all();
}

GstFlowReturn ElementRig::chain(GstPad* pad, GstObject*, GstBuffer* buffer) {
  auto* self = static_cast<ElementRig*>(gst_pad_get_element_private(pad));
  self->note("buffer " + std::to_string(GST_BUFFER_PTS(buffer) / kFrameTime));
  const GstFlowReturn flow = self->on_buffer ? self->on_buffer(buffer) : GST_FLOW_OK;
  gst_buffer_unref(buffer);
  return flow;
}

gboolean ElementRig::sink_event(GstPad* pad, GstObject*, GstEvent* event) {
  static_cast<ElementRig*>(gst_pad_get_element_private(pad))->note(describe(event));
  gst_event_unref(event);
  return TRUE;
}

}  // namespace het::gst_test
