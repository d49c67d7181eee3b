#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace het::vpu {

static_assert(std::endian::native == std::endian::little, "the link's bytes are little-endian");

/// Fields of a message, one behind the other, little-endian and without padding.
class ByteWriter {
 public:
  template <class T>
  requires std::is_arithmetic_v<T>
  void number(T value) { raw(std::as_bytes(std::span(&value, 1))); }
  /// u16 length, then UTF-8; longer texts are cut.
  void text(std::string_view value);
  /// u32 length, then the bytes.
  void blob(std::span<const std::byte> value);
  void raw(std::span<const std::byte> value);
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads the same. What lies beyond the end reads as 0 or empty and is remembered: a reader checks
/// complete() once, at the end.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_arithmetic_v<T> T number() {
    T value{};
    const std::span<const std::byte> bytes = raw(sizeof value);
    if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string text();
  std::span<const std::byte> blob();
  std::span<const std::byte> raw(size_t size);
  /// A count of things that take at least `least_bytes` each; too large ones read as 0.
  uint32_t count(uint32_t limit, size_t least_bytes);
  std::span<const std::byte> rest() { return raw(rest_.size()); }
  /// Nothing was missing and nothing is left.
  bool complete() const { return !failed_ && rest_.empty(); }

 private:
  std::span<const std::byte> rest_;
  bool failed_ = false;
};

}  // namespace het::vpu
