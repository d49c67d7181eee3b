#include "devices/vpu/vpu_link.h"

#include <utility>

#include "devices/vpu/vpu_discovery.h"

namespace het::vpu {

Result<std::shared_ptr<Connection>> VpuLink::connection() {
  std::lock_guard lock(mutex_);
  if (!connection_->is_lost()) return connection_;
  HET_ASSIGN(Found found, find_(address_));
  address_ = std::move(found.address);
  connection_ = std::move(found.connection);
  return connection_;
}

Result<std::shared_ptr<Connection>> connect_vpu(const std::string& address) {
  Connection::Options options;
  HET_ASSIGN(options.key, vpu_key());
  return Connection::open(address, options);
}

}  // namespace het::vpu
