#pragma once

#include <string>
#include <vector>

#include "inference/base/status.h"

namespace het::serving {

/// Renames what a stream has written before it is started again, which would replace it: "out.mp4"
/// becomes "out.1.mp4", or the next number that is free. `written_file` is a name as a property
/// says it: a path, or a pattern ("part%05d.mp4") of which all files are renamed. Only regular
/// files (and links) outside /dev and /proc are touched; where there is none, nothing is done.
/// Returns the new names. Fails with Internal when a file cannot be renamed.
Result<std::vector<std::string>> set_aside(const std::string& written_file);

}  // namespace het::serving
