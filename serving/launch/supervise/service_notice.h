#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace het::serving {

/// Tells the service manager how a service of Type=notify is, by the protocol of sd_notify(3): a
/// datagram to the socket that $NOTIFY_SOCKET names. Without one nothing happens.
/// Thread-compatible.
class ServiceNotice {
 public:
  ServiceNotice();

  /// Once everything runs.
  void ready(std::string_view status);
  void status(std::string_view text) const;
  void stopping() const;
  /// That this process is alive, as often as $WATCHDOG_USEC asks for; call it at least each second.
  void alive();

 private:
  void send(const std::string& text) const;

  std::string socket_;
  bool was_ready_ = false;
  std::chrono::microseconds watchdog_{0};
  std::chrono::steady_clock::time_point last_alive_;
};

}  // namespace het::serving
