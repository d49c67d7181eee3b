#include "devices/va/exported_surface.h"

#include <unistd.h>
#include <va/va_drmcommon.h>

#include <utility>
#include <variant>

namespace het::va {
namespace {

/// A DMA-BUF and the surface that it is.
class ExportedBuffer final : public Buffer {
 public:
  ExportedBuffer(int fd, size_t bytes, uint64_t modifier, BufferPtr surface)
      : Buffer(MemoryKind::DmaBuf, bytes, nullptr, DmaBufHandle{{fd}, modifier}),
        fd_(fd),
        surface_(std::move(surface)) {}
  ~ExportedBuffer() override { ::close(fd_); }

 private:
  const int fd_;
  const BufferPtr surface_;
};

}  // namespace

Result<Image> export_surface(const std::shared_ptr<Display>& display, const Image& surface) {
  const auto* const handle = std::get_if<VaSurfaceHandle>(&surface.planes[0].buffer->handle());
  if (handle == nullptr) return error(StatusCode::InvalidArgument, "the picture is no surface");
  VADRMPRIMESurfaceDescriptor exported{};
  HET_TRY(va_status(vaExportSurfaceHandle(
                        display->get(), handle->surface, VA_SURFACE_ATTRIB_MEM_TYPE_DRM_PRIME_2,
                        VA_EXPORT_SURFACE_READ_ONLY | VA_EXPORT_SURFACE_SEPARATE_LAYERS, &exported),
                    "export a surface"));
  for (uint32_t i = 1; i < exported.num_objects; ++i) ::close(exported.objects[i].fd);
  if (exported.num_objects == 0) {
    return error(StatusCode::NotSupported, "the VA driver exports a surface as no object");
  }
  const auto buffer = std::make_shared<ExportedBuffer>(
      exported.objects[0].fd, exported.objects[0].size, exported.objects[0].drm_format_modifier,
      surface.planes[0].buffer);
  if (exported.num_objects != 1 ||
      exported.num_layers != static_cast<uint32_t>(surface.plane_count)) {
    return error(StatusCode::NotSupported,
                 "the VA driver exports a surface as {} objects and {} layers, not as 1 and {}",
                 exported.num_objects, exported.num_layers, surface.plane_count);
  }
  Image image = surface;
  for (size_t p = 0; p < static_cast<size_t>(surface.plane_count); ++p) {
    image.planes[p] = {buffer, exported.layers[p].offset[0], exported.layers[p].pitch[0]};
  }
  return image;
}

}  // namespace het::va
