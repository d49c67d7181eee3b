#include "tools/colour_profile.h"

#include <cstdint>
#include <string_view>

namespace het {
namespace {

uint32_t byte_at(const std::string& file, size_t at) {
  return at < file.size() ? static_cast<uint8_t>(file[at]) : 0;
}

uint32_t big_endian(const std::string& file, size_t at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < bytes; ++i) value = value << 8 | byte_at(file, at + i);
  return value;
}

uint32_t little_endian(const std::string& file, size_t at) {
  return byte_at(file, at) | byte_at(file, at + 1) << 8 | byte_at(file, at + 2) << 16 |
         byte_at(file, at + 3) << 24;
}

bool has(const std::string& file, size_t at, std::string_view text) {
  return at < file.size() && std::string_view(file).substr(at).starts_with(text);
}

/// Segments APP2 in front of the first scan; a large profile has several.
bool remove_from_jpeg(std::string& file) {
  constexpr uint32_t kApp2 = 0xe2;
  constexpr uint32_t kStartOfScan = 0xda;
  bool found = false;
  size_t at = 2;
  while (byte_at(file, at) == 0xff && byte_at(file, at + 1) != kStartOfScan) {
    const size_t size = 2 + size_t{big_endian(file, at + 2, 2)};
    if (byte_at(file, at + 1) == 0xff) {
      ++at;  // a marker may have fill bytes in front
    } else if (byte_at(file, at + 1) == kApp2 && has(file, at + 4, {"ICC_PROFILE\0", 12})) {
      file.erase(at, size);
      found = true;
    } else {
      at += size;
    }
  }
  return found;
}

/// The chunk iCCP, which stands in front of the pixels.
bool remove_from_png(std::string& file) {
  size_t at = 8;
  while (at < file.size() && !has(file, at + 4, "IDAT")) {
    const size_t size = 12 + size_t{big_endian(file, at, 4)};
    if (has(file, at + 4, "iCCP")) {
      file.erase(at, size);
      return true;
    }
    at += size;
  }
  return false;
}

/// The chunk ICCP and what the extended header and the file's size say of it.
bool remove_from_webp(std::string& file) {
  constexpr uint32_t kHasProfile = 0x20;
  size_t at = 12;
  while (at < file.size()) {
    const uint32_t content = little_endian(file, at + 4);
    const size_t size = 8 + size_t{content} + content % 2;
    if (has(file, at, "ICCP")) {
      const auto rest = static_cast<uint32_t>(little_endian(file, 4) - size);
      for (size_t i = 0; i < 4; ++i) file[4 + i] = static_cast<char>(rest >> (8 * i));
      if (has(file, 12, "VP8X")) file[20] = static_cast<char>(byte_at(file, 20) & ~kHasProfile);
      file.erase(at, size);
      return true;
    }
    at += size;
  }
  return false;
}

}  // namespace

bool remove_colour_profile(std::string& file) {
  if (has(file, 0, "\xff\xd8")) return remove_from_jpeg(file);
  if (has(file, 0, "\x89PNG\r\n\x1a\n")) return remove_from_png(file);
  if (has(file, 0, "RIFF") && has(file, 8, "WEBP")) return remove_from_webp(file);
  return false;
}

}  // namespace het
