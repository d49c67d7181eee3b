#include "devices/gpu/memory/sub_buffers.h"

#include <fmt/format.h>

#include <algorithm>

namespace het::gpu {

Result<Memory> SubBuffers::make(size_t offset, size_t bytes) {
  const cl_buffer_region region{offset, std::max<size_t>(bytes, 4)};
  cl_int code = CL_SUCCESS;
  const std::lock_guard lock(mutex_);
  BufferHandle made(
      clCreateSubBuffer(whole_->get(), 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
  HET_TRY(cl_status(code, fmt::format("use {} bytes from {} on of a buffer", bytes, offset)));
  Part& part = parts_.emplace_back(Part{std::move(made)});
  return Memory(&part.handle,
                [self = shared_from_this(), &part](const BufferHandle*) { self->let_go(part); });
}

void SubBuffers::let_go(Part& part) {
  const std::lock_guard lock(mutex_);
  part.used = false;
  while (!parts_.empty() && !parts_.back().used) parts_.pop_back();
}

}  // namespace het::gpu
