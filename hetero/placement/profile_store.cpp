#include "hetero/placement/profile_store.h"

#include "inference/base/checksum.h"
#include "inference/devices/cache_folder.h"
#include "inference/machine/core_count.h"
#include "inference/passes/print_model.h"

namespace het::hetero {
namespace {

constexpr const char* kNode = "us";
constexpr const char* kStart = "start us";
constexpr const char* kPerMegabyte = "us a megabyte";
constexpr std::string_view kFused = "fused";
constexpr std::string_view kOwnTimes = "own kernel";

/// Types of the nodes around it: what a device fuses depends on them.
std::string neighbours(const Node& node) {
  std::string text;
  for (const Value* input : node.inputs()) {
    if (input != nullptr && input->producer() != nullptr) {
      text += input->producer()->op_type() + " ";
    }
  }
  text += "|";
  for (const Value* output : node.outputs()) {
    if (output == nullptr) continue;
    for (const Node* consumer : output->consumers()) text += " " + consumer->op_type();
  }
  return text;
}

std::optional<double> time_of(const MeasuredChoice& choice, const char* name) {
  const auto time = choice.times_us.find(name);
  // Read from a file: anything may stand there.
  if (time == choice.times_us.end() || !(time->second >= 0)) return std::nullopt;
  return 1e-6 * time->second;
}

}  // namespace

std::string machine_text(const SupportTable& table) {
  std::string text = fmt::format("{} threads;", usable_cores());
  for (const PlacementDevice& device : table.devices()) {
    const auto full_name = device.member->device->get_property("FULL_DEVICE_NAME");
    text += fmt::format("{} {};", device.member->name, full_name ? *full_name : "");
  }
  return text;
}

std::string device_text(const PlacementDevice& device) {
  std::string text = device.member->name;
  for (const auto& [name, value] : device.properties) {
    const bool has_effect =
        name != "CACHE_DIR" && name != "CACHE_MAX_MIB" && name != "WEIGHT_SHARING";
    if (has_effect) text += fmt::format(" {}={}", name, value);
  }
  return text;
}

ProfileStore::ProfileStore(const Properties& properties, const SupportTable& table) {
  for (const PlacementDevice& device : table.devices()) {
    devices_.push_back(device_text(device));
    devices_by_name_[device.member->name] = devices_.back();
  }
  note_cache_bound(properties);
  const std::string folder = cache_dir(properties);
  if (folder.empty()) return;
  store_.emplace(folder, "HETERO-times", machine_text(table));
  store_->refresh();
}

std::string ProfileStore::key_of(const Node& node, size_t device) const {
  const std::string text = fmt::format("{} between {}", node_signature(node), neighbours(node));
  return fmt::format("{} {:016x} on {} {:016x}", node.op_type(), checksum(text),
                     devices_[device].substr(0, devices_[device].find(' ')),
                     checksum(devices_[device]));
}

std::string ProfileStore::transfer_key(const std::string& from, const std::string& to,
                                       Crossing crossing) const {
  return fmt::format("from {} to {}{}", devices_by_name_.at(from), devices_by_name_.at(to),
                     crossing == Crossing::AsFloat16 ? " as float16" : "");
}

std::optional<ProfileStore::NodeTime> ProfileStore::find(const Node& node, size_t device) const {
  const auto choice = store_ ? store_->find(key_of(node, device)) : std::nullopt;
  if (!choice) return std::nullopt;
  const auto seconds = time_of(*choice, kNode);
  if (!seconds || (choice->name != kFused && choice->name != kOwnTimes)) return std::nullopt;
  return NodeTime{*seconds, choice->name == kFused};
}

void ProfileStore::add(const Node& node, size_t device, const NodeTime& time) {
  if (!store_) return;
  store_->add(key_of(node, device),
              {std::string(time.is_fused ? kFused : kOwnTimes), {{kNode, 1e6 * time.seconds}}});
}

std::optional<TransferTime> ProfileStore::find_transfer(const std::string& from,
                                                        const std::string& to,
                                                        Crossing crossing) const {
  const std::string key = transfer_key(from, to, crossing);
  if (const auto added = added_transfers_.find(key); added != added_transfers_.end()) {
    return added->second;
  }
  const auto choice = store_ ? store_->find(key) : std::nullopt;
  if (!choice) return std::nullopt;
  const auto start = time_of(*choice, kStart);
  const auto per_megabyte = time_of(*choice, kPerMegabyte);
  if (!start || !per_megabyte) return std::nullopt;
  return TransferTime{*start, 1e-6 * *per_megabyte};
}

void ProfileStore::add_transfer(const std::string& from, const std::string& to, Crossing crossing,
                                const TransferTime& time) {
  const std::string key = transfer_key(from, to, crossing);
  added_transfers_[key] = time;
  if (!store_) return;
  store_->add(key, {"line", {{kStart, 1e6 * time.start}, {kPerMegabyte, 1e12 * time.per_byte}}});
}

void ProfileStore::save() {
  if (store_) store_->save();
}

}  // namespace het::hetero
