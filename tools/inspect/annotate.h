#pragma once

#include <string>

#include "inference/base/status.h"
#include "inference/decoders/results.h"

namespace het {

/// Writes the picture of the file `picture`, which can be read, with what was found on it as a PNG:
/// boxes with labels, points and their lines, masks and maps as colours, classes as text. Never
/// replaces a file by a broken one.
Status write_annotated_picture(const std::string& path, const std::string& picture,
                               const Results& results);

}  // namespace het
