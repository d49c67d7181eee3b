#include "serving/metrics/watch/readiness.h"

#include <fmt/format.h>

#include <algorithm>

namespace het::metrics {
namespace {

/// When the last buffer has reached a sink of this pipeline; 0: none has.
int64_t last_arrival_ns(const WatchedPipeline& pipeline, const Registry& registry) {
  int64_t last = 0;
  for (const Registry::Entry& entry : registry.elements()) {
    if (entry.pipeline.get() == &pipeline && entry.element->is_sink)
      last = std::max(last, entry.element->arrived_ns.load());
  }
  return last;
}

std::string problem_while_playing(const WatchedPipeline& pipeline, const Registry& registry,
                                  double stall_s) {
  const int64_t last_ns = last_arrival_ns(pipeline, registry);
  const int64_t ended_ns = pipeline.ended_ns;
  if (ended_ns > 0 && last_ns <= ended_ns)
    return fmt::format("pipeline '{}' has ended", pipeline.name);
  const int64_t since_ns = std::max(last_ns, pipeline.playing_since_ns.load());
  const double silent_s = static_cast<double>(wall_ns() - since_ns) * 1e-9;
  if (silent_s > stall_s) {
    return fmt::format("no frame has reached a sink of pipeline '{}' for {:.0f} s", pipeline.name,
                       silent_s);
  }
  return "";
}

}  // namespace

PipelineHealth health_of(const WatchedPipeline& pipeline, const Registry& registry,
                         double stall_s) {
  PipelineHealth health;
  {
    const auto top = pipeline.top.get();
    if (!top || GST_OBJECT_PARENT(top.get()) || !GST_IS_BIN(top.get())) return health;
    health.is_outermost = true;
    health.state = GST_STATE(top.get());
  }
  {
    std::lock_guard lock(pipeline.mutex);
    if (!pipeline.failure.empty()) {
      health.problem = fmt::format("pipeline '{}' failed: {}", pipeline.name, pipeline.failure);
      return health;
    }
    if (!pipeline.lost.empty() && health.state > GST_STATE_READY) {
      const auto& [element, device] = *pipeline.lost.begin();
      health.problem =
          fmt::format("{} of pipeline '{}' goes on without {}", element, pipeline.name, device);
      return health;
    }
  }
  if (health.state == GST_STATE_PAUSED)
    health.problem = fmt::format("pipeline '{}' is paused", pipeline.name);
  if (health.state == GST_STATE_PLAYING)
    health.problem = problem_while_playing(pipeline, registry, stall_s);
  return health;
}

std::string why_not_ready(const Registry& registry, double stall_s) {
  bool one_plays = false;
  for (const auto& pipeline : registry.pipelines()) {
    const PipelineHealth health = health_of(*pipeline, registry, stall_s);
    if (!health.is_outermost) continue;
    if (!health.problem.empty()) return health.problem;
    one_plays = one_plays || health.state == GST_STATE_PLAYING;
  }
  return one_plays ? "" : "no pipeline plays";
}

}  // namespace het::metrics
