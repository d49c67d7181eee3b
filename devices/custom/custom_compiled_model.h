#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "devices/custom/device_memory.h"
#include "inference/devices/device.h"
#include "inference/devices/properties.h"
#include "inference/devices/stream_executor.h"

namespace het::custom {

/// Properties as libraries get them; points into them.
class PropertyList {
 public:
  explicit PropertyList(const Properties& properties) {
    for (const auto& [name, value] : properties) list_.push_back({name.c_str(), value.c_str()});
  }
  const HetDeviceProperty* data() const { return list_.data(); }
  uint32_t size() const { return static_cast<uint32_t>(list_.size()); }

 private:
  std::vector<HetDeviceProperty> list_;
};

/// What the host knows of a compiled model.
struct CompiledParts {
  std::string name;
  std::vector<Port> inputs;
  std::vector<Port> outputs;
  Properties properties;
};

/// A model that a library has compiled or imported. Thread-safe.
class CustomCompiledModel final : public CompiledModel {
 public:
  /// Owns `handle`, the library's model, also after a failure. Fails where the library's view of
  /// inputs and outputs is not that of `parts`.
  static Result<std::shared_ptr<CompiledModel>> create(std::shared_ptr<const OpenDevice> device,
                                                       void* handle, CompiledParts parts);
  ~CustomCompiledModel() override;

  Result<std::string> get_property(std::string_view name) const override;
  Status set_property(const Properties& properties) override;
  Status export_model(std::ostream& stream) const override;
  Result<Tensor> allocate_tensor(const TensorDesc& desc) override;

  const OpenDevice& device() const { return *device_; }
  void* handle() const { return handle_; }
  bool is_profiled() const { return property_boolean(properties_, "PERF_COUNT"); }
  /// For what takes time before a request can be started: pictures, tensors that are not dense.
  StreamExecutor& host_stream() const { return *host_stream_; }

 private:
  CustomCompiledModel(std::shared_ptr<const OpenDevice> device, void* handle, CompiledParts parts);
  Result<std::unique_ptr<DeviceRequest>> create_device_request() override;
  /// Asks the library what it made of the model, and compares.
  Status describe();

  const std::shared_ptr<const OpenDevice> device_;
  void* const handle_;
  const Properties properties_;
  uint32_t optimal_requests_ = 1;
  std::unique_ptr<StreamExecutor> host_stream_;
};

}  // namespace het::custom
