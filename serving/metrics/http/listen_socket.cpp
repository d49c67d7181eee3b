#include "serving/metrics/http/listen_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

namespace het::metrics {
namespace {

constexpr int kBacklog = 64;

Failure cannot_listen(int fd, const std::string& address, uint16_t port) {
  const int code = errno;
  if (fd >= 0) ::close(fd);
  const char* advice = code == EADDRINUSE
                           ? "another process serves there; give port=0 for any that is free"
                           : "give another port or address";
  return error(StatusCode::InvalidArgument, "cannot listen at {} port {}: {}; {}", address, port,
               std::strerror(code), advice);
}

uint16_t port_of(int fd) {
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&bound), &size) != 0) return 0;
  if (bound.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&bound)->sin_port);
}

}  // namespace

Result<ListenSocket> listen_at(const std::string& address, uint16_t port) {
  addrinfo wanted{};
  wanted.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE;
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failed = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &wanted, &found);
  if (failed != 0) {
    return error(StatusCode::InvalidArgument,
                 "'{}' is no address: {}; write numbers, 127.0.0.1 for this machine alone or "
                 "0.0.0.0 for all",
                 address, ::gai_strerror(failed));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(found, ::freeaddrinfo);
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return cannot_listen(fd, address, port);
  const int yes = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (::bind(fd, found->ai_addr, found->ai_addrlen) != 0 || ::listen(fd, kBacklog) != 0) {
    return cannot_listen(fd, address, port);
  }
  const uint16_t bound = port_of(fd);
  const bool has_colons = found->ai_family == AF_INET6;
  return ListenSocket{fd, bound,
                      has_colons ? fmt::format("http://[{}]:{}", address, bound)
                                 : fmt::format("http://{}:{}", address, bound)};
}

}  // namespace het::metrics
