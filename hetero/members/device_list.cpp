#include "hetero/members/device_list.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <sstream>
#include <utility>

#include "inference/device_registry.h"

namespace het::hetero {
namespace {

/// False where the device says what it computes in, and the hint's type is not among it.
bool computes_in(const Device& device, const std::string& precision_hint) {
  if (precision_hint == "dynamic") return true;
  const auto capabilities = device.get_property("OPTIMIZATION_CAPABILITIES");
  if (!capabilities || capabilities->empty()) return true;
  std::string type = precision_hint;  // "f16"; there it is "FP16", but "BF16"
  std::ranges::transform(type, type.begin(), [](unsigned char c) { return std::toupper(c); });
  if (type.starts_with('F')) type.insert(1, "P");
  std::istringstream words(*capabilities);
  return std::find(std::istream_iterator<std::string>(words), {}, type) !=
         std::istream_iterator<std::string>();
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

Result<std::vector<MemberDevice>> parse_device_list(Core& core, std::string_view owner,
                                                    std::string_view list) {
  std::vector<MemberDevice> members;
  const std::string_view whole = list;
  for (bool more = true; more;) {
    const size_t end = list.find_first_of(",;");
    const std::string_view name = trimmed(list.substr(0, end));
    more = end != std::string_view::npos;
    if (more) list.remove_prefix(end + 1);
    if (name.empty()) {
      return error(StatusCode::InvalidArgument,
                   "'{}' has an empty name in the list behind {}: write {}:GPU,CPU", whole, owner,
                   owner);
    }
    const DeviceName parts = parse_device_name(name);
    if (core.devices().is_composite(parts.kind)) {
      return error(StatusCode::InvalidArgument,
                   "{} takes devices that compute, not {}, which distributes work itself", owner,
                   name);
    }
    if (std::ranges::any_of(members, [&](const MemberDevice& m) { return m.name == name; })) {
      return error(StatusCode::InvalidArgument, "'{}' names {} twice", whole, name);
    }
    HET_ASSIGN(std::shared_ptr<Device> device, core.devices().get(core, name));
    members.push_back({std::string(name), std::move(device), core.default_properties(name)});
  }
  return members;
}

std::vector<MemoryKind> common_memory_kinds(const std::vector<const MemberDevice*>& members) {
  if (members.empty()) return {MemoryKind::Host};
  std::vector<MemoryKind> kinds = members[0]->device->direct_memory_kinds();
  for (const MemberDevice* member : members) {
    const std::vector<MemoryKind> others = member->device->direct_memory_kinds();
    std::erase_if(kinds,
                  [&](MemoryKind kind) { return std::ranges::find(others, kind) == others.end(); });
  }
  return kinds;
}

std::string property_of_members(const std::vector<const MemberDevice*>& members,
                                const PropertyDef& def) {
  for (const MemberDevice* member : members) {
    const auto value = member->defaults.find(std::string(def.name));
    if (value != member->defaults.end()) return value->second;
    if (auto answer = member->device->get_property(def.name)) return *answer;
  }
  return std::string(def.default_value);
}

Status refuse_context(std::string_view owner, const DeviceContext* context) {
  if (context == nullptr) return {};
  return error(
      StatusCode::NotSupported,
      "{} cannot work in objects of the application: give the context to a compile for the "
      "device alone",
      owner);
}

bool is_accelerator(const MemberDevice& member) {
  const auto type = member.device->get_property("DEVICE_TYPE");
  return !type || *type != "cpu";
}

void spare_a_core(const MemberDevice& member, Properties& properties) {
  constexpr std::array<std::string_view, 3> kChoices = {"INFERENCE_NUM_THREADS", "NUM_STREAMS",
                                                        "SPARE_CORES"};
  const bool is_chosen = std::ranges::any_of(
      kChoices, [&](std::string_view name) { return properties.contains(std::string(name)); });
  if (is_chosen || !find_property("SPARE_CORES", parse_device_name(member.name).kind)) return;
  properties["SPARE_CORES"] = "1";
}

Properties member_properties(const MemberDevice& member, const Properties& properties,
                             std::span<const std::string_view> own) {
  const std::string kind = parse_device_name(member.name).kind;
  Properties result;
  for (const std::string& prefix : {member.name + ".", kind + "."}) {
    for (const auto& [name, value] : properties) {
      // "GPU." stands before "GPU.0.NUM_STREAMS" too, which is another device's.
      if (!name.starts_with(prefix) || name.find('.', prefix.size()) != std::string::npos) continue;
      result.emplace(name.substr(prefix.size()), value);
    }
  }
  for (const auto& [name, value] : properties) {
    if (name.find('.') != std::string::npos || std::ranges::find(own, name) != own.end()) continue;
    if (!find_property(name, kind)) continue;
    if (name == "INFERENCE_PRECISION_HINT" && !computes_in(*member.device, value)) continue;
    result.emplace(name, value);
  }
  result.insert(member.defaults.begin(), member.defaults.end());
  return result;
}

}  // namespace het::hetero
