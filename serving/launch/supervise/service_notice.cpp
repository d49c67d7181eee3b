#include "serving/launch/supervise/service_notice.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "serving/launch/supervise/child_process.h"

namespace het::serving {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

int64_t number(const std::string& text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

ServiceNotice::ServiceNotice() : socket_(variable("NOTIFY_SOCKET")) {
  const std::string pid = variable("WATCHDOG_PID");
  if (pid.empty() || number(pid) == ::getpid()) {
    watchdog_ = std::chrono::microseconds(number(variable("WATCHDOG_USEC")));
  }
  // Those are for this process, not for its children.
  ::unsetenv("NOTIFY_SOCKET");
  ::unsetenv("WATCHDOG_USEC");
  ::unsetenv("WATCHDOG_PID");
}

void ServiceNotice::ready(std::string_view text) {
  if (was_ready_) return status(text);
  was_ready_ = true;
  send(fmt::format("READY=1\nSTATUS={}", text));
}

void ServiceNotice::status(std::string_view text) const {
  send(fmt::format("STATUS={}", text));
}

void ServiceNotice::stopping() const {
  send("STOPPING=1");
}

void ServiceNotice::alive() {
  const auto now = std::chrono::steady_clock::now();
  if (watchdog_.count() <= 0 || now - last_alive_ < watchdog_ / 2) return;
  last_alive_ = now;
  send("WATCHDOG=1");
}

void ServiceNotice::send(const std::string& text) const {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (socket_.empty() || socket_.size() >= sizeof(address.sun_path)) return;
  std::memcpy(address.sun_path, socket_.data(), socket_.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';  // an abstract name
  const OwnedFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  // Nobody to be told is no reason to stop.
  ::sendto(fd.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&address), length);
}

}  // namespace het::serving
