#include "hetero/multi/auto_device.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "hetero/multi/auto_compiled_model.h"
#include "hetero/multi/device.h"
#include "hetero/multi/list.h"
#include "inference/base/log.h"
#include "inference/device_registry.h"
#include "inference/devices/properties.h"

namespace het::hetero {
namespace {

constexpr std::string_view kAutoName = "AUTO";
/// The device that serves until another is ready.
constexpr std::string_view kStartUp = "CPU";
constexpr std::array<std::string_view, 4> kAutoProperties = {
    "ENABLE_RUNTIME_FALLBACK", "ENABLE_STARTUP_FALLBACK", "HETERO_RETRY_INTERVAL",
    "MULTI_DEVICE_PRIORITIES"};

/// The devices that AUTO may use, and why others are left out.
struct AutoList {
  std::vector<LimitedMember> members;
  std::string reasons;
};

/// "-GPU" excludes every GPU, "-GPU.1" one.
bool is_excluded(const std::string& device, const std::vector<ListedDevice>& entries) {
  return std::ranges::any_of(entries, [&](const ListedDevice& entry) {
    return entry.name == "-" + device || entry.name == "-" + parse_device_name(device).kind;
  });
}

/// Accelerators with memory of their own, those that share it, others, CPU.
int rank(const LimitedMember& limited) {
  const std::string kind = parse_device_name(limited.member.name).kind;
  if (kind == kStartUp) return 3;
  if (kind != "GPU") return 2;
  const auto features = limited.member.device->get_property("GPU_FEATURES");
  return features && features->find("unified-memory") != std::string::npos ? 1 : 0;
}

Result<AutoList> find_devices(Core& core, std::string_view arguments) {
  std::vector<ListedDevice> entries;
  if (!arguments.empty()) {
    HET_ASSIGN(entries, parse_listed_devices(kAutoName, arguments));
  }
  std::vector<ListedDevice> wanted;
  for (const ListedDevice& entry : entries) {
    if (!entry.name.starts_with('-')) wanted.push_back(entry);
  }
  const bool is_listed = !wanted.empty();
  if (!is_listed) {
    for (const std::string& name : core.available_devices()) {
      if (parse_device_name(name).kind != "REF") wanted.push_back({name, std::nullopt});
    }
  }
  AutoList list;
  const std::vector<std::string> kinds = core.devices().kinds();
  for (const ListedDevice& entry : wanted) {
    if (is_excluded(entry.name, entries)) continue;
    auto found = find_members(core, kAutoName, {entry});
    if (found) {
      list.members.push_back(std::move((*found)[0]));
      continue;
    }
    // A machine may lack a device, but a build without it, or no device at all, is a mistake.
    const std::string kind = parse_device_name(entry.name).kind;
    if (std::ranges::find(kinds, kind) == kinds.end() || core.devices().is_composite(kind)) {
      return Failure(found.error());
    }
    list.reasons += fmt::format("\n  {}: {}", entry.name, found.error().message());
    log(LogLevel::Warning, "{} goes on without {}: {}", kAutoName, entry.name,
        found.error().message());
  }
  if (!is_listed) std::ranges::stable_sort(list.members, {}, rank);
  return list;
}

std::string full_name_of(const AutoList& list) {
  std::string names;
  for (const LimitedMember& limited : list.members) {
    names += (names.empty() ? "" : ",") + limited.member.name;
    if (limited.limit) names += fmt::format("({})", *limited.limit);
  }
  return names.empty() ? std::string(kAutoName) : fmt::format("{}:{}", kAutoName, names);
}

class AutoDevice final : public Device {
 public:
  explicit AutoDevice(AutoList list) : full_name_(full_name_of(list)), list_(std::move(list)) {}

  std::string_view name() const override { return kAutoName; }

  Result<std::string> get_property(std::string_view name) const override {
    HET_ASSIGN(const PropertyDef* def, find_property(name, full_name_));
    if (def->name == "FULL_DEVICE_NAME") return "The best device for a model";
    if (def->name == "SUPPORTED_PROPERTIES") return supported_properties(full_name_);
    if (def->name == "MULTI_DEVICE_PRIORITIES") return parse_device_name(full_name_).arguments;
    return property_of_members(devices_of(list_.members), *def);
  }

