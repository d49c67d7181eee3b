#include "devices/gpu/memory/device_copy.h"

namespace het::gpu {

Status DeviceCopy::allocate(const Context& context) {
  if (memory_ != nullptr) return {};
  HET_ASSIGN(memory_, context.allocate(bytes_));
  return {};
}

Result<Memory> DeviceCopy::send(Context& context, cl_command_queue queue, uint64_t content,
                                const void* host) {
  std::lock_guard lock(mutex_);
  HET_TRY(allocate(context));
  if (content_ == content) {
    if (!sent_) return memory_;
    const cl_event sent = sent_.get();
    HET_TRY(cl_status(clEnqueueBarrierWithWaitList(queue, 1, &sent, nullptr),
                      "wait for a tensor that another queue sends"));
    return memory_;
  }
  content_ = 0;
  context.count_copy();
  HET_TRY(cl_status(clEnqueueWriteBuffer(queue, memory_->get(), CL_FALSE, 0, bytes_, host, 0,
                                         nullptr, sent_.out()),
                    fmt::format("send {} bytes to the device", bytes_)));
  // Other queues may wait for it.
  HET_TRY(cl_status(clFlush(queue), "flush a queue"));
  content_ = content;
  return memory_;
}

Result<Memory> DeviceCopy::make_room(const Context& context) {
  std::lock_guard lock(mutex_);
  HET_TRY(allocate(context));
  content_ = 0;
  return memory_;
}

void DeviceCopy::keep(uint64_t content) {
  std::lock_guard lock(mutex_);
  content_ = content;
  sent_.reset();
}

}  // namespace het::gpu
