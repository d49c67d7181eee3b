#pragma once

#include <string_view>

#include "inference/base/visibility.h"

namespace het {

/// The library's version, as in meson.build: "0.1.0". Ends with a null character; static.
HET_API std::string_view version();

}  // namespace het