  std::vector<MemoryKind> direct_memory_kinds() const override {
    return common_memory_kinds(devices_of(list_.members));
  }

  Result<std::vector<NodeSupport>> query_model(const Model& model,
                                               const Properties& properties) const override {
    HET_TRY(check_members());
    return query_any(list_.members, model, properties, kAutoProperties);
  }

  Result<std::shared_ptr<CompiledModel>> compile_model(const Model& model,
                                                       const Properties& properties,
                                                       DeviceContext* context) override {
    HET_TRY(check_members());
    HET_TRY(refuse_context(kAutoName, context));
    if (property_text(properties, "PERFORMANCE_HINT") == "CUMULATIVE_THROUGHPUT") {
      return compile_for_all(full_name_, list_.members, model, properties, kAutoProperties);
    }
    return compile_one(model, properties);
  }

 private:
  Status check_members() const {
    if (!list_.members.empty()) return {};
    return error(StatusCode::NotFound, "{} has no device to choose from{}{}", kAutoName,
                 list_.reasons.empty() ? "" : ":", list_.reasons);
  }

  /// The place in the list of the device that serves until others are ready; npos: none does.
  size_t start_up_place(const Properties& properties) const {
    // The moment of the change is nobody's to determine.
    if (!property_boolean(properties, "ENABLE_STARTUP_FALLBACK") ||
        property_boolean(properties, "DETERMINISTIC")) {
      return std::string::npos;
    }
    const auto place = std::ranges::find_if(list_.members, [](const LimitedMember& limited) {
      return parse_device_name(limited.member.name).kind == kStartUp;
    });
    if (place == list_.members.end()) return std::string::npos;
    return static_cast<size_t>(place - list_.members.begin());
  }

  Result<std::shared_ptr<CompiledModel>> compile_one(const Model& model,
                                                     const Properties& properties) const {
    std::vector<AutoCandidate> candidates;
    for (const LimitedMember& limited : list_.members) {
      candidates.push_back({limited.member.name, limited.member.device, limited.limit,
                            member_properties(limited.member, properties, kAutoProperties)});
    }
    const size_t start_up = start_up_place(properties);
    for (size_t i = 0; start_up != std::string::npos && i < start_up; ++i) {
      // Else CPU is alone when it runs.
      if (!is_accelerator(list_.members[i].member)) continue;
      spare_a_core(list_.members[start_up].member, candidates[start_up].properties);
    }
    std::vector<size_t> order;
    if (start_up != std::string::npos) order.push_back(start_up);
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (i != start_up) order.push_back(i);
    }
    const auto events = std::make_shared<DeviceEvents>(model.name(), full_name_);
    std::string reasons;
    for (const size_t i : order) {
      const AutoCandidate& candidate = candidates[i];
      auto compiled = candidate.device->compile_model(model, candidate.properties, nullptr);
      if (!compiled) {
        reasons += fmt::format("\n  {}: {}", candidate.name, compiled.error().message());
        events->add({candidate.name, compiled.error().message()});
        continue;
      }
      AutoParts parts{full_name_, properties, candidate, std::move(*compiled),
                      {},         {},         nullptr,   events};
      if (i == start_up && i > 0) {
        parts.better.assign(candidates.begin(), candidates.begin() + static_cast<ptrdiff_t>(i));
      }
      const bool falls_back = property_boolean(properties, "ENABLE_RUNTIME_FALLBACK");
      if (falls_back && candidates.size() > 1) parts.others = candidates;
      if (!parts.better.empty() || !parts.others.empty()) parts.source = model.clone();
      return AutoCompiledModel::create(std::move(parts));
    }
    return error(StatusCode::NotSupported, "none of the devices runs the model:{}", reasons);
  }

  const std::string full_name_;  ///< with the devices that are used
  const AutoList list_;
};

}  // namespace

Result<std::shared_ptr<Device>> make_auto_device(Core& core, std::string_view arguments) {
  HET_ASSIGN(AutoList list, find_devices(core, arguments));
  return std::make_shared<AutoDevice>(std::move(list));
}

}  // namespace het::hetero
