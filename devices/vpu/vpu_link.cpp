#include "devices/vpu/vpu_link.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace het::vpu {

Result<std::shared_ptr<Connection>> VpuLink::connection() {
  std::lock_guard lock(mutex_);
  if (connection_ && !connection_->is_lost()) return connection_;
  connection_ = nullptr;
  HET_ASSIGN(connection_, Connection::open(path_, {}));
  return connection_;
}

std::string vpu_folder() {
  const char* folder = std::getenv("HETERO_VPU_FOLDER");
  return folder != nullptr ? folder : "/run/hetero-vpu";
}

std::vector<std::string> vpu_sockets() {
  std::vector<std::string> sockets;
  std::error_code failure;
  for (std::filesystem::directory_iterator it(vpu_folder(), failure), end; !failure && it != end;
       it.increment(failure)) {
    std::error_code unknown;
    if (it->path().extension() == ".sock" && it->is_socket(unknown)) {
      sockets.push_back(it->path().string());
    }
  }
  std::ranges::sort(sockets);
  return sockets;
}

}  // namespace het::vpu
