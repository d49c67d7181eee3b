#include "serving/tune/tune_space.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace het::serving {
namespace {

constexpr const char* kPipeline = "pipeline";
constexpr const char* kInstances = "instances";
/// The oracle of the other devices is never the faster one.
constexpr std::string_view kReference = "REF";

bool begins_with_device(const std::string& device, std::string_view kind) {
  return device == kind || device.starts_with(std::string(kind) + ".");
}

/// Settings of one element of a line.
class ElementSpace {
 public:
  ElementSpace(const PipelineLine& line, size_t inference, const TuneSpaceRequest& request,
               std::vector<TuneSetting>& settings)
      : line_(line), inference_(inference), request_(request), settings_(settings) {
    for (const std::string& device : request.devices) {
      if (!begins_with_device(device, kReference)) plain_.push_back(device);
    }
  }

  void add_device() {
    std::vector<std::string> values = plain_;
    if (plain_.size() > 1) {
      // Accelerators first: HETERO asks them in this order.
      std::vector<std::string> order = plain_;
      std::ranges::stable_partition(
          order, [](const std::string& device) { return !begins_with_device(device, "CPU"); });
      std::string all;
      for (const std::string& device : order) all += (all.empty() ? "" : ",") + device;
      values.push_back("HETERO:" + all);
      values.push_back("MULTI:" + all);
    }
    values.emplace_back("AUTO");
    add("device", "device", "CPU", values);
  }

  void add_precision() {
    std::vector<std::string> values = {"dynamic", "f32"};
    if (has_kind("CPU")) values.emplace_back("bf16");
    if (plain_.size() > (has_kind("CPU") ? 1 : 0)) values.emplace_back("f16");
    add("precision", "INFERENCE_PRECISION_HINT", "dynamic", values);
  }

  void add_requests() {
    std::vector<std::string> values = {"0"};
    for (size_t count = 1; count <= std::max<size_t>(4, 2 * request_.processors); count *= 2) {
      values.push_back(std::to_string(count));
    }
    add("nireq", "nireq", "0", values);
  }

  void add_streams() {
    std::vector<std::string> values = {""};
    for (size_t count = 1; count <= request_.processors; count *= 2) {
      values.push_back(std::to_string(count));
    }
    add("streams", "NUM_STREAMS", "", values);
  }

  void add_hint() { add("hint", "PERFORMANCE_HINT", "THROUGHPUT", {"THROUGHPUT", "LATENCY"}); }
  void add_batch() { add("batch", "batch-size", "0", {"0", "2", "4", "8"}); }

  void add_backend() {
    std::vector<std::string> values = {"auto"};
    const std::string given = line_.value(inference_, "pre-process-backend").value_or("auto");
    // On a machine without an accelerator auto is cpu.
    if (given != "auto" || plain_.size() > 1) values.emplace_back("cpu");
    if (has_kind("GPU")) values.emplace_back("opencl");
    if (mentions_va()) values.insert(values.end(), {"va", "va-surface-sharing"});
    add("pre-process-backend", "pre-process-backend", "auto", values);
  }

  void add_interval() {
    if (!request_.allow_interval) return;
    add("inference-interval", "inference-interval", "1", {"1", "2", "3", "5"});
  }

 private:
  void add(const std::string& kind, const std::string& name, const std::string& unset,
           const std::vector<std::string>& values) {
    if (!request_.only.empty() && !request_.only.contains(kind)) return;
    const std::optional<std::string> given = line_.value(inference_, name);
    TuneSetting setting{line_.inferences()[inference_].label, name, {given.value_or("")}};
    for (const std::string& value : values) {
      if (value != given.value_or(unset)) setting.values.push_back(value);
    }
    if (setting.values.size() > 1) settings_.push_back(std::move(setting));
  }

  bool has_kind(std::string_view kind) const {
    return std::ranges::any_of(plain_, [&](const auto& d) { return begins_with_device(d, kind); });
  }

  bool mentions_va() const {
    return std::ranges::any_of(line_.words(), [](const std::string& word) {
      return word.starts_with("va") || word.find("VAMemory") != std::string::npos;
    });
  }

  const PipelineLine& line_;
  const size_t inference_;
  const TuneSpaceRequest& request_;
  std::vector<TuneSetting>& settings_;
  std::vector<std::string> plain_;
};

}  // namespace

const std::vector<std::string>& tune_kinds() {
  static const std::vector<std::string> kinds = {"device",
                                                 "precision",
                                                 "nireq",
                                                 "streams",
                                                 "hint",
                                                 "batch",
                                                 "pre-process-backend",
                                                 "inference-interval",
                                                 "instances"};
  return kinds;
}

std::vector<TuneSetting> tune_space(const PipelineLine& line, const TuneSpaceRequest& request) {
  std::vector<TuneSetting> settings;
  for (size_t i = 0; i < line.inferences().size(); ++i) {
    ElementSpace space(line, i, request, settings);
    if (!request.keeps_results) space.add_device();
    space.add_requests();
    space.add_streams();
    space.add_hint();
    space.add_batch();
    if (request.keeps_results) continue;
    space.add_backend();
    space.add_precision();
    space.add_interval();
  }
  const bool wants_instances = request.only.empty() || request.only.contains(kInstances);
  if (wants_instances && request.instance_counts.size() > 1) {
    TuneSetting instances{kPipeline, kInstances, {"1"}};
    for (const size_t count : request.instance_counts) {
      if (count != 1) instances.values.push_back(std::to_string(count));
    }
    settings.push_back(std::move(instances));
  }
  return settings;
}

TunedPipeline tuned_pipeline(const PipelineLine& line, const std::vector<TuneSetting>& settings,
                             const TuneChoice& choice) {
  TunedPipeline tuned{line, 1};
  for (size_t i = 0; i < settings.size(); ++i) {
    if (choice[i] == 0) continue;
    const TuneSetting& setting = settings[i];
    const std::string& value = setting.values[choice[i]];
    if (setting.element == kPipeline && setting.name == kInstances) {
      std::from_chars(value.data(), value.data() + value.size(), tuned.instances);
      continue;
    }
    for (size_t k = 0; k < line.inferences().size(); ++k) {
      if (line.inferences()[k].label != setting.element) continue;
      tuned.line.set(k, setting.name, value.empty() ? std::nullopt : std::optional(value));
    }
  }
  return tuned;
}

}  // namespace het::serving
