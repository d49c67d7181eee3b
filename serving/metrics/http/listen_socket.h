#pragma once

#include <cstdint>
#include <string>

#include "inference/base/status.h"

namespace het::metrics {

/// A socket that connections come to, and where that is.
struct ListenSocket {
  int fd = -1;  ///< the caller's
  uint16_t port = 0;
  std::string url;  ///< "http://127.0.0.1:9464"
};

/// At an address of numbers ("127.0.0.1", "0.0.0.0", "::1"); port 0: any that is free. Fails with
/// InvalidArgument for an address that is none, else with what the system says.
Result<ListenSocket> listen_at(const std::string& address, uint16_t port);

}  // namespace het::metrics
