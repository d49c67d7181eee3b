#include "serving/metrics/scrape.h"

#include <array>
#include <chrono>

#include "serving/metrics/process_values.h"
#include "serving/metrics/watch/device_losses.h"
#include "serving/metrics/watch/element_values.h"
#include "serving/metrics/watch/readiness.h"
#include "serving/metrics/watch/registry.h"

namespace het::metrics {
namespace {

constexpr std::array<std::pair<GstState, const char*>, 4> kStates = {
    {{GST_STATE_NULL, "null"},
     {GST_STATE_READY, "ready"},
     {GST_STATE_PAUSED, "paused"},
     {GST_STATE_PLAYING, "playing"}}};
constexpr std::array<const char*, 3> kMessages = {"error", "warning", "qos"};

void write_pipeline(MetricText& text, const WatchedPipeline& pipeline, const PipelineHealth& now) {
  for (const auto& [state, name] : kStates) {
    text.add("gst_pipeline_state", {{"pipeline", pipeline.name}, {"state", name}},
             now.state == state ? 1 : 0);
  }
  const bool is_ready = now.state == GST_STATE_PLAYING && now.problem.empty();
  text.add("gst_pipeline_ready", {{"pipeline", pipeline.name}}, is_ready ? 1 : 0);
  text.add("gst_pipeline_starts", {{"pipeline", pipeline.name}},
           static_cast<double>(pipeline.starts.load()));
  for (size_t i = 0; i < kMessages.size(); ++i) {
    text.add("gst_pipeline_messages", {{"pipeline", pipeline.name}, {"type", kMessages[i]}},
             static_cast<double>(pipeline.messages[i].load()));
  }
}

/// Devices that were never lost are told, too: a rule would not see a first loss that comes from
/// nowhere.
void write_losses(MetricText& text, const Registry& registry,
                  const std::vector<std::string>& devices) {
  std::map<std::string, double> lost;
  for (const auto& pipeline : registry.pipelines()) {
    std::lock_guard lock(pipeline->mutex);
    for (const auto& [element, device] : pipeline->lost) ++lost[device];
  }
  auto counts = device_losses::counts();
  for (const std::string& device : devices) counts[device];
  for (const auto& [device, count] : counts) {
    text.add("hetero_device_losses", {{"device", device}}, static_cast<double>(count.losses));
    text.add("hetero_device_returns", {{"device", device}}, static_cast<double>(count.returns));
    text.add("hetero_device_lost", {{"device", device}}, lost[device]);
  }
}

}  // namespace

std::string scrape(TextFormat format, const SpanCounts& spans, double stall_s) {
  static std::chrono::duration<double> last{0};
  const auto begin = std::chrono::steady_clock::now();
  const Registry& registry = Registry::of_process();
  MetricText text(format);
  write_process(text);
  text.add("hetero_metrics_scrape_seconds", {}, last.count());
  for (const auto& pipeline : registry.pipelines()) {
    const PipelineHealth now = health_of(*pipeline, registry, stall_s);
    if (now.is_outermost) write_pipeline(text, *pipeline, now);
  }
  for (const Registry::Entry& entry : registry.elements()) write_element(text, entry);
  write_losses(text, registry, spans.devices());
  spans.write(text);
  std::string done = text.finish();
  last = std::chrono::steady_clock::now() - begin;
  return done;
}

}  // namespace het::metrics
