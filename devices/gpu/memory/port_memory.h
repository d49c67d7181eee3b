#pragma once

#include <utility>

#include "devices/gpu/memory/context.h"
#include "devices/gpu/memory/device_copy.h"
#include "inference/base/status.h"
#include "inference/tensors/tensor.h"

namespace het::gpu {

/// How the tensor of a port reaches the device in one execution after the other: used where it is,
/// if the device reaches it there, else copied to or from memory of our own, which is kept. Used in
/// place are, when dense: HostBuffers of this context; cl_mems of this context, except with an
/// offset that the device does not take; host memory of the application where memory is unified and
/// whole pages or cache lines are ours (kPageBytes, kLineBytes). Other host memory whose content is
/// numbered has a copy on the device that ports share. One thread at a time.
class PortMemory {
 public:
  /// Alignment from which on drivers share host memory without a copy, and the unit of its size.
  static constexpr size_t kPageBytes = 4096;
  static constexpr size_t kLineBytes = 64;

  /// Device memory with the content of an input. The tensor must live until release().
  Result<cl_mem> send(Context& context, cl_command_queue queue, const Tensor& given);
  /// Device memory for an input that kernels fill, all of it.
  Result<cl_mem> make_room_for_input(Context& context, cl_command_queue queue, const Tensor& given);
  /// Device memory for an output.
  Result<cl_mem> make_room(Context& context, const Tensor& given, const TensorDesc& desc);
  /// Enqueues what brings `made`, which kernels wrote, into the output's tensor.
  Status fetch(Context& context, cl_command_queue queue, cl_mem made, Tensor& given);
  /// After the commands ended: copies to strided tensors.
  Status finish(Tensor& given);
  /// After the commands ended: lets go of the tensor's memory; true when that was used in place.
  bool release() {
    copy_ = nullptr;
    return std::exchange(direct_, nullptr) != nullptr;
  }

 private:
  Result<cl_mem> use_in_place(Context& context, cl_command_queue queue, const Tensor& given);
  Status allocate(const Context& context, size_t bytes);

  Memory direct_;                     ///< the tensor's own memory or copy, during an execution
  std::shared_ptr<DeviceCopy> copy_;  ///< of a numbered output, during an execution
  DeviceCopy::Source made_;           ///< what it has then
  Memory own_;
  Tensor dense_;  ///< host side of strided tensors
};

}  // namespace het::gpu
