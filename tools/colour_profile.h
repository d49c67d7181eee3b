#pragma once

#include <string>

namespace het {

/// Removes the ICC profile from the bytes of a JPEG, PNG or WebP file; false where it has none, or
/// is no such file. Decoders that manage colours (glycin, behind gdk-pixbuf 2.44) convert to sRGB
/// where there is one; models are trained with the levels that the file has.
bool remove_colour_profile(std::string& file);

}  // namespace het
