#pragma once

#include <memory>

#include "devices/va/va_display.h"
#include "inference/base/status.h"
#include "inference/tensors/image.h"

namespace het::va {

/// The picture of a surface as the DMA-BUF that its driver exports, for reading. Its memory has no
/// host address and cannot be mapped: what reads it has imported it. Fails where the driver exports
/// no surface, or several objects, or a format that is not the surface's.
Result<Image> export_surface(const std::shared_ptr<Display>& display, const Image& surface);

}  // namespace het::va
