#include "serving/metrics/watch/hooks.h"

#include <atomic>
#include <string>

#include "serving/metrics/watch/device_losses.h"
#include "serving/metrics/watch/latency_events.h"
#include "serving/metrics/watch/registry.h"

namespace het::metrics {
namespace {

std::atomic<bool> hooks_are_ignored = false;

void count_pushed(GstPad* pad, guint64 buffers, guint64 bytes) {
  WatchedPad* watched = Registry::of_pad(pad);
  if (!watched) return;
  if (watched->element->is_source) {
    watched->element->pushed.fetch_add(buffers, std::memory_order_relaxed);
    watched->element->pushed_bytes.fetch_add(bytes, std::memory_order_relaxed);
  }
  latency_events::before_push(pad, *watched);
}

void before_push(GObject*, GstClockTime, GstPad* pad, GstBuffer* buffer) {
  if (hooks_are_ignored.load(std::memory_order_relaxed)) return;
  count_pushed(pad, 1, gst_buffer_get_size(buffer));
}

void before_push_list(GObject*, GstClockTime, GstPad* pad, GstBufferList* list) {
  if (hooks_are_ignored.load(std::memory_order_relaxed)) return;
  count_pushed(pad, gst_buffer_list_length(list), gst_buffer_list_calculate_size(list));
}

void count_arrived(GstPad* pad, guint64 buffers) {
  WatchedPad* watched = Registry::of_pad(pad);
  if (!watched || !watched->element->is_sink) return;
  watched->element->arrived.fetch_add(buffers, std::memory_order_relaxed);
  watched->element->arrived_ns.store(wall_ns(), std::memory_order_relaxed);
  latency_events::at_sink(*watched);
}

void before_chain(GObject*, GstClockTime, GstPad* pad, GstBuffer*) {
  if (hooks_are_ignored.load(std::memory_order_relaxed)) return;
  count_arrived(pad, 1);
}

void before_chain_list(GObject*, GstClockTime, GstPad* pad, GstBufferList* list) {
  if (hooks_are_ignored.load(std::memory_order_relaxed)) return;
  count_arrived(pad, gst_buffer_list_length(list));
}

void begin_anew(WatchedPipeline& pipeline) {
  ++pipeline.starts;
  pipeline.ended_ns = 0;
  std::lock_guard lock(pipeline.mutex);
  pipeline.failure.clear();
  pipeline.lost.clear();
}

void before_change(GObject*, GstClockTime, GstElement* element, GstStateChange change) {
  // One that stays in NULL, as links with caps do it, has not got its name yet.
  if (hooks_are_ignored.load(std::memory_order_relaxed) ||
      GST_STATE_TRANSITION_NEXT(change) == GST_STATE_NULL) {
    return;
  }
  Registry& registry = Registry::of_process();
  registry.watch(element);
  if (GST_OBJECT_PARENT(element)) return;
  const auto pipeline = registry.pipeline_of(element);
  if (change == GST_STATE_CHANGE_READY_TO_PAUSED) begin_anew(*pipeline);
  if (change == GST_STATE_CHANGE_PLAYING_TO_PAUSED) pipeline->playing_since_ns = 0;
}

void after_change(GObject*, GstClockTime, GstElement* element, GstStateChange change,
                  GstStateChangeReturn result) {
  if (hooks_are_ignored.load(std::memory_order_relaxed) || GST_OBJECT_PARENT(element)) return;
  if (change != GST_STATE_CHANGE_PAUSED_TO_PLAYING || result == GST_STATE_CHANGE_FAILURE) return;
  Registry::of_process().pipeline_of(element)->playing_since_ns = wall_ns();
}

void take_error(WatchedPipeline& pipeline, GstElement* element, GstMessage* message) {
  GError* problem = nullptr;
  gst_message_parse_error(message, &problem, nullptr);
  const std::string text =
      std::string(GST_OBJECT_NAME(element)) + ": " + (problem ? problem->message : "an error");
  g_clear_error(&problem);
  std::lock_guard lock(pipeline.mutex);
  if (pipeline.failure.empty()) pipeline.failure = text;
}

void before_message(GObject*, GstClockTime, GstElement* element, GstMessage* message) {
  // Bins pass on what their elements have posted.
  if (hooks_are_ignored.load(std::memory_order_relaxed) ||
      GST_MESSAGE_SRC(message) != GST_OBJECT_CAST(element)) {
    return;
  }
  constexpr int kInteresting = GST_MESSAGE_ERROR | GST_MESSAGE_WARNING | GST_MESSAGE_INFO |
                               GST_MESSAGE_QOS | GST_MESSAGE_EOS;
  if ((GST_MESSAGE_TYPE(message) & kInteresting) == 0) return;
  const auto pipeline = Registry::of_process().known_pipeline_of(element);
  if (!pipeline) return;
  const auto count = [&](CountedMessage kind) { ++pipeline->messages[static_cast<size_t>(kind)]; };
  switch (GST_MESSAGE_TYPE(message)) {
    case GST_MESSAGE_ERROR:
      count(CountedMessage::Error);
      take_error(*pipeline, element, message);
      break;
    case GST_MESSAGE_WARNING:
      count(CountedMessage::Warning);
      device_losses::take(*pipeline, element, message);
      break;
    case GST_MESSAGE_INFO:
      device_losses::take(*pipeline, element, message);
      break;
    case GST_MESSAGE_QOS:
      count(CountedMessage::Qos);
      break;
    case GST_MESSAGE_EOS:
      if (!GST_OBJECT_PARENT(element)) pipeline->ended_ns = wall_ns();
      break;
    default:
      break;
  }
}

void after_new_pad(GObject*, GstClockTime, GstElement* element, GstPad* pad) {
  if (hooks_are_ignored.load(std::memory_order_relaxed)) return;
  Registry::of_process().watch_pad(element, pad);
}

}  // namespace

void register_hooks(GstTracer* tracer, bool with_pipeline_latency, bool with_element_latency) {
  latency_events::begin(with_pipeline_latency, with_element_latency);
  const struct {
    const char* name;
    GCallback function;
  } hooks[] = {
      {"pad-push-pre", G_CALLBACK(before_push)},
      {"pad-push-list-pre", G_CALLBACK(before_push_list)},
      {"pad-chain-pre", G_CALLBACK(before_chain)},
      {"pad-chain-list-pre", G_CALLBACK(before_chain_list)},
      {"element-change-state-pre", G_CALLBACK(before_change)},
      {"element-change-state-post", G_CALLBACK(after_change)},
      {"element-post-message-pre", G_CALLBACK(before_message)},
      {"element-add-pad", G_CALLBACK(after_new_pad)},
  };
  for (const auto& hook : hooks) gst_tracing_register_hook(tracer, hook.name, hook.function);
}

void ignore_hooks() {
  hooks_are_ignored = true;
}

}  // namespace het::metrics
