#pragma once

#include <string>

#include "inference/base/status.h"
#include "inference/tensors/image.h"

namespace het {

/// Reads a picture file as BGR: JPEG, PNG, BMP, TIFF, GIF (the first picture), PNM and what else
/// gdk-pixbuf has loaders for (WebP from a package of its own). Turned as its EXIF orientation
/// says; grey becomes three equal channels, opacity is dropped, 16 bits become 8, colours are not
/// converted by the file's ICC profile. Levels of JPEGs depend on gdk-pixbuf by up to 4: 2.44 may
/// have another decoder than libjpeg, and one that rounds 16 bits.
///
/// Fails with NotFound; with ParseError for what is no picture, is in no such format or ends early
/// (of a JPEG what is missing is grey, as libjpeg has it); with NotSupported for more than
/// kMaxPicturePixels. The error names the file.
Result<Image> read_picture(const std::string& path);

inline constexpr int64_t kMaxPicturePixels = int64_t{1} << 28;

}  // namespace het
