#pragma once

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/devices/child_process.h"

namespace het::device_testing {

/// A port of this machine that nobody uses now.
inline int free_port() {
  const int file = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(file, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::getsockname(file, reinterpret_cast<sockaddr*>(&address), &size), 0);
  ::close(file);
  return ntohs(address.sin_port);
}

/// A folder of sockets with device programs of ours, which HETERO_VPU_FOLDER names while it lives.
class VpuDaemons {
 public:
  VpuDaemons() {
    std::string name = (std::filesystem::temp_directory_path() / "hetero-vpu-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    setenv("HETERO_VPU_FOLDER", folder_.c_str(), 1);
  }
  ~VpuDaemons() {
    for (const pid_t child : children_) end(child, SIGTERM);
    unsetenv("HETERO_VPU_FOLDER");
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  VpuDaemons(const VpuDaemons&) = delete;
  VpuDaemons& operator=(const VpuDaemons&) = delete;

  std::string socket(const std::string& name) const { return folder_ + "/" + name + ".sock"; }
  /// Starts one and waits until it listens.
  pid_t start(const std::string& name = "a", const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {built_file("devices/vpu/daemon/hetero-vpud"), "--socket",
                                      socket(name)};
    words.insert(words.end(), options.begin(), options.end());
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    const pid_t child = fork();
    if (child == 0) {
#ifdef __SANITIZE_ADDRESS__
      // It traces the process at its end, which the daemon's confinement forbids.
      const char* given = getenv("ASAN_OPTIONS");
      const std::string own = std::string(given != nullptr ? given : "") + ":detect_leaks=0";
      setenv("ASAN_OPTIONS", own.c_str(), 1);
#endif
      execv(arguments[0], arguments.data());
      _exit(127);
    }
    children_.push_back(child);
    for (int i = 0; i < 1000; ++i) {
      if (listens(socket(name))) return child;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    ADD_FAILURE() << words[0] << " does not listen";
    return child;
  }
  /// As if it had been unplugged.
  void kill(pid_t child) {
    std::erase(children_, child);
    end(child, SIGKILL);
  }

 private:
  static bool listens(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    const int file = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool answers =
        ::connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
    ::close(file);
    return answers;
  }
  static void end(pid_t child, int signal) {
    ::kill(child, signal);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(signal != SIGTERM || status == 0) << "hetero-vpud does not end well: " << status;
  }

  std::string folder_;
  std::vector<pid_t> children_;
};

}  // namespace het::device_testing
