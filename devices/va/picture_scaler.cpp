#include "devices/va/picture_scaler.h"

#include <va/va_vpp.h>

#include <algorithm>

#include "devices/va/surface_buffer.h"

namespace het::va {
namespace {

/// Drivers want a size for a context; pictures may have another one.
constexpr int kContextSide = 1920;

VAProcColorStandardType standard_of(const Image& image) {
  if (image.format != PixelFormat::NV12 && image.format != PixelFormat::P010 &&
      image.format != PixelFormat::I420 && image.format != PixelFormat::YUY2 &&
      image.format != PixelFormat::UYVY) {
    return VAProcColorStandardSRGB;
  }
  switch (image.matrix) {
    case ColorMatrix::BT601:
      return VAProcColorStandardBT601;
    case ColorMatrix::BT709:
      return VAProcColorStandardBT709;
    case ColorMatrix::BT2020:
      break;
  }
  return VAProcColorStandardBT2020;
}

/// Whether the video processor writes surfaces of this format.
Status check_target_format(VADisplay display, VAConfigID config, uint32_t fourcc) {
  unsigned count = 0;
  HET_TRY(va_status(vaQuerySurfaceAttributes(display, config, nullptr, &count),
                    "say what the video processor writes"));
  std::vector<VASurfaceAttrib> attributes(count);
  HET_TRY(va_status(vaQuerySurfaceAttributes(display, config, attributes.data(), &count),
                    "say what the video processor writes"));
  attributes.resize(std::min<size_t>(count, attributes.size()));
  const bool is_known = std::any_of(attributes.begin(), attributes.end(), [&](const auto& a) {
    return a.type == VASurfaceAttribPixelFormat && static_cast<uint32_t>(a.value.value.i) == fourcc;
  });
  if (is_known) return {};
  return error(StatusCode::NotSupported, "the VA driver's video processor writes no RGBP surfaces");
}

VARectangle rectangle(const Rect& rect) {
  return {static_cast<int16_t>(rect.x), static_cast<int16_t>(rect.y),
          static_cast<uint16_t>(rect.width), static_cast<uint16_t>(rect.height)};
}

}  // namespace

SurfacePool::~SurfacePool() {
  for (auto& [size, surfaces] : idle_) {
    vaDestroySurfaces(display_->get(), surfaces.data(), static_cast<int>(surfaces.size()));
  }
}

Result<VASurfaceID> SurfacePool::take(int width, int height) {
  {
    std::lock_guard lock(mutex_);
    std::vector<VASurfaceID>& idle = idle_[{width, height}];
    if (!idle.empty()) {
      const VASurfaceID surface = idle.back();
      idle.pop_back();
      return surface;
    }
  }
  VASurfaceAttrib format{};
  format.type = VASurfaceAttribPixelFormat;
  format.flags = VA_SURFACE_ATTRIB_SETTABLE;
  format.value.type = VAGenericValueTypeInteger;
  format.value.value.i = static_cast<int>(VA_FOURCC_RGBP);
  VASurfaceID surface = VA_INVALID_SURFACE;
  HET_TRY(
      va_status(vaCreateSurfaces(display_->get(), VA_RT_FORMAT_RGBP, static_cast<unsigned>(width),
                                 static_cast<unsigned>(height), &surface, 1, &format, 1),
                fmt::format("make a RGBP surface of {}x{} pixels", width, height)));
  return surface;
}

void SurfacePool::give_back(int width, int height, VASurfaceID surface) {
  std::lock_guard lock(mutex_);
  idle_[{width, height}].push_back(surface);
}

Result<std::unique_ptr<PictureScaler>> PictureScaler::create(
    std::shared_ptr<SurfaceImages> images) {
  const VADisplay display = images->display()->get();
  VAConfigID config = VA_INVALID_ID;
  HET_TRY(
      va_status(vaCreateConfig(display, VAProfileNone, VAEntrypointVideoProc, nullptr, 0, &config),
                "open its video processor"));
  std::unique_ptr<PictureScaler> scaler(
      new PictureScaler(std::move(images), config, VA_INVALID_ID));
  HET_TRY(check_target_format(display, config, VA_FOURCC_RGBP));
  HET_TRY(va_status(vaCreateContext(display, config, kContextSide, kContextSide, 0, nullptr, 0,
                                    &scaler->context_),
                    "make a context of its video processor"));
  return scaler;
}

PictureScaler::PictureScaler(std::shared_ptr<SurfaceImages> images, VAConfigID config,
                             VAContextID context)
    : images_(std::move(images)),
      pool_(std::make_shared<SurfacePool>(images_->display())),
      config_(config),
      context_(context) {}

PictureScaler::~PictureScaler() {
  const VADisplay display = images_->display()->get();
  if (context_ != VA_INVALID_ID) vaDestroyContext(display, context_);
  vaDestroyConfig(display, config_);
}

Result<Image> PictureScaler::scale(const Image& image, const Rect& part, int width, int height,
                                   ScaleQuality quality) {
  HET_ASSIGN(const VASurfaceID target, pool_->take(width, height));
  const auto give_back = [pool = pool_, width, height, target] {
    pool->give_back(width, height, target);
  };
  Status status = run(image, part, target, width, height, quality);
  auto layout = images_->layout(target, PixelFormat::RGBP, width, height);
  if (status.ok() && !layout) status = layout.error();
  if (!status.ok()) {
    give_back();
    return Failure(
        status.with_context(fmt::format("cannot scale {}x{} pixels at ({}, {}) of a {}x{} {} "
                                        "surface to {}x{}",
                                        part.width, part.height, part.x, part.y, image.width,
                                        image.height, to_string(image.format), width, height)));
  }
  ++images_->display()->counts().scaled;
  Image scaled;
  scaled.format = PixelFormat::RGBP;
  scaled.width = width;
  scaled.height = height;
  scaled.range = ColorRange::Full;
  scaled.plane_count = plane_count(PixelFormat::RGBP);
  const auto buffer = std::make_shared<VaSurfaceBuffer>(
      images_, SurfacePicture{target, PixelFormat::RGBP, width, height}, *layout, give_back);
  buffer->keep_source(image);
  for (size_t p = 0; p < static_cast<size_t>(scaled.plane_count); ++p) {
    scaled.planes[p] = {buffer, layout->offset[p], layout->stride_bytes[p]};
  }
  return scaled;
}

Status PictureScaler::run(const Image& image, const Rect& part, VASurfaceID target, int width,
                          int height, ScaleQuality quality) {
  const VADisplay display = images_->display()->get();
  const auto* source = std::get_if<VaSurfaceHandle>(&image.planes[0].buffer->handle());
  if (source == nullptr || source->display != display) {
    return error(StatusCode::InvalidArgument, "the picture is no surface of this VADisplay");
  }
  const VARectangle from = rectangle(part);
  const VARectangle to = rectangle({0, 0, width, height});
  VAProcPipelineParameterBuffer parameters{};
  parameters.surface = source->surface;
  parameters.surface_region = &from;
  parameters.surface_color_standard = standard_of(image);
  parameters.input_color_properties.color_range =
      image.range == ColorRange::Full ? VA_SOURCE_RANGE_FULL : VA_SOURCE_RANGE_REDUCED;
  parameters.output_region = &to;
  parameters.output_color_standard = VAProcColorStandardSRGB;
  parameters.output_color_properties.color_range = VA_SOURCE_RANGE_FULL;
  parameters.filter_flags = VA_FRAME_PICTURE;
  if (quality == ScaleQuality::Fast) parameters.filter_flags |= VA_FILTER_SCALING_FAST;

  std::lock_guard lock(mutex_);
  VABufferID buffer = VA_INVALID_ID;
  HET_TRY(va_status(vaCreateBuffer(display, context_, VAProcPipelineParameterBufferType,
                                   sizeof parameters, 1, &parameters, &buffer),
                    "take the parameters of its video processor"));
  Status status = va_status(vaBeginPicture(display, context_, target), "begin a picture");
  if (status.ok()) {
    status = va_status(vaRenderPicture(display, context_, &buffer, 1), "process a picture");
    // A picture that was begun is ended.
    const Status ended = va_status(vaEndPicture(display, context_), "end a picture");
    if (status.ok()) status = ended;
  }
  vaDestroyBuffer(display, buffer);
  return status;
}

}  // namespace het::va
