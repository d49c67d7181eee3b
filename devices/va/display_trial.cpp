#include "devices/va/display_trial.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>
#include <va/va.h>
#include <va/va_drmcommon.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "devices/va/exported_surface.h"
#include "devices/va/surface_access.h"
#include "devices/va/va_display.h"

namespace het::va {
namespace {

using Outcome = FeatureTrial::Outcome;
using OpenDisplay = VADisplay (*)(int);

constexpr int kTrialSide = 64;

/// libva's way to a render node, which is a library of its own.
OpenDisplay open_display_function() {
  void* symbol = dlsym(RTLD_DEFAULT, "vaGetDisplayDRM");
  if (symbol == nullptr) {
    // Stays open: displays need it as long as they live.
    void* const library = dlopen("libva-drm.so.2", RTLD_NOW);
    if (library != nullptr) symbol = dlsym(library, "vaGetDisplayDRM");
  }
  return reinterpret_cast<OpenDisplay>(symbol);
}

void add(DisplayTrial& trial, std::string name, const Status& status, std::string remark = {}) {
  trial.features.push_back({std::move(name), status.ok() ? Outcome::Works : Outcome::Fails,
                            status.ok() ? std::move(remark) : status.message()});
}

/// A picture whose every sample differs from its neighbours.
Result<Image> pattern(PixelFormat format) {
  HET_ASSIGN(Image image, make_host_image(format, kTrialSide, kTrialSide));
  for (int p = 0; p < image.plane_count; ++p) {
    const ImagePlane& plane = image.planes[static_cast<size_t>(p)];
    const int64_t bytes = plane_row_bytes(format, p, kTrialSide);
    for (int y = 0; y < plane_rows(format, p, kTrialSide); ++y) {
      std::byte* const row = plane.buffer->host() + plane.offset + y * plane.stride_bytes;
      for (int64_t x = 0; x < bytes; ++x) {
        row[x] = static_cast<std::byte>(16 + (x * 3 + y * 5 + p * 31) % 220);
      }
    }
  }
  return image;
}

void copy_rows(const Image& from, std::byte* to, const VAImage& layout) {
  for (int p = 0; p < from.plane_count; ++p) {
    const ImagePlane& plane = from.planes[static_cast<size_t>(p)];
    const auto bytes = static_cast<size_t>(plane_row_bytes(from.format, p, from.width));
    for (int y = 0; y < plane_rows(from.format, p, from.height); ++y) {
      std::memcpy(to + layout.offsets[p] + static_cast<size_t>(y) * layout.pitches[p],
                  from.plane(p) + y * plane.stride_bytes, bytes);
    }
  }
}

/// Writes a picture into a surface, through the surface itself or through an image that is put.
Status write_surface(Display& display, VASurfaceID surface, const Image& picture) {
  VAImage image{};
  bool derived = vaDeriveImage(display.get(), surface, &image) == VA_STATUS_SUCCESS;
  if (derived && image.format.fourcc != fourcc_of(picture.format)) {
    vaDestroyImage(display.get(), image.image_id);
    derived = false;
  }
  if (!derived) {
    std::optional<VAImageFormat> format = display.image_format(picture.format);
    if (!format) {
      return error(StatusCode::NotSupported, "the VA driver has no images of format {}",
                   to_string(picture.format));
    }
    HET_TRY(va_status(vaCreateImage(display.get(), &*format, picture.width, picture.height, &image),
                      "make an image"));
  }
  void* address = nullptr;
  Status status = va_status(vaMapBuffer(display.get(), image.buf, &address), "map an image");
  if (status.ok()) {
    copy_rows(picture, static_cast<std::byte*>(address), image);
    status = va_status(vaUnmapBuffer(display.get(), image.buf), "unmap an image");
    if (status.ok() && !derived) {
      status = va_status(vaPutImage(display.get(), surface, image.image_id, 0, 0, kTrialSide,
                                    kTrialSide, 0, 0, kTrialSide, kTrialSide),
                         "put an image into a surface");
    }
  }
  vaDestroyImage(display.get(), image.image_id);
  return status;
}

Status compare(const Image& got, const Image& wanted) {
  HET_ASSIGN(const std::byte* const bytes, got.planes[0].buffer->map(MapAccess::Read));
  Status status;
  for (int p = 0; status.ok() && p < wanted.plane_count; ++p) {
    const ImagePlane& plane = got.planes[static_cast<size_t>(p)];
    const auto count = static_cast<size_t>(plane_row_bytes(wanted.format, p, wanted.width));
    for (int y = 0; status.ok() && y < plane_rows(wanted.format, p, wanted.height); ++y) {
      const std::byte* const row =
          wanted.plane(p) + y * wanted.planes[static_cast<size_t>(p)].stride_bytes;
      if (std::memcmp(bytes + plane.offset + y * plane.stride_bytes, row, count) != 0) {
        status = Status(StatusCode::Internal,
                        fmt::format("row {} of plane {} is not what was written", y, p));
      }
    }
  }
  got.planes[0].buffer->unmap();
  return status;
}

Result<VASurfaceID> make_surface(Display& display, PixelFormat format) {
  VASurfaceAttrib attribute{};
  attribute.type = VASurfaceAttribPixelFormat;
  attribute.flags = VA_SURFACE_ATTRIB_SETTABLE;
  attribute.value.type = VAGenericValueTypeInteger;
  attribute.value.value.i = static_cast<int>(fourcc_of(format));
  const unsigned kind = format == PixelFormat::NV12   ? VA_RT_FORMAT_YUV420
                        : format == PixelFormat::RGBP ? VA_RT_FORMAT_RGBP
                                                      : VA_RT_FORMAT_RGB32;
  VASurfaceID surface = VA_INVALID_SURFACE;
  HET_TRY(va_status(
      vaCreateSurfaces(display.get(), kind, kTrialSide, kTrialSide, &surface, 1, &attribute, 1),
      fmt::format("make a {} surface", to_string(format))));
  return surface;
}

/// A surface of the format that shows the pattern, and what the host reads of it.
Result<Image> written_surface(const std::shared_ptr<Display>& display, SurfaceAccess& access,
                              const Image& picture) {
  HET_ASSIGN(const VASurfaceID surface, make_surface(*display, picture.format));
  const auto destroy = [display, surface] {
    VASurfaceID own = surface;
    vaDestroySurfaces(display->get(), &own, 1);
  };
  if (Status status = write_surface(*display, surface, picture); !status.ok()) {
    destroy();
    return Failure(std::move(status));
  }
  HET_ASSIGN(Image image, access.wrap({surface, picture.format, kTrialSide, kTrialSide}, destroy));
  HET_TRY(compare(image, picture));
  return image;
}

/// The middle of a grey surface, scaled, is grey.
Status try_scaling(const std::shared_ptr<Display>& display, SurfaceAccess& access) {
  HET_TRY(access.can_scale());
  HET_ASSIGN(const Image grey, make_host_image(PixelFormat::NV12, kTrialSide, kTrialSide));
  std::memset(grey.planes[0].buffer->host(), 128, grey.planes[0].buffer->size_bytes());
  HET_ASSIGN(const Image source, written_surface(display, access, grey));
  HET_ASSIGN(const Image scaled, access.scale(source, source.full(), kTrialSide / 2, kTrialSide / 2,
                                              ScaleQuality::Normal));
  HET_ASSIGN(const std::byte* const bytes, scaled.planes[0].buffer->map(MapAccess::Read));
  // Luma 128 of 16..235 is level 130.
  constexpr int kMiddle = kTrialSide / 4;
  Status status;
  for (const ImagePlane& plane : {scaled.planes[0], scaled.planes[1], scaled.planes[2]}) {
    const int level =
        static_cast<int>(bytes[plane.offset + kMiddle * plane.stride_bytes + kMiddle]);
    if (std::abs(level - 130) > 6 && status.ok()) {
      status = Status(StatusCode::Internal, fmt::format("grey of level 130 became {}", level));
    }
  }
  scaled.planes[0].buffer->unmap();
  return status;
}

void try_surfaces(DisplayTrial& trial, const std::shared_ptr<Display>& display) {
  auto access = make_surface_access(display->get(), [display] {});
  if (!access) {
    add(trial, "surfaces", access.error());
    return;
  }
  for (const PixelFormat format : {PixelFormat::NV12, PixelFormat::RGBP, PixelFormat::BGRx}) {
    const uint64_t mapped = (*access)->counts().mapped;
    auto picture = pattern(format);
    auto surface = picture ? written_surface(display, **access, *picture)
                           : Result<Image>(tl::unexpect, picture.error());
    const bool in_place = (*access)->counts().mapped > mapped;
    add(trial, fmt::format("{} surfaces", to_string(format)), surface ? Status() : surface.error(),
        in_place ? "made, written, read where they are" : "made, written, read by a copy");
    if (!surface || format != PixelFormat::NV12) continue;
    trial.host = *std::move(picture);
    auto exported = export_surface(display, *surface);
    add(trial, "DMA-BUF export", exported ? Status() : exported.error());
    if (exported) trial.dma_buf = *std::move(exported);
    trial.surface = *std::move(surface);
  }
  add(trial, "video processor", try_scaling(display, **access), "scales NV12 to RGBP");
}

}  // namespace

std::vector<std::string> render_nodes() {
  std::vector<std::string> nodes;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/dri", failed)) {
    if (entry.path().filename().string().starts_with("renderD")) nodes.push_back(entry.path());
  }
  std::ranges::sort(nodes);
  return nodes;
}

