#pragma once

#include <sys/types.h>
#include <iosfwd>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "inference/base/status.h"
#include "inference/base/visibility.h"
#include "inference/device_registry.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"
#include "inference/model/model.h"
#include "inference/requests/infer_request.h"

namespace het {

/// The entry to the library: reads models, knows the devices, compiles. Get the process' one with
/// het::core() from devices/register_devices.h; it lives until the last user lets go. Thread-safe.
/// In a child after fork() every call fails.
class HET_API Core {
 public:
  Core();
  ~Core();
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  DeviceRegistry& devices() { return devices_; }

  /// Reads an ONNX model or an OpenVINO IR (.xml with its .bin beside it), told apart by content.
  /// The error names the file and what is wrong in it. `overridden`: constants of
  /// Model::overridable_constants() that are to be inputs instead; only ONNX models have such.
  Result<std::unique_ptr<Model>> read_model(const std::string& path,
                                            const std::vector<std::string>& overridden = {}) const;
  /// Loads a shared library with operators of the user's own (custom_operator.h) for the whole
  /// process; the property EXTENSIONS does the same. Models that were read before know them once
  /// they are compiled.
  Status add_extension(const std::string& path) const;
  /// Makes the devices of a shared library of the user's own (custom_device.h) known to this core,
  /// or those of every *.so in a folder. A library that is loaded already is left alone; libraries
  /// stay loaded until the process ends. Fails when one is not usable, or has the name of a device
  /// that is there.
  Status add_device_library(const std::string& path);

  /// Per node, in the order of the model: the device that runs it or the reason why not. Properties
  /// that prepare the model (INPUT_TYPES, MEAN_VALUES ...) are applied to a copy first, here and by
  /// compile_model(); rows are then those of the prepared model.
  Result<std::vector<NodeSupport>> query_model(const Model& model, std::string_view device,
                                               const Properties& properties = {});
  /// `device` is a name as in available_devices() or a composite string ("HETERO:GPU,CPU").
  Result<std::shared_ptr<CompiledModel>> compile_model(
      const Model& model, std::string_view device, const Properties& properties = {},
      const std::shared_ptr<DeviceContext>& context = nullptr);
  Result<std::shared_ptr<CompiledModel>> import_model(std::istream& stream, std::string_view device,
                                                      const Properties& properties = {});
  Result<std::shared_ptr<DeviceContext>> create_context(std::string_view device,
                                                        const ContextParams& params);

  std::vector<std::string> available_devices() const { return devices_.available(); }
  /// Device defaults for later compiles; an explicit property of a compile wins. Those of a
  /// composite device are set for its kind ("BATCH"), without the devices in it.
  Status set_property(std::string_view device, const Properties& properties);
  Result<std::string> get_property(std::string_view device, std::string_view name);
  /// What set_property() has set for this device.
  Properties default_properties(std::string_view device) const;

 private:
  Status check_process() const;
  /// The name with what MULTI_DEVICE_PRIORITIES says of a composite device behind it.
  Result<std::string> full_name(std::string_view device, const Properties& properties) const;
  Result<Properties> merged_properties(std::string_view device, const Properties& properties) const;

  pid_t process_;
  DeviceRegistry devices_;
  mutable std::mutex mutex_;  ///< protects defaults_; taken alone
  std::map<std::string, Properties, std::less<>> defaults_;
};

}  // namespace het
