#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

#include "inference/base/status.h"
#include "inference/tensors/buffer.h"
#include "inference/tensors/image.h"

namespace het {

/// What was done with surfaces, for whoever wants to show it. Written by any thread.
struct SurfaceCounts {
  std::atomic<uint64_t> mapped = 0;    ///< read by the host where they are
  std::atomic<uint64_t> copied = 0;    ///< copied for the host, because they cannot be mapped
  std::atomic<uint64_t> imported = 0;  ///< read by a device where they are
  std::atomic<uint64_t> scaled = 0;    ///< cropped, scaled and converted by the video processor
};

/// Memory that is a surface: writes to it are asynchronous. map() waits for them; a device that
/// reads a surface by its handle calls begin_import() first. Reads only.
class SurfaceBuffer : public Buffer {
 public:
  /// Waits until what was written is there. Fails with DeviceLost where its owner is gone.
  virtual Status begin_import() = 0;

 protected:
  using Buffer::Buffer;
};

/// What of a video processor's ways to scale.
enum class ScaleQuality : uint8_t { Normal, Fast };

/// A surface of a picture, as its owner describes it.
struct SurfacePicture {
  uint32_t surface = 0;
  PixelFormat format = PixelFormat::NV12;
  int width = 0;
  int height = 0;
  ColorMatrix matrix = ColorMatrix::BT601;
  ColorRange range = ColorRange::Video;
};

/// What can be done with the surfaces of one display of the application: made by
/// surface_access() of devices/register_devices.h. Thread-safe; pictures keep what they need of it.
class SurfaceAccess {
 public:
  virtual ~SurfaceAccess() = default;
  SurfaceAccess(const SurfaceAccess&) = delete;
  SurfaceAccess& operator=(const SurfaceAccess&) = delete;

  /// The surface as a picture whose buffer is a SurfaceBuffer; nothing is mapped or copied before
  /// somebody maps it, and only then a surface that is no such picture is an error. `release` runs
  /// with the last user. Fails where the driver has no images of the format.
  virtual Result<Image> wrap(const SurfacePicture& picture, std::function<void()> release) = 0;
  /// Empty when scale() works, else why not.
  virtual Status can_scale() = 0;
  /// Lets the video processor bring a part of a surface of this display to a RGBP surface of this
  /// size. Does not wait: the result's buffer does, when it is mapped or imported, and keeps
  /// `image` until then.
  virtual Result<Image> scale(const Image& image, const Rect& part, int width, int height,
                              ScaleQuality quality) = 0;
  virtual const SurfaceCounts& counts() const = 0;

 protected:
  SurfaceAccess() = default;
};

}  // namespace het
