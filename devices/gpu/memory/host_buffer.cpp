#include "devices/gpu/memory/host_buffer.h"

#include <cstdlib>

namespace het::gpu {
namespace {

/// Drivers share memory without a copy from this alignment on.
constexpr size_t kPageBytes = 4096;

}  // namespace

Result<BufferPtr> HostBuffer::create(std::shared_ptr<Context> context, size_t bytes) {
  const size_t padded = std::max((bytes + kPageBytes - 1) / kPageBytes * kPageBytes, kPageBytes);
  if (context->hardware().unified_memory) {
    void* const address = std::aligned_alloc(kPageBytes, padded);
    if (address == nullptr) {
      return error(StatusCode::OutOfMemory, "cannot allocate {} bytes of host memory", padded);
    }
    BufferPtr own = wrap_host_memory(address, padded, [address] { std::free(address); });
    HET_ASSIGN(Memory memory, context->share(address, padded));
    std::shared_ptr<HostBuffer> made(
        new HostBuffer(std::move(context), bytes, static_cast<std::byte*>(address)));
    made->own_ = std::move(own);
    made->memory_ = std::move(memory);
    return BufferPtr(std::move(made));
  }
  HET_ASSIGN(Memory pinned, context->allocate(padded, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR));
  HET_ASSIGN(QueueHandle queue, context->create_queue(false));
  cl_int code = CL_SUCCESS;
  void* const address =
      clEnqueueMapBuffer(queue.get(), pinned->get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, padded,
                         0, nullptr, nullptr, &code);
  HET_TRY(cl_status(code, fmt::format("map {} bytes of pinned memory", padded)));
  std::shared_ptr<HostBuffer> made(
      new HostBuffer(std::move(context), bytes, static_cast<std::byte*>(address)));
  made->pinned_ = std::move(pinned);
  made->map_queue_ = std::move(queue);
  return BufferPtr(std::move(made));
}

HostBuffer::~HostBuffer() {
  if (pinned_ == nullptr) return;
  clEnqueueUnmapMemObject(map_queue_.get(), pinned_->get(), host(), 0, nullptr, nullptr);
  clFinish(map_queue_.get());
}

}  // namespace het::gpu
