#pragma once

#include <string>

#include "inference/image.h"
#include "inference/status.h"

namespace het {

/// Reads a picture file (JPEG, PNG, WebP, BMP ...) as BGR. The error names the file.
Result<Image> read_picture(const std::string& path);

}  // namespace het
