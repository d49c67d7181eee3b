#pragma once

#include <memory>
#include <string>

#include "devices/gpu/memory/context.h"
#include "inference/devices/device.h"

namespace het::gpu {

/// What Core::create_context() of a GPU gives: the application's cl_context, or the device's own.
/// Thread-safe.
class ApplicationContext final : public DeviceContext {
 public:
  /// `params` has "cl_context" and, where the context has several devices, "cl_queue"; or
  /// "VADisplay", for a context of our own that imports its surfaces. Without params it is `own`.
  /// Fails with InvalidArgument for other params.
  static Result<std::shared_ptr<DeviceContext>> create(const ContextParams& params,
                                                       std::shared_ptr<Context> own,
                                                       std::string_view device_name);

  std::string_view device_name() const override { return device_name_; }
  Result<Tensor> wrap(TensorDesc desc, const MemoryHandle& handle,
                      std::function<void()> release) override;
  Result<Tensor> allocate(TensorDesc desc) override;

  const std::shared_ptr<Context>& context() const { return context_; }

 private:
  ApplicationContext(std::shared_ptr<Context> context, std::string_view device_name)
      : context_(std::move(context)), device_name_(device_name) {}

  std::shared_ptr<Context> context_;
  std::string device_name_;
};

}  // namespace het::gpu
