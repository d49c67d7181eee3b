#include "pipeline_run.h"

#include <algorithm>
#include <stdexcept>

namespace het::gst_test {
namespace {

GstPadProbeReturn call_back(GstPad*, GstPadProbeInfo* probe, gpointer user) {
  const auto& keep = *static_cast<std::function<bool(GstBuffer*)>*>(user);
  return keep(GST_PAD_PROBE_INFO_BUFFER(probe)) ? GST_PAD_PROBE_OK : GST_PAD_PROBE_DROP;
}

/// gst-libav 1.26 ends the process ("video meta uses 544x960 instead of 540x960") now and then
/// where it decodes cropped H.264 straight into buffers of its pool.
void decode_indirectly(GstBin*, GstBin*, GstElement* element, gpointer) {
  if (g_object_class_find_property(G_OBJECT_GET_CLASS(element), "direct-rendering") != nullptr) {
    g_object_set(element, "direct-rendering", FALSE, nullptr);
  }
}

void take_text(GstMessage* message, GstMessageType type,
               void (*parse)(GstMessage*, GError**, gchar**), std::vector<PostedError>& texts) {
  if (GST_MESSAGE_TYPE(message) != type) return;
  GError* content = nullptr;
  parse(message, &content, nullptr);
  texts.push_back({GST_MESSAGE_SRC_NAME(message), content->message});
  g_error_free(content);
}

void take_message(GstMessage* message, Outcome& outcome) {
  if (GST_MESSAGE_TYPE(message) == GST_MESSAGE_EOS) outcome.eos = true;
  take_text(message, GST_MESSAGE_ERROR, gst_message_parse_error, outcome.errors);
  take_text(message, GST_MESSAGE_WARNING, gst_message_parse_warning, outcome.warnings);
  take_text(message, GST_MESSAGE_INFO, gst_message_parse_info, outcome.remarks);
  gst_message_unref(message);
}

}  // namespace

std::string Outcome::problem() const {
  std::string text = eos ? "" : "no EOS. ";
  for (const PostedError& posted : errors) text += posted.element + ": " + posted.text + ". ";
  return text;
}

std::vector<PostedError> Outcome::errors_of(const std::string& element) const {
  std::vector<PostedError> found;
  for (const PostedError& posted : errors) {
    if (posted.element == element) found.push_back(posted);
  }
  return found;
}

PipelineRun::PipelineRun(const std::string& description) {
  GError* failure = nullptr;
  pipeline_ = gst_parse_launch(description.c_str(), &failure);
  if (!failure) {
    g_signal_connect(pipeline_, "deep-element-added", G_CALLBACK(decode_indirectly), nullptr);
    return;
  }
  const std::string text = description + ": " + failure->message;
  g_error_free(failure);
  gst_clear_object(&pipeline_);
  throw std::invalid_argument(text);
}

PipelineRun::~PipelineRun() {
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  gst_object_unref(pipeline_);
  for (auto* callback : callbacks_) delete callback;
}

GstElement* PipelineRun::element(const std::string& name) const {
  GstElement* found = gst_bin_get_by_name(GST_BIN(pipeline_), name.c_str());
  if (!found) throw std::invalid_argument("no element " + name);
  gst_object_unref(found);
  return found;
}

void PipelineRun::on_buffer(const std::string& name, std::function<void(GstBuffer*)> callback) {
  keep_buffers(name, [callback = std::move(callback)](GstBuffer* buffer) {
    callback(buffer);
    return true;
  });
}

void PipelineRun::keep_buffers(const std::string& name, std::function<bool(GstBuffer*)> keep) {
  callbacks_.push_back(new std::function<bool(GstBuffer*)>(std::move(keep)));
  GstPad* pad = gst_element_get_static_pad(element(name), "sink");
  gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_BUFFER, call_back, callbacks_.back(), nullptr);
  gst_object_unref(pad);
}

GstCaps* PipelineRun::caps(const std::string& name) const {
  GstPad* pad = gst_element_get_static_pad(element(name), "sink");
  GstCaps* caps = gst_pad_get_current_caps(pad);
  gst_object_unref(pad);
  return caps;
}

Outcome PipelineRun::play(unsigned limit_s) {
  Outcome outcome;
  GstBus* bus = gst_element_get_bus(pipeline_);
  constexpr int kEnd = GST_MESSAGE_EOS | GST_MESSAGE_ERROR;
  const auto wanted = static_cast<GstMessageType>(kEnd | GST_MESSAGE_WARNING | GST_MESSAGE_INFO);
  const bool started =
      gst_element_set_state(pipeline_, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE;
  // What failed at the start is on the bus already, and going to NULL would flush it.
  const gint64 limit = g_get_monotonic_time() + limit_s * G_USEC_PER_SEC;
  GstMessage* message = nullptr;
  for (bool goes_on = true; goes_on;) {
    const gint64 left = std::max<gint64>(limit - g_get_monotonic_time(), 0);
    message = gst_bus_timed_pop_filtered(
        bus, started ? static_cast<GstClockTime>(left) * GST_USECOND : 0, wanted);
    goes_on = message != nullptr && (GST_MESSAGE_TYPE(message) & kEnd) == 0;
    if (message) take_message(message, outcome);
  }
  gst_element_set_state(pipeline_, GST_STATE_NULL);
  // Going to NULL flushes the bus of a pipeline only when it restarts; errors are still there.
  while ((message = gst_bus_pop_filtered(bus, wanted)) != nullptr) take_message(message, outcome);
  gst_object_unref(bus);
  return outcome;
}

}  // namespace het::gst_test
