#pragma once

#include <cstdint>
#include <functional>

#include "inference/tensors/buffer.h"

namespace het::c_interface {

/// An application's DMA-BUF, mapped for reading when somebody asks for its bytes; devices import it
/// by its handle. Fails with InvalidArgument when it has less than `size_bytes`. `release` runs
/// with the last user; the descriptor stays the application's.
Result<BufferPtr> wrap_dma_buf(int fd, uint64_t size_bytes, std::function<void()> release);

}  // namespace het::c_interface
