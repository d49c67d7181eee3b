#pragma once

#include <string>

#include "inference/base/status.h"
#include "inference/tensors/image.h"

namespace het {

/// Reads a picture file (JPEG, PNG, WebP, BMP ...) as BGR. The error names the file.
Result<Image> read_picture(const std::string& path);

}  // namespace het
