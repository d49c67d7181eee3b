#pragma once

#include <string>

#include "inference/base/status.h"
#include "inference/decoders/results.h"
#include "inference/tensors/image.h"

namespace het {

/// Writes `picture`, which is BGR, with what was found on it as a PNG: boxes with labels, points
/// and their lines, masks and maps as colours, classes as text. Never replaces a file by a broken
/// one. Fails with NotFound where no font is installed, with NotSupported for sides of more than
/// 32767 pixels.
Status write_annotated_picture(const std::string& path, const Image& picture,
                               const Results& results);

}  // namespace het
