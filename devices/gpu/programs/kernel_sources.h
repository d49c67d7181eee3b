#pragma once

#include <optional>
#include <string_view>

namespace het::gpu {

/// Text of kernels/<stem>.cl, embedded at build time; nothing for a name that is not in the list of
/// kernels/meson.build.
std::optional<std::string_view> kernel_source(std::string_view stem);

}  // namespace het::gpu
