#pragma once

#include <span>
#include <string>

#include "inference/base/status.h"
#include "inference/tensors/buffer.h"

namespace het::cpu {

/// The content of a file, mapped read-only: all processes that map it see the same pages. It begins
/// at a multiple of a huge page, as which the system then may map it. The memory must not be
/// written. Fails with NotFound when there is no such file, with InvalidArgument when it is not a
/// regular one or cannot be mapped.
Result<BufferPtr> map_model_file(const std::string& path);

/// Gives pages of a mapped file back; they are read again when somebody looks at them.
void release_mapped_pages(std::span<const std::byte> part);

}  // namespace het::cpu
