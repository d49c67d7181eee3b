#pragma once

#include <optional>
#include <string>
#include <vector>

#include "devices/vpu/daemon/device_side.h"
#include "devices/vpu/link_security.h"
#include "devices/vpu/link_socket.h"
#include "inference/base/status.h"

namespace het::vpu {

/// Where hosts connect: Unix sockets, which only their owner may use or also the owner's group, and
/// TCP, for which a key is needed.
class Server {
 public:
  Server(std::optional<LinkKey> key, bool has_group_access)
      : key_(std::move(key)), has_group_access_(has_group_access) {}
  /// Removes the paths of its sockets.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Fails with InvalidArgument where the address cannot be had, and for TCP without a key.
  Status listen(const std::string& address);
  /// A thread for each host, until a signal comes.
  void serve(const File& signals, DeviceSide& device);

 private:
  struct Listener {
    File file;
    std::string path;  ///< empty: TCP
  };
  Status listen_unix(const std::string& path);
  Status listen_tcp(const LinkAddress& address);

  const std::optional<LinkKey> key_;
  const bool has_group_access_;
  std::vector<Listener> listeners_;
};

}  // namespace het::vpu
