#include "hetero/plan_store.h"

#include <charconv>
#include <utility>

#include "inference/checksum.h"
#include "inference/passes/print_model.h"

namespace het::hetero {
namespace {

/// "stages 0x12 1x3": twelve nodes on device 0, three on device 1.
std::string to_text(const StoredPlan& plan) {
  std::string text = plan.in_stages ? "stages" : "merged";
  for (size_t n = 0; n < plan.devices.size();) {
    size_t end = n + 1;
    while (end < plan.devices.size() && plan.devices[end] == plan.devices[n]) ++end;
    text += fmt::format(" {}x{}", plan.devices[n], end - n);
    n = end;
  }
  return text;
}

std::optional<StoredPlan> parse(std::string_view text, size_t nodes, size_t devices) {
  StoredPlan plan;
  plan.in_stages = text.starts_with("stages");
  while (true) {
    const size_t blank = text.find(' ');
    if (blank == std::string_view::npos) break;
    text.remove_prefix(blank + 1);
    size_t device = 0;
    size_t count = 0;
    const char* const end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, device);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != 'x') return std::nullopt;
    const auto second = std::from_chars(first.ptr + 1, end, count);
    if (second.ec != std::errc() || device >= devices || count > nodes - plan.devices.size()) {
      return std::nullopt;
    }
    plan.devices.insert(plan.devices.end(), count, device);
  }
  if (plan.devices.size() != nodes) return std::nullopt;
  return plan;
}

}  // namespace

PlanStore::PlanStore(const Properties& properties, const SupportTable& table)
    : devices_(table.devices().size()) {
  std::string machine;
  for (const PlacementDevice& device : table.devices()) {
    const auto full_name = device.member->device->get_property("FULL_DEVICE_NAME");
    machine += fmt::format("{} {};", device.member->name, full_name ? *full_name : "");
    device_key_ += device.member->name;
    for (const auto& [name, value] : device.properties) {
      if (name != "CACHE_DIR") device_key_ += fmt::format(" {}={}", name, value);
    }
    device_key_ += ";";
  }
  const std::string folder = cache_dir(properties);
  if (!folder.empty()) store_.emplace(folder, "HETERO", machine);
}

std::string PlanStore::key_of(std::string_view policy, const Model& prepared) const {
  return fmt::format("plan {} model {:016x} on {:016x}", policy, checksum(print_model(prepared)),
                     checksum(device_key_));
}

std::optional<StoredPlan> PlanStore::find(std::string_view policy, const Model& prepared) {
  if (!store_) return std::nullopt;
  store_->refresh();
  const auto choice = store_->find(key_of(policy, prepared));
  return choice ? parse(choice->name, prepared.nodes().size(), devices_) : std::nullopt;
}

void PlanStore::keep(std::string_view policy, const Model& prepared, const StoredPlan& plan,
                     std::map<std::string, double> times_us) {
  if (!store_) return;
  store_->add(key_of(policy, prepared), {to_text(plan), std::move(times_us)});
  store_->save();
}

}  // namespace het::hetero
