#include "serving/metrics/exposition/family.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace het::metrics {
namespace {

using enum MetricKind;

constexpr auto kFamilies = std::to_array<Family>({
    // The process.
    {"target", Info, "", "service_name,service_version,service_instance_id,process_pid",
     "What is measured", "environment"},
    {"process_cpu_seconds", Counter, "seconds", "", "Processor time, of users and system",
     "/proc/self/stat"},
    {"process_start_time_seconds", Gauge, "seconds", "", "When the process began, since 1970",
     "/proc/self/stat"},
    {"process_resident_memory_bytes", Gauge, "bytes", "", "Memory in use", "/proc/self/stat"},
    {"process_virtual_memory_bytes", Gauge, "bytes", "", "Addresses in use", "/proc/self/stat"},
    {"process_threads", Gauge, "", "", "Threads", "/proc/self/stat"},
    {"process_open_fds", Gauge, "", "", "Open file descriptors", "/proc/self/fd"},
    {"process_max_fds", Gauge, "", "", "File descriptors that may be open", "getrlimit"},
    {"hetero_instance_restarts", Counter, "", "instance",
     "Starts of this instance by hetero launch after the first", "hetero launch"},
    {"hetero_metrics_scrape_seconds", Gauge, "seconds", "", "How long the last answer took",
     "the tracer"},
    // Any pipeline.
    {"gst_pipeline_state", Gauge, "", "pipeline,state", "1 for the state that the pipeline is in",
     "GST_STATE"},
    {"gst_pipeline_ready", Gauge, "", "pipeline", "1 while /health/ready has nothing against it",
     "the tracer"},
    {"gst_pipeline_starts", Counter, "", "pipeline", "Changes from READY to PAUSED",
     "state changes"},
    {"gst_pipeline_messages", Counter, "", "pipeline,type",
     "Errors, warnings and QoS messages that elements have posted", "messages as they are posted"},
    {"gst_source_buffers", Counter, "", "pipeline,element", "Buffers that a source has pushed",
     "pushes of the source's pads"},
    {"gst_source_bytes", Counter, "bytes", "pipeline,element", "Bytes of these buffers",
     "pushes of the source's pads"},
    {"gst_sink_buffers", Counter, "", "pipeline,element", "Buffers that have reached a sink",
     "arrivals at the sink's pad"},
    {"gst_sink_rendered", Counter, "", "pipeline,element", "Buffers that a sink has rendered",
     "`stats` of the sink: rendered"},
    {"gst_sink_dropped", Counter, "", "pipeline,element", "Buffers that came too late at a sink",
     "`stats` of the sink: dropped"},
    {"gst_sink_last_buffer_timestamp_seconds", Gauge, "seconds", "pipeline,element",
     "When the last buffer has reached a sink, since 1970", "arrivals at the sink's pad"},
    {"gst_queue_buffers", Gauge, "", "pipeline,element", "Buffers that wait in a queue",
     "`current-level-*`"},
    {"gst_queue_level_bytes", Gauge, "bytes", "pipeline,element", "Bytes that wait in a queue",
     "`current-level-*`"},
    {"gst_queue_level_seconds", Gauge, "seconds", "pipeline,element",
     "Playing time that waits in a queue", "`current-level-*`"},
    {"gst_pipeline_latency_seconds", Histogram, "seconds", "pipeline,source,sink",
     "From a source's push to the arrival at a sink (latency=pipeline)", "events before buffers"},
    {"gst_element_latency_seconds", Histogram, "seconds", "pipeline,element",
     "From the push before an element to its own (latency=element)", "events before buffers"},
    // Inference elements.
    {"hetero_frames_in", Counter, "", "pipeline,element", "Frames that have come in",
     "`stats`: frames-in"},
    {"hetero_frames_out", Counter, "", "pipeline,element", "Frames that are ready to leave",
     "`stats`: frames"},
    {"hetero_frames_analysed", Counter, "", "pipeline,element",
     "Frames of which a model has seen something", "`stats`: frames-analysed"},
    {"hetero_frames_late", Counter, "", "pipeline,element", "Frames too late to be analysed",
     "`stats`: frames-late"},
    {"hetero_frames_dropped", Counter, "", "pipeline,element",
     "Late frames that were not passed on", "`stats`: frames-dropped"},
    {"hetero_frames_carried", Counter, "", "pipeline,element", "Frames with results of one before",
     "`stats`: frames-carried"},
    {"hetero_frames_in_flight", Gauge, "", "pipeline,element", "Frames inside the element",
     "`stats`: frames-in-flight"},
    {"hetero_regions_analysed", Counter, "", "pipeline,element", "Executions of the model for it",
     "`stats`: regions"},
    {"hetero_regions_skipped", Counter, "", "pipeline,element", "Regions without a pixel",
     "`stats`: regions-skipped"},
    {"hetero_objects", Counter, "", "pipeline,element", "Objects put on frames",
     "`stats`: objects"},
    {"hetero_objects_by_class", Counter, "", "pipeline,element,class",
     "Objects that the model has found, the first 100 labels apart, others as _other",
     "`stats`: objects-by-class"},
    {"hetero_requests", Gauge, "", "pipeline,element", "Requests that may run at the same time",
     "`stats`: requests"},
    {"hetero_requests_busy", Gauge, "", "pipeline,element", "Requests that are in use",
     "`stats`: requests-busy"},
    {"hetero_element_part_duration_seconds", Histogram, "seconds", "element,part",
     "Parts of a frame's way that an element does: wait, order, decode, attach, push",
     "frame spans"},
    // Devices.
    {"hetero_device_part_duration_seconds", Histogram, "seconds", "device,part",
     "Parts of a frame's way that a device does: queue, preprocess, infer", "frame spans"},
    {"hetero_device_busy_seconds", Counter, "seconds", "device",
     "Time in which the device executed at least one request", "frame spans"},
    {"hetero_device_executions", Counter, "", "device", "Executions, a batch being one",
     "frame spans"},
    {"hetero_device_frames", Counter, "", "device",
     "Regions in these executions; divided by executions: the fill of batches", "frame spans"},
    {"hetero_device_losses", Counter, "", "device", "Times that a model has lost the device",
     "messages of elements"},
    {"hetero_device_returns", Counter, "", "device", "Times that a model has taken it back",
     "messages of elements"},
    {"hetero_device_lost", Gauge, "", "device", "Models that do without the device now",
     "messages of elements"},
    // Other elements of ours.
    {"hetero_messages_written", Counter, "", "pipeline,element", "Messages given to a publisher",
     "`stats`: written"},
    {"hetero_messages_delivered", Counter, "", "pipeline,element", "Messages that have arrived",
     "`stats`: delivered"},
    {"hetero_messages_dropped", Counter, "", "pipeline,element", "Messages given up",
     "`stats`: dropped"},
    {"hetero_messages_waiting", Gauge, "", "pipeline,element", "Messages that are neither yet",
     "`stats`: waiting"},
    {"hetero_analytics_frames", Counter, "", "pipeline,element", "Frames seen by heteroanalytics",
     "`stats`: frames"},
    {"hetero_analytics_frames_analysed", Counter, "", "pipeline,element",
     "Of these the ones with observations", "`stats`: frames-analysed"},
    {"hetero_analytics_objects", Gauge, "", "pipeline,element", "Objects that are remembered",
     "`stats`: objects"},
    {"hetero_motion_frames", Counter, "", "pipeline,element", "Frames seen by heteromotiondetect",
     "`stats`: frames"},
    {"hetero_motion_frames_moving", Counter, "", "pipeline,element", "Of these those with motion",
     "`stats`: frames-moving"},
    {"hetero_motion_frames_still", Counter, "", "pipeline,element",
     "Of these those that no model has to see", "`stats`: frames-still"},
    {"hetero_motion_regions", Counter, "", "pipeline,element", "Regions that moved",
     "`stats`: regions"},
    {"hetero_motion_light_changes", Counter, "", "pipeline,element", "Changes of the light",
     "`stats`: light-changes"},
    {"hetero_track_frames", Counter, "", "pipeline,element", "Frames seen by heterotrack",
     "`stats`: frames"},
    {"hetero_track_objects", Counter, "", "pipeline,element",
     "Objects that got an id, on each frame", "`stats`: objects"},
    {"hetero_track_ids", Counter, "", "pipeline,element", "Different ids given", "`stats`: ids"},
});

}  // namespace

std::string_view to_string(MetricKind kind) {
  constexpr std::array<std::string_view, 4> kNames = {"counter", "gauge", "histogram", "info"};
  return kNames[static_cast<size_t>(kind)];
}

std::string sample_name(const Family& family) {
  const bool is_counter = family.kind == MetricKind::Counter;
  return std::string(family.name) + (is_counter                        ? "_total"
                                     : family.kind == MetricKind::Info ? "_info"
                                                                       : "");
}

std::span<const Family> families() {
  return kFamilies;
}

const Family& family(std::string_view name) {
  const auto found = std::ranges::find(kFamilies, name, &Family::name);
  assert(found != kFamilies.end());
  return *found;
}

}  // namespace het::metrics
