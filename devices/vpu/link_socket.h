#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "devices/vpu/link_frame.h"
#include "devices/vpu/link_security.h"
#include "inference/base/status.h"

namespace het::vpu {

/// Where something listens: the path of a Unix socket, or tcp://HOST:PORT.
struct LinkAddress {
  std::string path;  ///< empty for TCP
  std::string host;
  std::string port;
  /// Fails with InvalidArgument.
  static Result<LinkAddress> parse(std::string_view text);
  bool is_tcp() const { return path.empty(); }
};

/// The address of a Unix socket. Fails with InvalidArgument when the path is too long for one.
Result<sockaddr_un> unix_address(const std::string& path);

/// How long it is worth to look again and again whether something has come, from how long it took
/// the last times: sleeping and waking up costs tens of microseconds. Nothing where the link's
/// waits are long.
class SpinTime {
 public:
  std::chrono::microseconds next() const;
  void observe(std::chrono::nanoseconds waited);

 private:
  double mean_us_ = 1e6;
};

/// A connected stream socket with frames on it. send() and receive() may run at the same time on
/// two threads; each belongs to one thread at a time. close() may come from any.
class LinkSocket {
 public:
  /// Fails with NotFound where nobody listens.
  static Result<LinkSocket> connect(const LinkAddress& address);
  /// Takes the descriptor of a connected socket over.
  explicit LinkSocket(File file);

  /// From now on a code goes behind each frame, and is asked for behind each that comes.
  void secure(FrameCodes outgoing, FrameCodes incoming);
  /// One frame, with a file descriptor beside it where `file` is one. Fails with DeviceLost when
  /// the other side is gone or takes nothing for some seconds.
  Status send(FrameType type, uint64_t sequence, std::span<const std::byte> payload, int file = -1);
  /// The same with a header of the caller's making.
  Status send(std::span<const std::byte, kHeaderBytes> header, std::span<const std::byte> payload,
              int file = -1);
  /// The next frame, or nothing when none has come for `patience`. Memory for a payload grows as
  /// its bytes come. Fails with DeviceLost at the end of the stream, ParseError for what is no
  /// frame.
  Result<std::optional<Frame>> receive(std::chrono::milliseconds patience);
  /// Of frames to come; kMaxGreetingBytes at first.
  void set_payload_limit(uint32_t bytes) { payload_limit_ = bytes; }
  /// Both sides see the end of the stream; the descriptor stays until the object goes.
  void close();

 private:
  /// What the system has, within the patience; 0 bytes: nothing.
  Result<size_t> read(msghdr& message, std::chrono::milliseconds patience);
  Result<bool> fill(std::chrono::milliseconds patience);
  Result<std::optional<Frame>> parse();

  File file_;
  uint32_t payload_limit_ = kMaxGreetingBytes;
  std::optional<FrameCodes> outgoing_;
  std::optional<FrameCodes> incoming_;
  SpinTime spin_;
  std::chrono::milliseconds patience_{0};  ///< that the socket knows
  std::vector<std::byte> received_;        ///< bytes from begin_ to end_ are not parsed yet
  size_t begin_ = 0;
  size_t end_ = 0;
  std::deque<File> files_;  ///< that came and that no frame has taken
};

}  // namespace het::vpu
