#pragma once

#include <array>
#include <cstdint>

#include "inference/tensors/image.h"

namespace het::preprocess_internal {

/// Checks that every plane, whatever its kind, lies in the bytes that its buffer says it has:
/// validate() trusts the owner of memory that is not host memory.
Status check_planes_fit(const Image& image);

/// Host addresses of an image's planes while this object lives. Memory that is not host-addressable
/// is mapped for reading, each buffer once, and unmapped by the destructor. The image must outlive
/// it. Thread-bound.
class MappedPicture {
 public:
  MappedPicture() = default;
  MappedPicture(const MappedPicture&) = delete;
  MappedPicture& operator=(const MappedPicture&) = delete;
  ~MappedPicture();

  /// Call once. Fails when the image is malformed, a buffer cannot be mapped or a plane leaves it.
  Status open(const Image& image);

  const uint8_t* plane(int index) const { return planes_[static_cast<size_t>(index)]; }

 private:
  Result<const std::byte*> address_of(Buffer& buffer);

  struct Mapping {
    Buffer* buffer = nullptr;
    const std::byte* address = nullptr;
  };
  std::array<Mapping, kMaxImagePlanes> mappings_{};
  size_t mapping_count_ = 0;
  std::array<const uint8_t*, kMaxImagePlanes> planes_{};
};

}  // namespace het::preprocess_internal
