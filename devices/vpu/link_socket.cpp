#include "devices/vpu/link_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <sched.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace het::vpu {
namespace {

/// Nobody keeps a frame waiting for longer than this.
constexpr timeval kSendPatience{5, 0};
constexpr size_t kReadBytes = 64u << 10;
/// Descriptors that may wait for their frames.
constexpr size_t kMaxFiles = 4;

/// A wait for longer than this costs less than looking all the time.
constexpr std::chrono::microseconds kLongestSpin{60};
/// For a connection over a network.
constexpr timeval kConnectPatience{2, 0};

Result<LinkSocket> connect_tcp(const LinkAddress& address) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &found);
  if (failure != 0) {
    return error(StatusCode::NotFound, "no VPU answers at tcp://{}:{}: {}", address.host,
                 address.port, ::gai_strerror(failure));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
  int reason = 0;
  for (const addrinfo* it = found; it != nullptr; it = it->ai_next) {
    File file(::socket(it->ai_family, SOCK_STREAM | SOCK_CLOEXEC, it->ai_protocol));
    if (!file) continue;
    // Linux' limit for connect(), too.
    setsockopt(file.number(), SOL_SOCKET, SO_SNDTIMEO, &kConnectPatience, sizeof kConnectPatience);
    if (::connect(file.number(), it->ai_addr, it->ai_addrlen) == 0) {
      const int on = 1;
      setsockopt(file.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      return LinkSocket(std::move(file));
    }
    reason = errno;
  }
  return error(StatusCode::NotFound, "no VPU answers at tcp://{}:{}: {}", address.host,
               address.port, std::strerror(reason));
}

}  // namespace

Result<LinkAddress> LinkAddress::parse(std::string_view text) {
  constexpr std::string_view kTcp = "tcp://";
  LinkAddress address;
  if (!text.starts_with(kTcp)) {
    address.path = text;
    if (!text.empty() && text.find("://") == std::string_view::npos) return address;
  } else {
    text.remove_prefix(kTcp.size());
    const size_t colon = text.rfind(':');
    address.host = text.substr(0, colon);
    if (address.host.starts_with('[') && address.host.ends_with(']')) {
      address.host = address.host.substr(1, address.host.size() - 2);
    }
    if (colon != std::string_view::npos) address.port = text.substr(colon + 1);
    if (!address.host.empty() && !address.port.empty()) return address;
  }
  return error(StatusCode::InvalidArgument,
               "'{}' is no address of a VPU: write the path of a socket or tcp://HOST:PORT", text);
}

Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return error(StatusCode::InvalidArgument, "the path of a VPU's socket is longer than {}: '{}'",
                 sizeof address.sun_path - 1, path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

std::chrono::microseconds SpinTime::next() const {
  if (mean_us_ > kLongestSpin.count()) return {};
  return std::chrono::microseconds(static_cast<int64_t>(2 * mean_us_) + 10);
}

void SpinTime::observe(std::chrono::nanoseconds waited) {
  // One long wait ends the looking, some short ones begin it.
  const double us = std::min(1e-3 * static_cast<double>(waited.count()), 1e3);
  mean_us_ += (us - mean_us_) / 8;
}

Result<LinkSocket> LinkSocket::connect(const LinkAddress& address) {
  if (address.is_tcp()) return connect_tcp(address);
  HET_ASSIGN(const sockaddr_un unix, unix_address(address.path));
  File file(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!file ||
      ::connect(file.number(), reinterpret_cast<const sockaddr*>(&unix), sizeof unix) != 0) {
    return error(StatusCode::NotFound, "no VPU answers at '{}': {}", address.path,
                 std::strerror(errno));
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
  FrameCode code{};
  if (outgoing_) code = outgoing_->next(header, payload);
  iovec parts[3] = {{const_cast<std::byte*>(header.data()), header.size()},
                    {const_cast<std::byte*>(payload.data()), payload.size()},
                    {code.data(), code.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = outgoing_ ? 3 : 2;
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

Result<size_t> LinkSocket::read(msghdr& message, std::chrono::milliseconds patience) {
  const auto begin = std::chrono::steady_clock::now();
  const auto until = begin + spin_.next();
  const void* const control = message.msg_control;
  const size_t control_bytes = message.msg_controllen;
  const bool is_one_look = patience.count() == 0;
  while (true) {
    message.msg_control = const_cast<void*>(control);
    message.msg_controllen = control_bytes;
    const bool is_waiting = std::chrono::steady_clock::now() >= until && patience.count() > 0;
    if (is_waiting && patience != patience_) {
      patience_ = patience;
      const timeval limit{patience.count() / 1000, patience.count() % 1000 * 1000};
      setsockopt(file_.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    }
    const ssize_t got =
        ::recvmsg(file_.number(), &message, MSG_CMSG_CLOEXEC | (is_waiting ? 0 : MSG_DONTWAIT));
    if (got > 0) {
      if (patience.count() > 0) spin_.observe(std::chrono::steady_clock::now() - begin);
      return static_cast<size_t>(got);
    }
    if (got == 0) return error(StatusCode::DeviceLost, "the other side has closed the link");
    if (errno != EINTR && errno != EAGAIN) {
      return error(StatusCode::DeviceLost, "the link fails: {}", std::strerror(errno));
    }
    if (is_waiting || is_one_look) return size_t{0};
    // Others may need this processor to make what this thread waits for.
    ::sched_yield();
  }
}

Result<bool> LinkSocket::fill(std::chrono::milliseconds patience) {
  if (begin_ > 0) std::memmove(received_.data(), received_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  if (received_.size() - end_ < kReadBytes) received_.resize(end_ + kReadBytes);
  iovec part{received_.data() + end_, received_.size() - end_};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxFiles * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const auto got = read(message, patience);
  if (!got) return Failure(got.error());
  end_ += *got;
  if (*got == 0) return false;
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
  const std::span<const std::byte> bytes = std::span(received_).subspan(begin_, end_ - begin_);
  if (bytes.size() < kHeaderBytes) return std::optional<Frame>();
  HET_ASSIGN(const FrameHeader header, parse_header(bytes.first<kHeaderBytes>(), payload_limit_));
  const size_t code_bytes = incoming_ ? sizeof(FrameCode) : 0;
  if (bytes.size() - kHeaderBytes < header.payload_bytes + code_bytes) {
    return std::optional<Frame>();
  }
  const auto payload = bytes.subspan(kHeaderBytes, header.payload_bytes);
  HET_TRY(check_payload(header, payload));
  if (incoming_) {
    const FrameCode wanted = incoming_->next(bytes.first(kHeaderBytes), payload);
    const auto code = bytes.subspan(kHeaderBytes + header.payload_bytes, code_bytes);
    if (CRYPTO_memcmp(code.data(), wanted.data(), wanted.size()) != 0) {
      return error(StatusCode::ParseError, "the code of a {} frame is not that of the link's key",
                   to_string(header.type));
    }
  }
  Frame frame{header, {payload.begin(), payload.end()}, File()};
  if (header.type == FrameType::MapMemory && !files_.empty()) {
    frame.file = std::move(files_.front());
    files_.pop_front();
  }
  begin_ += kHeaderBytes + header.payload_bytes + code_bytes;
  return std::optional(std::move(frame));
}

void LinkSocket::secure(FrameCodes outgoing, FrameCodes incoming) {
  outgoing_ = std::move(outgoing);
  incoming_ = std::move(incoming);
}

void LinkSocket::close() {
  ::shutdown(file_.number(), SHUT_RDWR);
}

}  // namespace het::vpu
