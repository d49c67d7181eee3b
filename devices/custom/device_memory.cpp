#include "devices/custom/device_memory.h"

#include <cstdint>

#include "devices/custom/library_call.h"
#include "inference/tensors/numbered_content.h"

namespace het::custom {

static_assert(HET_DEVICE_ALIGNMENT == kHostAlignment);

Result<std::shared_ptr<const OpenDevice>> OpenDevice::open(const DeviceLibrary& library,
                                                           std::string name, uint32_t index) {
  void* handle = nullptr;
  LibraryCall call(name, "open_device()");
  HET_TRY(call.run([&](const HetDeviceSink* sink) {
    return library.table().open_device(index, sink, &handle);
  }));
  return std::shared_ptr<const OpenDevice>(new OpenDevice(library, std::move(name), handle));
}

OpenDevice::~OpenDevice() {
  table().close_device(handle_);
}

Result<BufferPtr> DeviceMemory::allocate(std::shared_ptr<const OpenDevice> device,
                                         size_t size_bytes) {
  void* memory = nullptr;
  void* address = nullptr;
  LibraryCall call(device->name(), "allocate_memory()");
  HET_TRY(call.run([&](const HetDeviceSink* sink) {
    return device->table().allocate_memory(device->handle(), size_bytes, sink, &memory, &address);
  }));
  // Frees it in any case.
  const std::shared_ptr<DeviceMemory> buffer(
      new DeviceMemory(std::move(device), size_bytes, memory, address));
  const bool is_aligned = reinterpret_cast<uintptr_t>(address) % kHostAlignment == 0;
  if (memory != nullptr && address != nullptr && is_aligned) return buffer;
  return error(StatusCode::Internal,
               "{}: allocate_memory() gave memory {} at {} for {} bytes: neither may be null, and "
               "the address has to be a multiple of {}",
               buffer->device().name(), memory, address, size_bytes, kHostAlignment);
}

DeviceMemory::~DeviceMemory() {
  if (memory_ != nullptr) device_->table().free_memory(device_->handle(), memory_);
}

Result<Tensor> allocate_tensor(const std::shared_ptr<const OpenDevice>& device,
                               const TensorDesc& desc) {
  HET_ASSIGN(const size_t size_bytes, dense_size_bytes(desc));
  if (size_bytes == 0 || device->table().allocate_memory == nullptr) return Tensor::allocate(desc);
  HET_ASSIGN(BufferPtr memory, DeviceMemory::allocate(device, size_bytes));
  return Tensor::view(desc, std::move(memory));
}

void* memory_of(const Tensor& tensor, const OpenDevice& device) {
  const BufferPtr buffer = without_number(tensor.buffer());
  const auto* const memory = dynamic_cast<const DeviceMemory*>(buffer.get());
  return memory != nullptr && &memory->device() == &device ? memory->handle() : nullptr;
}

}  // namespace het::custom
