#pragma once

#include <memory>
#include <string>
#include <utility>

#include "inference/base/shared_library.h"
#include "inference/base/status.h"
#include "inference/custom_device.h"
#include "inference/device_registry.h"

namespace het::custom {

/// A user's library with devices of one kind: open, checked, and never closed. Immutable;
/// thread-safe.
class DeviceLibrary {
 public:
  /// Opens and checks a library, or finds it among those that this process has. `registry` has the
  /// names that it must not take.
  static Result<const DeviceLibrary*> load(const std::string& path, const DeviceRegistry& registry);

  const HetCustomDevice& table() const { return table_; }
  /// "NPU"
  const std::string& kind() const { return kind_; }
  /// "device library 'path'", for messages.
  const std::string& title() const { return library_->title(); }

 private:
  DeviceLibrary(std::unique_ptr<SharedLibrary> library, const HetCustomDevice& table)
      : library_(std::move(library)), table_(table), kind_(table.name) {}

  std::unique_ptr<SharedLibrary> library_;
  const HetCustomDevice& table_;
  std::string kind_;
};

/// Adds the devices of the library, or of every *.so in a folder, in the order of their names; for
/// DeviceRegistry::set_library_loader(). Those that the registry has already stay.
Status add_device_libraries(DeviceRegistry& registry, const std::string& path);

}  // namespace het::custom
