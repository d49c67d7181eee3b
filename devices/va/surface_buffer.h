#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "devices/va/surface_image.h"
#include "inference/tensors/surface_access.h"

namespace het::va {

/// A surface as memory of a picture. Any number of users may have it mapped at the same time. A
/// surface that cannot be mapped is copied once and the copy is kept, so that every user after the
/// first one finds it.
class VaSurfaceBuffer final : public SurfaceBuffer {
 public:
  /// `release` runs when the surface is needed no more.
  VaSurfaceBuffer(std::shared_ptr<SurfaceImages> images, const SurfacePicture& picture,
                  const ImageLayout& layout, std::function<void()> release);
  ~VaSurfaceBuffer() override;

  /// Keeps what is being read to write this surface until that has ended.
  void keep_source(Image source) { source_ = std::move(source); }

  Result<std::byte*> map(MapAccess access) override;
  void unmap() override;
  Status begin_import() override;
  const SurfacePicture& picture() const { return picture_; }

 private:
  Status wait();
  Status open();
  Result<std::byte*> with_layout(const VAImage& image, std::byte* address);

  std::shared_ptr<SurfaceImages> images_;
  const SurfacePicture picture_;
  const ImageLayout layout_;
  std::function<void()> release_;
  std::mutex mutex_;  ///< protects everything below; the lock of `images_` is taken inside
  Image source_;
  ImagePtr image_;        ///< while it is mapped
  bool is_copy_ = false;  ///< image_ stays, it is no part of the surface
  std::byte* address_ = nullptr;
  std::unique_ptr<std::byte[]> repacked_;
  size_t users_ = 0;
};

}  // namespace het::va
