#include "devices/va/surface_buffer.h"

#include <algorithm>
#include <cstring>

namespace het::va {

VaSurfaceBuffer::VaSurfaceBuffer(std::shared_ptr<SurfaceImages> images,
                                 const SurfacePicture& picture, const ImageLayout& layout,
                                 std::function<void()> release)
    : SurfaceBuffer(MemoryKind::VaSurface, layout.size_bytes, nullptr,
                    VaSurfaceHandle{images->display()->get(), picture.surface}),
      images_(std::move(images)),
      picture_(picture),
      layout_(layout),
      release_(std::move(release)) {}

VaSurfaceBuffer::~VaSurfaceBuffer() {
  // Nobody looked at it; what it is made of must not change before it is written.
  if (source_.plane_count > 0) (void)wait();
  if (image_ != nullptr) {
    image_->unmap();
    if (is_copy_) {
      images_->recycle(picture_.format, picture_.width, picture_.height, std::move(image_));
    }
  }
  image_.reset();
  if (release_) release_();
}

/// Called with the lock, but by the destructor.
Status VaSurfaceBuffer::wait() {
  Status status = images_->display()->sync(picture_.surface);
  source_ = Image();
  return status;
}

Status VaSurfaceBuffer::begin_import() {
  std::lock_guard lock(mutex_);
  HET_TRY(wait());
  ++images_->display()->counts().imported;
  return {};
}

Result<std::byte*> VaSurfaceBuffer::map(MapAccess access) {
  if (access != MapAccess::Read) {
    return error(StatusCode::NotSupported, "VA surfaces are mapped for reading only");
  }
  std::lock_guard lock(mutex_);
  if (image_ == nullptr) HET_TRY(open());
  ++users_;
  return address_;
}

Status VaSurfaceBuffer::open() {
  HET_TRY(wait());
  const auto& [surface, format, width, height, matrix, range] = picture_;
  ImagePtr image;
  if (layout_.is_derived) {
    Result<ImagePtr> derived = images_->derive(surface, format, width, height);
    if (derived) image = std::move(*derived);
  }
  const bool is_copy = image == nullptr;
  if (is_copy) {
    HET_ASSIGN(image, images_->fetch(surface, format, width, height));
  }
  HET_ASSIGN(std::byte* const address, image->map());
  const auto laid_out = with_layout(image->get(), address);
  if (!laid_out) {
    image->unmap();
    return laid_out.error();
  }
  ++(is_copy ? images_->display()->counts().copied : images_->display()->counts().mapped);
  address_ = *laid_out;
  is_copy_ = is_copy;
  image_ = std::move(image);
  return {};
}

/// Surfaces of one size may come from several owners; the picture has the layout of the first one.
Result<std::byte*> VaSurfaceBuffer::with_layout(const VAImage& image, std::byte* address) {
  const ImageLayout actual = layout_of(image, layout_.is_derived);
  if (actual.offset == layout_.offset && actual.stride_bytes == layout_.stride_bytes &&
      actual.size_bytes >= layout_.size_bytes) {
    return address;
  }
  repacked_ = std::make_unique<std::byte[]>(layout_.size_bytes);
  for (int p = 0; p < plane_count(picture_.format); ++p) {
    const auto i = static_cast<size_t>(p);
    const auto bytes = static_cast<size_t>(plane_row_bytes(picture_.format, p, picture_.width));
    for (int y = 0; y < plane_rows(picture_.format, p, picture_.height); ++y) {
      const size_t from = actual.offset[i] + static_cast<size_t>(y * actual.stride_bytes[i]);
      const size_t to = layout_.offset[i] + static_cast<size_t>(y * layout_.stride_bytes[i]);
      if (from + bytes > actual.size_bytes || to + bytes > layout_.size_bytes) {
        return error(StatusCode::Internal, "the image of VA surface {} is too small for {}x{} {}",
                     picture_.surface, picture_.width, picture_.height, to_string(picture_.format));
      }
      std::memcpy(repacked_.get() + to, address + from, bytes);
    }
  }
  ++images_->display()->counts().copied;
  return repacked_.get();
}

void VaSurfaceBuffer::unmap() {
  std::lock_guard lock(mutex_);
  if (--users_ > 0 || is_copy_) return;
  image_->unmap();
  image_.reset();
  repacked_.reset();
  address_ = nullptr;
}

}  // namespace het::va
