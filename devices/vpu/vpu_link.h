#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "devices/vpu/connection.h"
#include "inference/base/status.h"

namespace het::vpu {

/// The way to one device: where it was found and the connection in use. Thread-safe.
class VpuLink {
 public:
  /// Finds the device anew and connects, as often as it was lost: it may come back elsewhere.
  struct Found {
    std::string address;
    std::shared_ptr<Connection> connection;
  };
  using Find = std::function<Result<Found>(const std::string& last_address)>;
  VpuLink(Find find, Found found)
      : find_(std::move(find)),
        address_(std::move(found.address)),
        connection_(std::move(found.connection)) {}

  /// The connection, made anew where it is lost. Fails as Connection::open().
  Result<std::shared_ptr<Connection>> connection();

 private:
  const Find find_;
  std::mutex mutex_;  ///< protects what follows; before a connection's own
  std::string address_;
  std::shared_ptr<Connection> connection_;
};

/// A connection with the key of VPU_KEY_FILE.
Result<std::shared_ptr<Connection>> connect_vpu(const std::string& address);

}  // namespace het::vpu
