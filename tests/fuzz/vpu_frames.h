#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <utility>

#include "devices/vpu/link_socket.h"
#include "devices/vpu/shared_memory.h"

namespace het::fuzz {

/// Two connected sockets.
inline std::pair<vpu::File, vpu::File> socket_pair() {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) abort();
  return {vpu::File(ends[0]), vpu::File(ends[1])};
}

/// Sends the fuzzer's bytes as frames whose checksums are right: u8 type, u8 sequence, u16 length,
/// payload. Type 0 sends the payload as it is. Memory goes with every frame that maps some.
inline void send_frames(vpu::LinkSocket& socket, std::span<const uint8_t> bytes) {
  static const auto memory = vpu::SharedMemory::create(4096);
  while (bytes.size() >= 4) {
    const uint8_t type = bytes[0];
    const uint8_t sequence = bytes[1];
    const size_t length = std::min<size_t>(bytes[2] | bytes[3] << 8, bytes.size() - 4);
    const auto payload = std::as_bytes(bytes.subspan(4, length));
    bytes = bytes.subspan(4 + length);
    const bool maps = type == static_cast<uint8_t>(vpu::FrameType::MapMemory) && memory;
    Status sent;
    if (type != 0) {
      sent = socket.send(static_cast<vpu::FrameType>(type), sequence, payload,
                         maps ? (*memory)->file() : -1);
    } else if (payload.size() >= vpu::kHeaderBytes) {
      sent = socket.send(payload.first<vpu::kHeaderBytes>(), payload.subspan(vpu::kHeaderBytes));
    }
    if (!sent.ok()) return;
  }
}

}  // namespace het::fuzz
