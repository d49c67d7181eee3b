#pragma once

#include <string>

#include "inference/base/status.h"
#include "tools/accuracy/dataset.h"

namespace het {

/// True where the folder has folders with pictures in them.
bool has_class_folders(const std::string& folder);

/// Reads ImageNet's form of a dataset: a folder of pictures per category, `folder`/CATEGORY/*.jpg.
/// Categories are the names of the folders in alphabetical order, with ids from 0; a picture's id
/// is its path in `folder`.
Result<Dataset> read_class_folders(const std::string& folder);

/// True for the names of files that hold pictures (.jpg, .jpeg, .png, .bmp, .webp, .ppm, .tif ...).
bool is_picture_name(const std::string& name);

}  // namespace het
