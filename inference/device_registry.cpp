#include "inference/device_registry.h"

#include <algorithm>
#include <utility>

#include "inference/requests/exclusive_device.h"

namespace het {

DeviceName parse_device_name(std::string_view device) {
  DeviceName name;
  const size_t colon = device.find(':');
  if (colon != std::string_view::npos) name.arguments = device.substr(colon + 1);
  const std::string_view head = device.substr(0, colon);
  const size_t dot = head.find('.');
  name.kind = head.substr(0, dot);
  if (dot != std::string_view::npos) name.id = head.substr(dot + 1);
  return name;
}

void DeviceRegistry::add(std::string kind, Factory factory, Lister lister, bool composite) {
  std::lock_guard lock(mutex_);
  entries_.push_back({std::move(kind), std::move(factory), std::move(lister), composite, {}});
}

void DeviceRegistry::add_alias(std::string name, std::string device) {
  std::lock_guard lock(mutex_);
  aliases_[std::move(name)] = std::move(device);
}

void DeviceRegistry::add_configuration(std::string kind, Configure configure) {
  std::lock_guard lock(mutex_);
  configurations_[std::move(kind)] = std::move(configure);
}

Result<bool> DeviceRegistry::configure(std::string_view device, const Properties& properties) {
  Configure configure;
  {
    std::lock_guard lock(mutex_);
    const auto found = configurations_.find(resolve(device).kind);
    if (found == configurations_.end()) return false;
    configure = found->second;
  }
  HET_TRY(configure(properties));
  return true;
}

void DeviceRegistry::set_library_loader(LibraryLoader loader) {
  std::lock_guard lock(mutex_);
  library_loader_ = std::move(loader);
}

Status DeviceRegistry::add_library(const std::string& path) {
  LibraryLoader loader;
  {
    std::lock_guard lock(mutex_);
    loader = library_loader_;
  }
  if (loader) return loader(*this, path);
  return error(StatusCode::NotSupported,
               "device library '{}' cannot be loaded: nobody has registered the devices of this "
               "build",
               path);
}

DeviceName DeviceRegistry::resolve(std::string_view device) const {
  DeviceName name = parse_device_name(device);
  const auto alias = aliases_.find(name.kind);
  if (alias == aliases_.end()) return name;
  return parse_device_name(alias->second + (name.id.empty() ? "" : "." + name.id));
}

const DeviceRegistry::Entry* DeviceRegistry::find(std::string_view kind) const {
  const auto it = std::find_if(entries_.begin(), entries_.end(),
                               [&](const Entry& entry) { return entry.kind == kind; });
  return it == entries_.end() ? nullptr : &*it;
}

DeviceRegistry::Entry* DeviceRegistry::find(std::string_view kind) {
  return const_cast<Entry*>(std::as_const(*this).find(kind));
}

Status DeviceRegistry::check_kind(std::string_view device) const {
  std::lock_guard lock(mutex_);
  const std::string kind = resolve(device).kind;
  if (find(kind) != nullptr) return {};
  std::string valid;
  for (const Entry& e : entries_) valid += (valid.empty() ? "" : ", ") + e.kind;
  return error(StatusCode::NotFound, "there is no device '{}' (in '{}'); this build has {}", kind,
               device, valid);
}

Result<std::shared_ptr<Device>> DeviceRegistry::get(Core& core, std::string_view device) {
  HET_TRY(check_kind(device));
  DeviceName name;
  Factory factory;
  bool composite = false;
  {
    std::lock_guard lock(mutex_);
    name = resolve(device);
    Entry* entry = find(name.kind);
    const auto made = entry->devices.find(name.id);
    if (made != entry->devices.end()) return made->second;
    factory = entry->factory;
    composite = entry->composite;
  }
  // Made outside the lock: a composite device asks for its members.
  if (composite) return factory(core, name.arguments);
  HET_ASSIGN(std::shared_ptr<Device> made, factory(core, name.id));
  std::lock_guard lock(mutex_);
  Entry& entry = *find(name.kind);
  std::shared_ptr<ExclusiveQueue>& queue = entry.queues[name.id.empty() ? "0" : name.id];
  if (queue == nullptr) queue = std::make_shared<ExclusiveQueue>();
  made = with_exclusive_requests(std::move(made), queue);
  return entry.devices.try_emplace(name.id, std::move(made)).first->second;
}

bool DeviceRegistry::has_name(std::string_view name) const {
  std::lock_guard lock(mutex_);
  return find(name) != nullptr || aliases_.contains(name);
}

std::vector<std::string> DeviceRegistry::available() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const Entry& entry : entries_) {
    if (entry.composite) continue;
    for (const std::string& id : entry.lister()) {
      names.push_back(id.empty() ? entry.kind : entry.kind + "." + id);
    }
  }
  return names;
}

std::vector<std::string> DeviceRegistry::kinds() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const Entry& entry : entries_) names.push_back(entry.kind);
  return names;
}

bool DeviceRegistry::is_composite(std::string_view kind) const {
  std::lock_guard lock(mutex_);
  return std::ranges::any_of(
      entries_, [&](const Entry& entry) { return entry.kind == kind && entry.composite; });
}

}  // namespace het
