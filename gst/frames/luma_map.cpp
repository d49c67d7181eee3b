#include "luma_map.h"

#include <utility>

#include "devices/register_devices.h"

namespace het::gst {

MappedLuma::MappedLuma(Image image, const Rect& visible, const std::byte* first, bool is_mapped)
    : image_(std::move(image)),
      visible_(visible),
      pixels_(reinterpret_cast<const uint8_t*>(first) + image_.planes[0].offset +
              visible.y * image_.planes[0].stride_bytes + visible.x),
      is_mapped_(is_mapped) {}

MappedLuma::MappedLuma(MappedLuma&& other) noexcept
    : image_(std::move(other.image_)),
      visible_(other.visible_),
      pixels_(other.pixels_),
      is_mapped_(std::exchange(other.is_mapped_, false)) {}

MappedLuma::~MappedLuma() {
  if (is_mapped_) image_.planes[0].buffer->unmap();
}

Result<Image> LumaMap::image_of(GstBuffer* buffer, const GstVideoInfo& info) {
  const std::optional<FrameSurface> surface = frame_surface(buffer);
  if (!surface) return map_frame(buffer, info);
  if (!access_ || va_display_ != surface->va_display) {
    GstObject* const display = GST_OBJECT(gst_object_ref(surface->display));
    HET_ASSIGN(access_,
               surface_access(surface->va_display, [display] { gst_object_unref(display); }));
    va_display_ = surface->va_display;
  }
  return map_surface(buffer, info, *surface, *access_);
}

Result<MappedLuma> LumaMap::map(GstBuffer* buffer, const GstVideoInfo& info) {
  HET_ASSIGN(Image image, image_of(buffer, info));
  const Rect visible = visible_part(buffer, image);
  if (visible.width <= 0 || visible.height <= 0) {
    return error(StatusCode::InvalidArgument,
                 "a frame of {}x{} has no visible pixel: its GstVideoCropMeta is outside of it",
                 image.width, image.height);
  }
  const ImagePlane& plane = image.planes[0];
  const std::byte* first = plane.buffer->host();
  const bool is_mapped = first == nullptr;
  if (is_mapped) {
    HET_ASSIGN(first, plane.buffer->map(MapAccess::Read));
  }
  const auto end =
      static_cast<uint64_t>(plane.stride_bytes) * static_cast<uint64_t>(image.height - 1) +
      static_cast<uint64_t>(image.width) + plane.offset;
  if (first == nullptr || plane.stride_bytes < image.width || end > plane.buffer->size_bytes()) {
    if (is_mapped && first != nullptr) plane.buffer->unmap();
    return error(StatusCode::InvalidArgument,
                 "the luma of a frame of {}x{} (offset {}, stride {}) does not fit into its memory "
                 "of {} bytes",
                 image.width, image.height, plane.offset, plane.stride_bytes,
                 plane.buffer->size_bytes());
  }
  return MappedLuma(std::move(image), visible, first, is_mapped);
}

}  // namespace het::gst
