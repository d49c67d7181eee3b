/// HetPicture of any memory as the core's Image, and the functions of HetDisplay.

#include <functional>
#include <utility>

#include "devices/register_devices.h"
#include "hetinference/arguments.h"
#include "hetinference/dma_buf_memory.h"
#include "hetinference/handles.h"
#include "hetinference/sized_struct.h"
#include "inference/preprocess/mapped_picture.h"

using namespace het;
using namespace het::c_interface;

namespace het::c_interface {
namespace {

/// Format, size and colours; no planes yet.
Result<Image> describe(const HetPicture& picture) {
  static_assert(static_cast<int>(PixelFormat::NV12) + 1 == HET_PIXEL_NV12);
  static_assert(static_cast<int>(PixelFormat::GRAY8) + 1 == HET_PIXEL_GRAY8);
  static_assert(static_cast<int>(PixelFormat::GBR) + 1 == HET_PIXEL_GBR);
  static_assert(static_cast<int>(ColorMatrix::BT2020) == HET_BT2020);
  if (picture.format < HET_PIXEL_NV12 || picture.format > HET_PIXEL_GBR) {
    return error(StatusCode::InvalidArgument, "picture format {} is none of HET_PIXEL_...",
                 picture.format);
  }
  if (picture.matrix < HET_BT601 || picture.matrix > HET_BT2020) {
    return error(StatusCode::InvalidArgument,
                 "picture matrix {} is none of HET_BT601, HET_BT709 and HET_BT2020",
                 picture.matrix);
  }
  Image image;
  image.format = static_cast<PixelFormat>(picture.format - 1);
  image.width = picture.width;
  image.height = picture.height;
  image.matrix = static_cast<ColorMatrix>(picture.matrix);
  image.range = picture.full_range ? ColorRange::Full : ColorRange::Video;
  image.plane_count = plane_count(image.format);
  return image;
}

Result<Image> host_image(Image image, const HetPicture& picture,
                         const std::shared_ptr<void>& last) {
  for (int i = 0; i < image.plane_count; ++i) {
    HET_TRY(not_null(picture.planes[i], "a plane of the picture"));
    // Pictures are only read.
    image.planes[static_cast<size_t>(i)] = {
        wrap_host_memory(const_cast<void*>(picture.planes[i]), picture.size_bytes[i], [last] {}), 0,
        picture.stride_bytes[i]};
  }
  return image;
}

Status check_no_planes(const HetPicture& picture, const char* memory) {
  for (const void* plane : picture.planes) {
    if (plane) return error(StatusCode::InvalidArgument, "planes of a {} must be null", memory);
  }
  return {};
}

Result<Image> surface_image(const Image& image, const HetPicture& picture,
                            const std::shared_ptr<void>& last) {
  HET_TRY(not_null(picture.display, "the display of the picture"));
  HET_TRY(check_no_planes(picture, "surface"));
  for (size_t i = 0; i < std::size(picture.planes); ++i) {
    if (picture.stride_bytes[i] != 0 || picture.size_bytes[i] != 0) {
      return error(StatusCode::InvalidArgument,
                   "stride_bytes and size_bytes of a surface must be zero: its driver knows them");
    }
  }
  return picture.display->access->wrap(
      {picture.surface, image.format, image.width, image.height, image.matrix, image.range},
      [last] {});
}

Result<Image> dma_buf_image(Image image, const HetPicture& picture,
                            const std::shared_ptr<void>& last) {
  HET_TRY(check_no_planes(picture, "DMA-BUF"));
  if (picture.drm_modifier != 0) {
    return error(StatusCode::NotSupported,
                 "the DMA-BUF is not linear (DRM modifier {:#x}); give its VA surface instead",
                 picture.drm_modifier);
  }
  for (int i = 0; i < image.plane_count; ++i) {
    ImagePlane& plane = image.planes[static_cast<size_t>(i)];
    // Planes in one DMA-BUF share it, so that it is mapped or imported once.
    if (i > 0 && picture.fds[i] == picture.fds[i - 1] &&
        picture.size_bytes[i] == picture.size_bytes[i - 1]) {
      plane.buffer = image.planes[static_cast<size_t>(i) - 1].buffer;
    } else {
      HET_ASSIGN(plane.buffer, wrap_dma_buf(picture.fds[i], picture.size_bytes[i], [last] {}));
    }
    plane.offset = picture.offset_bytes[i];
    plane.stride_bytes = picture.stride_bytes[i];
  }
  // Refused here and not only by the execution.
  HET_TRY(preprocess_internal::check_planes_fit(image));
  return image;
}

}  // namespace

Result<Image> to_image(const HetPicture& picture, const std::shared_ptr<bool>& kept) {
  HET_ASSIGN(Image image, describe(picture));
  // One callback for all planes: it runs when the last of their buffers is let go of.
  const std::shared_ptr<void> last(
      nullptr, [release = release_of(picture.release, picture.user, kept)](void*) {
        if (release) release();
      });
  switch (picture.memory) {
    case HET_MEMORY_HOST: {
      HET_ASSIGN(image, host_image(std::move(image), picture, last));
      break;
    }
    case HET_MEMORY_SURFACE:
      return surface_image(image, picture, last);
    case HET_MEMORY_DMA_BUF: {
      HET_ASSIGN(image, dma_buf_image(std::move(image), picture, last));
      break;
    }
    default:
      return error(StatusCode::InvalidArgument, "picture memory {} is none of HET_MEMORY_...",
                   picture.memory);
  }
  HET_TRY(validate(image));
  return image;
}

}  // namespace het::c_interface

HetStatus het_display_open(void* va_display, HetRelease release, void* user, HetDisplay** display) {
  if (display) *display = nullptr;
  return call("het_display_open", [&]() -> Status {
    HET_TRY(not_null(va_display, "va_display"));
    HET_TRY(not_null(display, "display"));
    const auto kept = std::make_shared<bool>(false);
    HET_ASSIGN(auto access, surface_access(va_display, release_of(release, user, kept)));
    *display = new HetDisplay{std::move(access)};
    *kept = true;
    return {};
  });
}

HetStatus het_display_counts(const HetDisplay* display, HetSurfaceCounts* counts) {
  return call("het_display_counts", [&]() -> Status {
    HET_TRY(not_null(display, "display"));
    HET_TRY(check_size(counts, "counts"));
    const SurfaceCounts& from = display->access->counts();
    HetSurfaceCounts result{};
    result.mapped = from.mapped;
    result.copied = from.copied;
    result.imported = from.imported;
    write_struct(result, counts);
    return {};
  });
}

void het_display_release(HetDisplay* display) {
  delete display;
}
