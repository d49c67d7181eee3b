#include "devices/va/surface_image.h"

#include <algorithm>

namespace het::va {
namespace {

/// Images for the pictures that are in flight; more are given back to the driver.
constexpr size_t kMostIdle = 32;

}  // namespace

Result<std::byte*> ImageHandle::map() const {
  void* address = nullptr;
  HET_TRY(va_status(vaMapBuffer(display_->get(), image_.buf, &address),
                    fmt::format("map an image of {}x{} pixels", image_.width, image_.height)));
  if (address == nullptr) {
    return error(StatusCode::Internal, "the VA driver mapped an image to no address");
  }
  return static_cast<std::byte*>(address);
}

ImageLayout layout_of(const VAImage& image, bool is_derived) {
  ImageLayout layout;
  layout.is_derived = is_derived;
  layout.size_bytes = image.data_size;
  for (size_t p = 0; p < std::min<size_t>(image.num_planes, std::size(image.offsets)); ++p) {
    layout.offset[p] = image.offsets[p];
    layout.stride_bytes[p] = image.pitches[p];
  }
  return layout;
}

Result<ImageLayout> SurfaceImages::layout(VASurfaceID surface, PixelFormat format, int width,
                                          int height) {
  const Kind kind{format, width, height};
  {
    std::lock_guard lock(mutex_);
    const auto known = layouts_.find(kind);
    if (known != layouts_.end()) return known->second;
  }
  ImageLayout layout;
  if (const Result<ImagePtr> derived = derive(surface, format, width, height)) {
    layout = layout_of((*derived)->get(), true);
  } else {
    HET_ASSIGN(ImagePtr image, create(format, width, height));
    layout = layout_of(image->get(), false);
    recycle(format, width, height, std::move(image));
  }
  std::lock_guard lock(mutex_);
  return layouts_.emplace(kind, layout).first->second;
}

Result<ImagePtr> SurfaceImages::derive(VASurfaceID surface, PixelFormat format, int width,
                                       int height) {
  VAImage image{};
  HET_TRY(va_status(vaDeriveImage(display_->get(), surface, &image),
                    fmt::format("show surface {} as an image", surface)));
  auto handle = std::make_unique<ImageHandle>(display_, image);
  if (image.format.fourcc != fourcc_of(format) || image.width < width || image.height < height ||
      image.num_planes != static_cast<uint32_t>(plane_count(format))) {
    return error(StatusCode::NotSupported,
                 "surface {} is an image of {}x{} pixels and format {:#x}, not of {}x{} {}",
                 surface, image.width, image.height, image.format.fourcc, width, height,
                 to_string(format));
  }
  return handle;
}

Result<ImagePtr> SurfaceImages::create(PixelFormat format, int width, int height) {
  std::optional<VAImageFormat> wanted = display_->image_format(format);
  if (!wanted) {
    return error(StatusCode::NotSupported, "the VA driver has no images of format {}",
                 to_string(format));
  }
  VAImage image{};
  HET_TRY(va_status(vaCreateImage(display_->get(), &*wanted, width, height, &image),
                    fmt::format("make an image of {}x{} {}", width, height, to_string(format))));
  return std::make_unique<ImageHandle>(display_, image);
}

Result<ImagePtr> SurfaceImages::fetch(VASurfaceID surface, PixelFormat format, int width,
                                      int height) {
  ImagePtr image;
  {
    std::lock_guard lock(mutex_);
    std::vector<ImagePtr>& idle = idle_[{format, width, height}];
    if (!idle.empty()) {
      image = std::move(idle.back());
      idle.pop_back();
    }
  }
  if (image == nullptr) {
    HET_ASSIGN(image, create(format, width, height));
  }
  HET_TRY(va_status(vaGetImage(display_->get(), surface, 0, 0, static_cast<unsigned>(width),
                               static_cast<unsigned>(height), image->get().image_id),
                    fmt::format("copy surface {} to an image", surface)));
  return image;
}

void SurfaceImages::recycle(PixelFormat format, int width, int height, ImagePtr image) {
  std::lock_guard lock(mutex_);
  std::vector<ImagePtr>& idle = idle_[{format, width, height}];
  if (idle.size() < kMostIdle) idle.push_back(std::move(image));
}

}  // namespace het::va
