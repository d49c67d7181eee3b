#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "devices/vpu/link_frame.h"
#include "inference/status.h"

namespace het::vpu {

/// A file descriptor with an owner.
class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  ~File();
  File(File&& other) noexcept : number_(other.release()) {}
  File& operator=(File&& other) noexcept;
  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int release();

 private:
  int number_;
};

/// A connected stream socket with frames on it. send() and receive() may run at the same time on
/// two threads; each belongs to one thread at a time. close() may come from any.
class LinkSocket {
 public:
  /// Connects to a Unix socket. Fails with NotFound where nobody listens.
  static Result<LinkSocket> connect(const std::string& path);
  /// Takes the descriptor of a connected socket over.
  explicit LinkSocket(File file);

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
  Result<bool> fill(std::chrono::milliseconds patience);
  Result<std::optional<Frame>> parse();

  File file_;
  uint32_t payload_limit_ = kMaxGreetingBytes;
  std::vector<std::byte> received_;  ///< bytes from begin_ on are not parsed yet
  size_t begin_ = 0;
  std::deque<File> files_;  ///< that came and that no frame has taken
};

}  // namespace het::vpu