DisplayTrial try_display(const std::string& node) {
  DisplayTrial trial;
  trial.node = std::filesystem::path(node).filename();
  const OpenDisplay open_display = open_display_function();
  if (open_display == nullptr) {
    trial.problem = "libva-drm.so.2 is not installed; install libva-drm2";
    return trial;
  }
  const int file = ::open(node.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) {
    trial.problem = fmt::format("cannot open {}: {}{}", node, std::strerror(errno),
                                errno == EACCES ? "; add the user to the group of the file" : "");
    return trial;
  }
  const VADisplay display = open_display(file);
  if (display == nullptr) {
    ::close(file);
    trial.problem = "libva gives no display for it";
    return trial;
  }
  vaSetInfoCallback(display, nullptr, nullptr);
  int major = 0;
  int minor = 0;
  const VAStatus opened = vaInitialize(display, &major, &minor);
  if (opened != VA_STATUS_SUCCESS) {
    vaTerminate(display);
    ::close(file);
    trial.problem = va_status(opened, "start").message();
    return trial;
  }
  trial.version = fmt::format("{}.{}", major, minor);
  const char* const vendor = vaQueryVendorString(display);
  trial.driver = vendor != nullptr ? vendor : "";
  trial.display = display;
  const auto shared = std::make_shared<Display>(display, [display, file] {
    vaTerminate(display);
    ::close(file);
  });
  trial.keep = shared;
  try_surfaces(trial, shared);
  return trial;
}

}  // namespace het::va
