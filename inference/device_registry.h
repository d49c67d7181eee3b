#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/visibility.h"
#include "inference/devices/device.h"

namespace het {

class ExclusiveQueue;

/// "GPU.1" -> {"GPU", "1"}; "HETERO:GPU,CPU" -> {"HETERO", ""}.
struct DeviceName {
  std::string kind;
  std::string id;
  std::string arguments;  ///< what follows ':'
};
HET_API DeviceName parse_device_name(std::string_view device);

/// Knows how to make each device and keeps those that were used. Devices that compute come with
/// what EXCLUSIVE_ASYNC_REQUESTS asks for. Thread-safe.
class HET_API DeviceRegistry {
 public:
  /// Makes the device with this id ("" or "0", "1" ...); called at most once per id until released.
  /// A composite device gets what follows the colon instead ("GPU,CPU") and is made anew each time.
  using Factory = std::function<Result<std::shared_ptr<Device>>(Core& core, std::string_view id)>;
  /// Ids that exist on this machine; {""} for a device that exists once.
  using Lister = std::function<std::vector<std::string>()>;

  /// `kind` is the part of a device name before the first '.' or ':' - "CPU", "GPU", "HETERO".
  /// A composite device ("HETERO") is not listed by available(); `lister` is not called for it.
  void add(std::string kind, Factory factory, Lister lister, bool composite = false);

  /// Another name for a device, as others call it: ("MYRIAD", "VPU.myriad"). It is not listed.
  void add_alias(std::string name, std::string device);

  /// Properties of a kind of device that say where devices are: set before there are any.
  using Configure = std::function<Status(const Properties&)>;
  void add_configuration(std::string kind, Configure configure);
  /// Hands properties that were set for `device` over; false where its kind has no use for them.
  Result<bool> configure(std::string_view device, const Properties& properties);

  /// Adds the devices of a user's library (custom_device.h), or of all in a folder, to the registry
  /// that it is given.
  using LibraryLoader = std::function<Status(DeviceRegistry& registry, const std::string& path)>;
  void set_library_loader(LibraryLoader loader);
  /// Calls the loader. Fails with NotSupported without one.
  Status add_library(const std::string& path);

  /// The device for "CPU", "GPU.1" or "HETERO:GPU,CPU". Fails with NotFound and the list of names
  /// that exist.
  Result<std::shared_ptr<Device>> get(Core& core, std::string_view device);
  /// Names of the non-composite devices, in the order of registration.
  std::vector<std::string> available() const;
  /// Registered kinds, composite ones included.
  std::vector<std::string> kinds() const;
  bool is_composite(std::string_view kind) const;
  /// True for a registered kind and for an alias.
  bool has_name(std::string_view name) const;
  /// Fails with NotFound and the kinds of this build where `device` is neither one of them nor an
  /// alias; a device of a known kind may still not be there.
  Status check_kind(std::string_view device) const;

 private:
  struct Entry {
    std::string kind;
    Factory factory;
    Lister lister;
    bool composite = false;
    std::map<std::string, std::shared_ptr<Device>, std::less<>> devices;
    /// By id, where "" is "0": two names of one device.
    std::map<std::string, std::shared_ptr<ExclusiveQueue>> queues;
  };
  Entry* find(std::string_view kind);
  const Entry* find(std::string_view kind) const;
  /// With an alias replaced.
  DeviceName resolve(std::string_view device) const;

  mutable std::mutex mutex_;  ///< protects what follows; taken alone
  std::vector<Entry> entries_;
  std::map<std::string, std::string, std::less<>> aliases_;
  std::map<std::string, Configure, std::less<>> configurations_;
  LibraryLoader library_loader_;
};

}  // namespace het
