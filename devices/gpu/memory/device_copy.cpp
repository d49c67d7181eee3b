#include "devices/gpu/memory/device_copy.h"

namespace het::gpu {
namespace {

bool is_same(const DeviceCopy::Source& a, const DeviceCopy::Source& b) {
  return a.number == b.number && a.key == b.key && a.size == b.size;
}

}  // namespace

std::shared_ptr<DeviceCopy> DeviceCopy::of(const Context& context, const NumberedBuffer& buffer) {
  if (buffer.content().number() == 0) return nullptr;
  return buffer.content().copy_on<DeviceCopy>(context.get(), [&context] {
    clRetainContext(context.get());
    return std::shared_ptr<DeviceCopy>(new DeviceCopy(ContextHandle(context.get())));
  });
}

/// Commands that use smaller memory keep it.
Status DeviceCopy::allocate(const Context& context, size_t bytes) {
  if (memory_ != nullptr && bytes <= capacity_) return {};
  kept_ = {};
  HET_ASSIGN(memory_, context.allocate(bytes));
  capacity_ = bytes;
  return {};
}

Result<Memory> DeviceCopy::send(Context& context, cl_command_queue queue, const Source& source) {
  std::lock_guard lock(mutex_);
  HET_TRY(allocate(context, source.size));
  if (is_same(kept_, source)) {
    if (!sent_) return memory_;
    const cl_event sent = sent_.get();
    HET_TRY(cl_status(clEnqueueBarrierWithWaitList(queue, 1, &sent, nullptr),
                      "wait for a tensor that another queue sends"));
    return memory_;
  }
  if (!source.is_on_host) {
    return error(StatusCode::Internal,
                 "a tensor of {} bytes was left on the device that made it, and another memory of "
                 "it was asked for it",
                 source.size);
  }
  kept_ = {};
  context.count_copy();
  HET_TRY(cl_status(clEnqueueWriteBuffer(queue, memory_->get(), CL_FALSE, 0, source.size,
                                         source.bytes, 0, nullptr, sent_.out()),
                    fmt::format("send {} bytes to the device", source.size)));
  // Other queues may wait for it.
  HET_TRY(cl_status(clFlush(queue), "flush a queue"));
  kept_ = source;
  return memory_;
}

Result<Memory> DeviceCopy::make_room(const Context& context, size_t bytes) {
  std::lock_guard lock(mutex_);
  HET_TRY(allocate(context, bytes));
  kept_ = {};
  return memory_;
}

void DeviceCopy::keep(const Source& made) {
  std::lock_guard lock(mutex_);
  kept_ = made;
  sent_.reset();
}

}  // namespace het::gpu
