#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "inference/base/visibility.h"

namespace het {

/// A checksum of the content for files of our own: every change of up to eight neighbouring bytes
/// gives another one. Against accidents, not against people. The same on every machine.
HET_API uint64_t checksum(std::span<const std::byte> content);
HET_API uint64_t checksum(std::string_view content);

}  // namespace het
