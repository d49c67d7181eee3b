#pragma once

#include <va/va.h>

#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "inference/base/status.h"
#include "inference/tensors/image.h"
#include "inference/tensors/surface_access.h"

namespace het::va {

/// Ok, or an error that names the action and libva's reason. DeviceLost where the hardware failed.
Status va_status(VAStatus status, std::string_view action);

/// libva's name of a pixel format; 0 for those it has none for.
uint32_t fourcc_of(PixelFormat format);

/// An application's VADisplay, initialised by its owner, who is told when the last user lets go.
/// Thread-safe as far as the driver is, which libva demands.
class Display {
 public:
  Display(VADisplay display, std::function<void()> release)
      : display_(display), release_(std::move(release)) {}
  ~Display();
  Display(const Display&) = delete;
  Display& operator=(const Display&) = delete;

  VADisplay get() const { return display_; }
  /// Waits for what is being written to the surface.
  Status sync(VASurfaceID surface) const;
  /// How the driver describes images of this format; nothing when it has none.
  std::optional<VAImageFormat> image_format(PixelFormat format);
  SurfaceCounts& counts() { return counts_; }

 private:
  VADisplay display_;
  std::function<void()> release_;
  SurfaceCounts counts_;
  std::once_flag formats_read_;
  std::vector<VAImageFormat> formats_;
};

}  // namespace het::va
