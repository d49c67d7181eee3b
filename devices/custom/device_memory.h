#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "devices/custom/device_library.h"
#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het::custom {

/// A device that a library has opened; closed with the last user. Immutable; thread-safe.
class OpenDevice {
 public:
  /// Fails with what the library says.
  static Result<std::shared_ptr<const OpenDevice>> open(const DeviceLibrary& library,
                                                        std::string name, uint32_t index);
  ~OpenDevice();
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;

  const DeviceLibrary& library() const { return library_; }
  const HetCustomDevice& table() const { return library_.table(); }
  /// "NPU.1"
  const std::string& name() const { return name_; }
  void* handle() const { return handle_; }

 private:
  OpenDevice(const DeviceLibrary& library, std::string name, void* handle)
      : library_(library), name_(std::move(name)), handle_(handle) {}

  const DeviceLibrary& library_;
  const std::string name_;
  void* const handle_;
};

/// Memory that the device allocated: host memory to everybody else. Thread-compatible.
class DeviceMemory final : public Buffer {
 public:
  /// Fails with what the library says, or with Internal for an address that no tensor can have.
  static Result<BufferPtr> allocate(std::shared_ptr<const OpenDevice> device, size_t size_bytes);
  ~DeviceMemory() override;

  const OpenDevice& device() const { return *device_; }
  void* handle() const { return memory_; }

 private:
  DeviceMemory(std::shared_ptr<const OpenDevice> device, size_t size_bytes, void* memory,
               void* address)
      : Buffer(MemoryKind::Host, size_bytes, static_cast<std::byte*>(address), {}),
        device_(std::move(device)),
        memory_(memory) {}

  const std::shared_ptr<const OpenDevice> device_;
  void* const memory_;
};

/// A dense tensor in the device's memory, or the host's where it has none of its own.
Result<Tensor> allocate_tensor(const std::shared_ptr<const OpenDevice>& device,
                               const TensorDesc& desc);

/// What allocate_memory() gave for the tensor's memory; null where it lies elsewhere.
void* memory_of(const Tensor& tensor, const OpenDevice& device);

}  // namespace het::custom
