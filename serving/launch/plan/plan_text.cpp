#include "serving/launch/plan/plan_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "serving/launch/plan/number_list.h"

namespace het::serving {
namespace {

std::vector<int> allowed_processors(const PlanRequest& request) {
  std::vector<int> processors;
  for (const PhysicalCore& core : request.topology.cores) {
    std::ranges::copy(core.processors, std::back_inserter(processors));
  }
  return processors;
}

std::vector<int> used_processors(const LaunchPlan& plan) {
  std::vector<int> processors;
  for (const InstancePlan& instance : plan.instances) {
    std::ranges::copy(instance.processors, std::back_inserter(processors));
  }
  return processors;
}

std::string several(size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string nodes_text(const InstancePlan& instance) {
  return fmt::format("{} {}", instance.numa_nodes.size() == 1 ? "node" : "nodes",
                     number_list(instance.numa_nodes));
}

std::string instance_line(const InstancePlan& instance) {
  std::string line = fmt::format("instance {}: {} {} with the memory of NUMA {}, ", instance.index,
                                 instance.processors.size() == 1 ? "processor" : "processors",
                                 number_list(instance.processors), nodes_text(instance));
  if (instance.max_threads < instance.processors.size()) {
    line += fmt::format("{} at a time, ", several(instance.max_threads, "thread"));
  }
  line += fmt::format("INFERENCE_NUM_THREADS={}, {} a decoder", instance.inference_threads,
                      several(instance.decoder_threads, "thread"));
  if (instance.load > 0) {
    line += fmt::format(", load {:.2f} of {}", instance.load, instance.max_threads);
  }
  return line + "\n";
}

std::string stream_line(const StreamNeeds& stream, const std::string& reason) {
  const std::string cost = stream.cost ? fmt::format(" (cost {:.2f})", *stream.cost) : "";
  return fmt::format("  {}{}: {}\n", stream.name, cost, reason);
}

}  // namespace

std::string plan_text(const PlanRequest& request, const LaunchPlan& plan) {
  std::string text =
      fmt::format("{} on processors {} of {} that this process may use, {} at a time\n",
                  several(plan.instances.size(), "instance"), number_list(used_processors(plan)),
                  number_list(allowed_processors(request)), several(plan.max_threads, "thread"));
  for (const InstancePlan& instance : plan.instances) {
    text += instance_line(instance);
    for (size_t i = 0; i < instance.streams.size(); ++i) {
      text += stream_line(request.streams[instance.streams[i]], instance.reasons[i]);
    }
  }
  for (const std::string& note : plan.notes) text += "note: " + note + "\n";
  return text;
}

std::string plan_json(const PlanRequest& request, const LaunchPlan& plan) {
  using Json = nlohmann::ordered_json;
  Json instances = Json::array();
  for (const InstancePlan& instance : plan.instances) {
    Json streams = Json::array();
    for (size_t i = 0; i < instance.streams.size(); ++i) {
      const StreamNeeds& stream = request.streams[instance.streams[i]];
      streams.push_back({{"name", stream.name},
                         {"cost", stream.cost ? Json(*stream.cost) : Json()},
                         {"reason", instance.reasons[i]}});
    }
    instances.push_back({{"index", instance.index},
                         {"numa_nodes", instance.numa_nodes},
                         {"processors", instance.processors},
                         {"max_threads", instance.max_threads},
                         {"inference_threads", instance.inference_threads},
                         {"decoder_threads", instance.decoder_threads},
                         {"load", instance.load},
                         {"streams", std::move(streams)}});
  }
  const Json json = {{"allowed_processors", allowed_processors(request)},
                     {"max_threads", plan.max_threads},
                     {"instances", std::move(instances)},
                     {"notes", plan.notes}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace het::serving
