#pragma once

#include <va/va.h>

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "devices/va/va_display.h"
#include "inference/base/status.h"
#include "inference/tensors/image.h"

namespace het::va {

/// Where the planes lie in the image of a surface.
struct ImageLayout {
  bool is_derived = false;  ///< the image is the surface itself; else a copy of it
  size_t size_bytes = 0;
  std::array<size_t, kMaxImagePlanes> offset{};
  std::array<int64_t, kMaxImagePlanes> stride_bytes{};
};

/// A VAImage that belongs to whoever holds it.
class ImageHandle {
 public:
  ImageHandle(std::shared_ptr<Display> display, const VAImage& image)
      : display_(std::move(display)), image_(image) {}
  ~ImageHandle() { vaDestroyImage(display_->get(), image_.image_id); }
  ImageHandle(const ImageHandle&) = delete;
  ImageHandle& operator=(const ImageHandle&) = delete;

  const VAImage& get() const { return image_; }
  Result<std::byte*> map() const;
  void unmap() const { vaUnmapBuffer(display_->get(), image_.buf); }

 private:
  std::shared_ptr<Display> display_;
  VAImage image_;
};
using ImagePtr = std::unique_ptr<ImageHandle>;

/// Images of a display's surfaces: what layout they have, and how one gets at them. Thread-safe.
class SurfaceImages {
 public:
  explicit SurfaceImages(std::shared_ptr<Display> display) : display_(std::move(display)) {}

  const std::shared_ptr<Display>& display() const { return display_; }
  /// The layout that all surfaces of this format and size are expected to have, as the first one
  /// showed it. Fails where the driver has no images of this format.
  Result<ImageLayout> layout(VASurfaceID surface, PixelFormat format, int width, int height);
  /// The surface itself as an image. Fails where the driver does not give it in this format and
  /// size.
  Result<ImagePtr> derive(VASurfaceID surface, PixelFormat format, int width, int height);
  /// A copy of the surface, whose image comes from recycle() where there is one.
  Result<ImagePtr> fetch(VASurfaceID surface, PixelFormat format, int width, int height);
  /// Takes an image of fetch() back for the next one.
  void recycle(PixelFormat format, int width, int height, ImagePtr image);

 private:
  using Kind = std::tuple<PixelFormat, int, int>;
  Result<ImagePtr> create(PixelFormat format, int width, int height);

  std::shared_ptr<Display> display_;
  std::mutex mutex_;  ///< protects the two below; taken alone
  std::map<Kind, ImageLayout> layouts_;
  std::map<Kind, std::vector<ImagePtr>> idle_;
};

/// Where the planes of this image lie.
ImageLayout layout_of(const VAImage& image, bool is_derived);

}  // namespace het::va
