#include "devices/vpu/link_bytes.h"

#include <algorithm>
#include <limits>

namespace het::vpu {

void ByteWriter::raw(std::span<const std::byte> value) {
  if (value.empty()) return;
  const size_t end = bytes_.size();
  bytes_.resize(end + value.size());
  std::memcpy(bytes_.data() + end, value.data(), value.size());
}

void ByteWriter::text(std::string_view value) {
  value = value.substr(0, std::numeric_limits<uint16_t>::max());
  number(static_cast<uint16_t>(value.size()));
  raw(std::as_bytes(std::span(value.data(), value.size())));
}

void ByteWriter::blob(std::span<const std::byte> value) {
  number(static_cast<uint32_t>(value.size()));
  raw(value);
}

std::span<const std::byte> ByteReader::raw(size_t size) {
  if (size > rest_.size()) {
    failed_ = true;
    rest_ = {};
    return {};
  }
  const std::span<const std::byte> bytes = rest_.first(size);
  rest_ = rest_.subspan(size);
  return bytes;
}

std::string ByteReader::text() {
  const std::span<const std::byte> bytes = raw(number<uint16_t>());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> ByteReader::blob() {
  return raw(number<uint32_t>());
}

uint32_t ByteReader::count(uint32_t limit, size_t least_bytes) {
  const auto wanted = number<uint32_t>();
  if (wanted <= limit && wanted <= rest_.size() / std::max<size_t>(least_bytes, 1)) return wanted;
  failed_ = true;
  rest_ = {};
  return 0;
}

}  // namespace het::vpu
