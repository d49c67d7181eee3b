#include "devices/vpu/link_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace het::vpu {
namespace {

/// Nobody keeps a frame waiting for longer than this.
constexpr timeval kSendPatience{5, 0};
constexpr size_t kReadBytes = 64u << 10;
/// Descriptors that may wait for their frames.
constexpr size_t kMaxFiles = 4;

}  // namespace

File::~File() {
  if (number_ >= 0) ::close(number_);
}

File& File::operator=(File&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

int File::release() {
  return std::exchange(number_, -1);
}

Result<LinkSocket> LinkSocket::connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return error(StatusCode::InvalidArgument, "the path of a VPU's socket is longer than {}: '{}'",
                 sizeof address.sun_path - 1, path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  File file(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!file ||
      ::connect(file.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return error(StatusCode::NotFound, "no VPU answers at '{}': {}", path, std::strerror(errno));
  }
  return LinkSocket(std::move(file));
}

LinkSocket::LinkSocket(File file) : file_(std::move(file)) {
  setsockopt(file_.number(), SOL_SOCKET, SO_SNDTIMEO, &kSendPatience, sizeof kSendPatience);
}

Status LinkSocket::send(FrameType type, uint64_t sequence, std::span<const std::byte> payload,
                        int file) {
  return send(header_of(type, sequence, payload), payload, file)
      .with_context(fmt::format("cannot send a {} frame", to_string(type)));
}

Status LinkSocket::send(std::span<const std::byte, kHeaderBytes> header,
                        std::span<const std::byte> payload, int file) {
  iovec parts[2] = {{const_cast<std::byte*>(header.data()), header.size()},
                    {const_cast<std::byte*>(payload.data()), payload.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const extra = CMSG_FIRSTHDR(&message);
    extra->cmsg_level = SOL_SOCKET;
    extra->cmsg_type = SCM_RIGHTS;
    extra->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(extra), &file, sizeof file);
  }
  while (message.msg_iovlen > 0) {
    const ssize_t sent = ::sendmsg(file_.number(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) {
      return error(StatusCode::DeviceLost, "{}",
                   errno == EAGAIN ? "the other side takes nothing" : std::strerror(errno));
    }
    message.msg_control = nullptr;
    message.msg_controllen = 0;
    auto left = static_cast<size_t>(sent);
    while (message.msg_iovlen > 0 && left >= message.msg_iov->iov_len) {
      left -= message.msg_iov->iov_len;
      ++message.msg_iov;
      --message.msg_iovlen;
    }
    if (message.msg_iovlen > 0) {
      message.msg_iov->iov_base = static_cast<std::byte*>(message.msg_iov->iov_base) + left;
      message.msg_iov->iov_len -= left;
    }
  }
  return {};
}

Result<std::optional<Frame>> LinkSocket::receive(std::chrono::milliseconds patience) {
  while (true) {
    HET_ASSIGN(std::optional<Frame> frame, parse());
    if (frame) return frame;
    HET_ASSIGN(const bool came, fill(patience));
    if (!came) return std::optional<Frame>();
  }
}

Result<bool> LinkSocket::fill(std::chrono::milliseconds patience) {
  pollfd wanted{file_.number(), POLLIN, 0};
  const int ready = ::poll(&wanted, 1, static_cast<int>(patience.count()));
  if (ready == 0 || (ready < 0 && errno == EINTR)) return false;
  received_.erase(received_.begin(), received_.begin() + static_cast<ptrdiff_t>(begin_));
  begin_ = 0;
  const size_t had = received_.size();
  received_.resize(had + kReadBytes);
  iovec part{received_.data() + had, kReadBytes};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFiles * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t got = ::recvmsg(file_.number(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
  received_.resize(had + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return false;
  if (got < 0) return error(StatusCode::DeviceLost, "the link fails: {}", std::strerror(errno));
  if (got == 0) return error(StatusCode::DeviceLost, "the other side has closed the link");
  for (cmsghdr* extra = CMSG_FIRSTHDR(&message); extra != nullptr;
       extra = CMSG_NXTHDR(&message, extra)) {
    if (extra->cmsg_level != SOL_SOCKET || extra->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (extra->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(extra) + i * sizeof number, sizeof number);
      files_.emplace_back(number);
    }
  }
  if (files_.size() > kMaxFiles) {
    return error(StatusCode::ParseError, "{} file descriptors came without their frames",
                 files_.size());
  }
  return true;
}

Result<std::optional<Frame>> LinkSocket::parse() {
  const std::span<const std::byte> bytes = std::span(received_).subspan(begin_);
  if (bytes.size() < kHeaderBytes) return std::optional<Frame>();
  HET_ASSIGN(const FrameHeader header, parse_header(bytes.first<kHeaderBytes>(), payload_limit_));
  if (bytes.size() - kHeaderBytes < header.payload_bytes) return std::optional<Frame>();
  const auto payload = bytes.subspan(kHeaderBytes, header.payload_bytes);
  HET_TRY(check_payload(header, payload));
  Frame frame{header, {payload.begin(), payload.end()}, -1};
  if (header.type == FrameType::MapMemory && !files_.empty()) {
    frame.file = files_.front().release();
    files_.pop_front();
  }
  begin_ += kHeaderBytes + header.payload_bytes;
  return std::optional(std::move(frame));
}

void LinkSocket::close() {
  ::shutdown(file_.number(), SHUT_RDWR);
}

}  // namespace het::vpu
