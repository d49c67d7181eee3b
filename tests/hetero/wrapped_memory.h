#pragma once

#include <functional>

#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het::hetero {

/// What memory of a WrappedDevice asks before it is mapped and tells when it is let go of.
struct MemoryHooks {
  std::function<Status()> mapping;
  std::function<void()> releasing;
};

/// A dense tensor in memory that stands for a device's own: the host reaches it by map() only.
Result<Tensor> allocate_wrapped_memory(const TensorDesc& desc, MemoryHooks hooks);

/// The same memory as the device itself sees it; other tensors as they are.
Tensor seen_by_device(const Tensor& tensor);

}  // namespace het::hetero
