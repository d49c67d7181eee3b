#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "devices/vpu/link_file.h"
#include "inference/base/status.h"

namespace het::vpu {

inline constexpr uint16_t kProtocolVersion = 1;
/// "HVPU" in the order of the bytes.
inline constexpr uint32_t kMagic = 0x55505648;
inline constexpr size_t kHeaderBytes = 32;
/// Of one frame; models travel in chunks, large tensors in shared memory.
inline constexpr uint32_t kMaxPayloadBytes = 64u << 20;
/// Before both sides have said hello.
inline constexpr uint32_t kMaxGreetingBytes = 256u << 10;

/// protocol.md says who sends which and what is in it.
enum class FrameType : uint16_t {
  Hello = 1,
  Welcome = 2,
  Refused = 3,       ///< of the command with the same sequence number
  Acknowledged = 4,  ///< the same
  LoadBegin = 5,
  LoadChunk = 6,
  LoadEnd = 7,
  Loaded = 8,
  Unload = 9,
  MapMemory = 10,
  UnmapMemory = 11,
  Submit = 12,
  Completed = 13,
  Cancel = 14,
  GetTelemetry = 15,
  Telemetry = 16,
  Reset = 17,
  Challenge = 18,
  ChallengeResponse = 19,
  Proof = 20,
};
std::string_view to_string(FrameType type);

struct FrameHeader {
  FrameType type = FrameType::Hello;
  uint32_t payload_bytes = 0;
  uint32_t payload_crc = 0;
  uint64_t sequence = 0;
};

/// CRC-32 of ISO 3309, zlib's.
uint32_t crc32_of(std::span<const std::byte> bytes);

/// The header of a frame with this payload.
std::array<std::byte, kHeaderBytes> header_of(FrameType type, uint64_t sequence,
                                              std::span<const std::byte> payload);
/// Fails with ParseError for bytes that are no header, a header of another version or a payload
/// above `limit`.
Result<FrameHeader> parse_header(std::span<const std::byte, kHeaderBytes> bytes, uint32_t limit);
/// Fails with ParseError when the payload is not the one that the header announced.
Status check_payload(const FrameHeader& header, std::span<const std::byte> payload);

/// A frame as it came.
struct Frame {
  FrameHeader header;
  std::vector<std::byte> payload;
  File file;  ///< that came with it
};

}  // namespace het::vpu
