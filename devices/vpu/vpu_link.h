#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "devices/vpu/connection.h"
#include "inference/status.h"

namespace het::vpu {

/// The way to one device: its socket and the connection in use. Thread-safe.
class VpuLink {
 public:
  explicit VpuLink(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// The connection, made anew where there is none or it is lost. Fails as Connection::open().
  Result<std::shared_ptr<Connection>> connection();

 private:
  const std::string path_;
  std::mutex mutex_;  ///< protects connection_; before a connection's own
  std::shared_ptr<Connection> connection_;
};

/// The sockets (*.sock) in the folder that HETERO_VPU_FOLDER names, else /run/hetero-vpu, sorted.
std::vector<std::string> vpu_sockets();
/// That folder.
std::string vpu_folder();

}  // namespace het::vpu
