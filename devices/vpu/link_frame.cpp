#include "devices/vpu/link_frame.h"

#include <zlib.h>

#include "devices/vpu/link_bytes.h"

namespace het::vpu {
namespace {

constexpr size_t kCheckedBytes = kHeaderBytes - sizeof(uint32_t);

}  // namespace

std::string_view to_string(FrameType type) {
  constexpr std::string_view kNames[] = {"",
                                         "hello",
                                         "welcome",
                                         "refused",
                                         "acknowledged",
                                         "load begin",
                                         "load chunk",
                                         "load end",
                                         "loaded",
                                         "unload",
                                         "map memory",
                                         "unmap memory",
                                         "submit",
                                         "completed",
                                         "cancel",
                                         "get telemetry",
                                         "telemetry",
                                         "reset",
                                         "challenge",
                                         "challenge response",
                                         "proof"};
  const auto number = static_cast<size_t>(type);
  return number > 0 && number < std::size(kNames) ? kNames[number] : "unknown";
}

uint32_t crc32_of(std::span<const std::byte> bytes) {
  return static_cast<uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

std::array<std::byte, kHeaderBytes> header_of(FrameType type, uint64_t sequence,
                                              std::span<const std::byte> payload) {
  ByteWriter writer;
  writer.number(kMagic);
  writer.number(kProtocolVersion);
  writer.number(static_cast<uint16_t>(type));
  writer.number(static_cast<uint32_t>(payload.size()));
  writer.number(crc32_of(payload));
  writer.number(sequence);
  writer.number(uint32_t{0});
  std::vector<std::byte> bytes = writer.take();
  std::array<std::byte, kHeaderBytes> header{};
  std::memcpy(header.data(), bytes.data(), kCheckedBytes);
  const uint32_t crc = crc32_of(std::span(header).first(kCheckedBytes));
  std::memcpy(header.data() + kCheckedBytes, &crc, sizeof crc);
  return header;
}

Result<FrameHeader> parse_header(std::span<const std::byte, kHeaderBytes> bytes, uint32_t limit) {
  ByteReader reader(bytes);
  const auto magic = reader.number<uint32_t>();
  const auto version = reader.number<uint16_t>();
  FrameHeader header;
  header.type = static_cast<FrameType>(reader.number<uint16_t>());
  header.payload_bytes = reader.number<uint32_t>();
  header.payload_crc = reader.number<uint32_t>();
  header.sequence = reader.number<uint64_t>();
  const auto reserved = reader.number<uint32_t>();
  const auto crc = reader.number<uint32_t>();
  if (magic != kMagic) {
    return error(StatusCode::ParseError, "a frame begins with {:#010x} instead of {:#010x}", magic,
                 kMagic);
  }
  if (crc != crc32_of(bytes.first(kCheckedBytes))) {
    return error(StatusCode::ParseError, "the checksum of a frame's header is wrong");
  }
  if (version != kProtocolVersion) {
    return error(StatusCode::ParseError, "a frame is of version {} of the protocol, not {}",
                 version, kProtocolVersion);
  }
  if (reserved != 0) {
    return error(StatusCode::ParseError, "a reserved field of a frame's header is {}", reserved);
  }
  if (header.payload_bytes > limit) {
    return error(StatusCode::ParseError, "a {} frame of {} bytes is above the limit of {}",
                 to_string(header.type), header.payload_bytes, limit);
  }
  return header;
}

Status check_payload(const FrameHeader& header, std::span<const std::byte> payload) {
  if (payload.size() == header.payload_bytes && crc32_of(payload) == header.payload_crc) return {};
  return error(StatusCode::ParseError, "the checksum of a {} frame's {} bytes is wrong",
               to_string(header.type), payload.size());
}

}  // namespace het::vpu
