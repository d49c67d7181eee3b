#include "devices/vpu/daemon/server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <list>
#include <memory>
#include <thread>
#include <utility>

#include "devices/vpu/daemon/session.h"

namespace het::vpu {
namespace {

/// Hosts at a time.
constexpr size_t kMaxSessions = 64;
constexpr int kWaiting = 16;

struct Host {
  std::shared_ptr<Session> session;
  std::thread thread;
  std::shared_ptr<std::atomic<bool>> has_ended;
};

void forget_ended(std::list<Host>& hosts) {
  for (auto it = hosts.begin(); it != hosts.end();) {
    if (!*it->has_ended) {
      ++it;
      continue;
    }
    it->thread.join();
    it = hosts.erase(it);
  }
}

void start(std::list<Host>& hosts, std::shared_ptr<Session> session) {
  auto has_ended = std::make_shared<std::atomic<bool>>(false);
  std::thread thread([session, has_ended] {
    session->run();
    *has_ended = true;
  });
  hosts.push_back({std::move(session), std::move(thread), std::move(has_ended)});
}

}  // namespace

Server::~Server() {
  for (const Listener& listener : listeners_) {
    if (!listener.path.empty()) ::unlink(listener.path.c_str());
  }
}

Status Server::listen(const std::string& address) {
  HET_ASSIGN(const LinkAddress parsed, LinkAddress::parse(address));
  return parsed.is_tcp() ? listen_tcp(parsed) : listen_unix(parsed.path);
}

Status Server::listen_unix(const std::string& path) {
  HET_ASSIGN(const sockaddr_un address, unix_address(path));
  // One that nobody listens to any more is in the way.
  if (!LinkSocket::connect({path, {}, {}})) {
    struct stat state {};
    if (::stat(path.c_str(), &state) == 0 && S_ISSOCK(state.st_mode)) ::unlink(path.c_str());
  }
  File file(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const mode_t before = ::umask(has_group_access_ ? 0007 : 0077);
  const bool bound = file && ::bind(file.number(), reinterpret_cast<const sockaddr*>(&address),
                                    sizeof address) == 0;
  const int reason = errno;
  ::umask(before);
  if (!bound || ::listen(file.number(), kWaiting) != 0) {
    return error(StatusCode::InvalidArgument, "cannot listen at '{}': {}", path,
                 std::strerror(bound ? errno : reason));
  }
  listeners_.push_back({std::move(file), path});
  return {};
}

Status Server::listen_tcp(const LinkAddress& address) {
  if (!key_) {
    return error(StatusCode::InvalidArgument,
                 "over TCP hosts need a key: name its file with --key-file");
  }
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int failure = ::getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &found);
  if (failure != 0) {
    return error(StatusCode::InvalidArgument, "cannot listen at tcp://{}:{}: {}", address.host,
                 address.port, ::gai_strerror(failure));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(found, ::freeaddrinfo);
  File file(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, found->ai_protocol));
  const int on = 1;
  setsockopt(file.number(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  setsockopt(file.number(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // inherited by links
  if (!file || ::bind(file.number(), found->ai_addr, found->ai_addrlen) != 0 ||
      ::listen(file.number(), kWaiting) != 0) {
    return error(StatusCode::InvalidArgument, "cannot listen at tcp://{}:{}: {}", address.host,
                 address.port, std::strerror(errno));
  }
  listeners_.push_back({std::move(file), {}});
  return {};
}

void Server::serve(const File& signals, DeviceSide& device) {
  std::list<Host> hosts;
  std::vector<pollfd> wanted;
  for (const Listener& listener : listeners_) wanted.push_back({listener.file.number(), POLLIN, 0});
  wanted.push_back({signals.number(), POLLIN, 0});
  while (::poll(wanted.data(), wanted.size(), 1000) >= 0 || errno == EINTR) {
    if (wanted.back().revents != 0) break;
    forget_ended(hosts);
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (wanted[i].revents == 0) continue;
      File socket(::accept4(listeners_[i].file.number(), nullptr, nullptr, SOCK_CLOEXEC));
      if (!socket || hosts.size() >= kMaxSessions) continue;
      const bool is_unix = !listeners_[i].path.empty();
      start(hosts, std::make_shared<Session>(std::move(socket), device,
                                             is_unix ? std::nullopt : key_, is_unix));
    }
  }
  device.is_ending = true;
  for (Host& host : hosts) {
    host.session->stop();
    host.thread.join();
  }
}

}  // namespace het::vpu
