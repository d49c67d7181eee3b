#include "devices/va/surface_access.h"

#include <mutex>
#include <optional>
#include <utility>

#include "devices/va/picture_scaler.h"
#include "devices/va/surface_buffer.h"

namespace het::va {
namespace {

class VaSurfaceAccess final : public SurfaceAccess {
 public:
  explicit VaSurfaceAccess(std::shared_ptr<Display> display)
      : images_(std::make_shared<SurfaceImages>(std::move(display))) {}

  Result<Image> wrap(const SurfacePicture& picture, std::function<void()> release) override;
  Status can_scale() override;
  Result<Image> scale(const Image& image, const Rect& part, int width, int height,
                      ScaleQuality quality) override;
  const SurfaceCounts& counts() const override { return images_->display()->counts(); }

 private:
  std::shared_ptr<SurfaceImages> images_;
  std::once_flag scaler_made_;
  Status cannot_scale_;
  std::unique_ptr<PictureScaler> scaler_;
};

Result<Image> VaSurfaceAccess::wrap(const SurfacePicture& picture, std::function<void()> release) {
  const auto layout =
      images_->layout(picture.surface, picture.format, picture.width, picture.height);
  if (!layout) {
    return Failure(layout.error().with_context(
        fmt::format("cannot read VA surface {} as a {}x{} {} picture", picture.surface,
                    picture.width, picture.height, to_string(picture.format))));
  }
  Image image;
  image.format = picture.format;
  image.width = picture.width;
  image.height = picture.height;
  image.matrix = picture.matrix;
  image.range = picture.range;
  image.plane_count = plane_count(picture.format);
  const auto buffer =
      std::make_shared<VaSurfaceBuffer>(images_, picture, *layout, std::move(release));
  for (size_t p = 0; p < static_cast<size_t>(image.plane_count); ++p) {
    image.planes[p] = {buffer, layout->offset[p], layout->stride_bytes[p]};
  }
  return image;
}

Status VaSurfaceAccess::can_scale() {
  std::call_once(scaler_made_, [this] {
    auto scaler = PictureScaler::create(images_);
    if (scaler) {
      scaler_ = std::move(*scaler);
    } else {
      cannot_scale_ = scaler.error();
    }
  });
  return cannot_scale_;
}

Result<Image> VaSurfaceAccess::scale(const Image& image, const Rect& part, int width, int height,
                                     ScaleQuality quality) {
  HET_TRY(can_scale());
  return scaler_->scale(image, part, width, height, quality);
}

}  // namespace

Result<std::shared_ptr<SurfaceAccess>> make_surface_access(void* va_display,
                                                           std::function<void()> release) {
  auto display = std::make_shared<Display>(va_display, std::move(release));
  if (va_display == nullptr) {
    return error(StatusCode::InvalidArgument, "there is no VADisplay");
  }
  return std::shared_ptr<SurfaceAccess>(std::make_shared<VaSurfaceAccess>(std::move(display)));
}

}  // namespace het::va
