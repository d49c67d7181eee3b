#include "inference/preprocess/scratch.h"

#include <cassert>

namespace het::preprocess_internal {

Status Scratch::reset(size_t size_bytes) {
  used_ = 0;
  const size_t wanted = padded(size_bytes);
  if (wanted <= size_) return {};
  size_ = 0;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, wanted)));
  if (memory_ == nullptr) {
    return error(StatusCode::OutOfMemory, "cannot allocate {} bytes to convert a picture", wanted);
  }
  size_ = wanted;
  return {};
}

std::byte* Scratch::take_bytes(size_t size_bytes) {
  std::byte* const piece = memory_.get() + used_;
  used_ += padded(size_bytes);
  assert(used_ <= size_);
  return piece;
}

}  // namespace het::preprocess_internal
