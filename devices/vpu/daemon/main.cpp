// hetero-vpud: a VPU in a process of its own, at the other end of a socket.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstring>
#include <iostream>
#include <list>
#include <thread>

#include "devices/register_devices.h"
#include "devices/vpu/daemon/hosted_model.h"
#include "devices/vpu/daemon/session.h"

namespace het::vpu {
namespace {

/// Hosts at a time.
constexpr size_t kMaxSessions = 64;

Result<File> listen_at(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return error(StatusCode::InvalidArgument, "the socket's path is longer than {}: '{}'",
                 sizeof address.sun_path - 1, path);
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  // One that nobody listens to any more is in the way.
  if (!LinkSocket::connect(path)) {
    struct stat state {};
    if (::stat(path.c_str(), &state) == 0 && S_ISSOCK(state.st_mode)) ::unlink(path.c_str());
  }
  File file(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const mode_t before = ::umask(0077);
  const bool bound = file && ::bind(file.number(), reinterpret_cast<const sockaddr*>(&address),
                                    sizeof address) == 0;
  const int reason = errno;
  ::umask(before);
  if (!bound || ::listen(file.number(), 16) != 0) {
    return error(StatusCode::InvalidArgument, "cannot listen at '{}': {}", path,
                 std::strerror(bound ? errno : reason));
  }
  return file;
}

/// A thread for each host, until a signal comes.
void serve(const File& listener, const File& signals, DeviceSide& device) {
  struct Host {
    std::shared_ptr<Session> session;
    std::thread thread;
    std::shared_ptr<std::atomic<bool>> has_ended;
  };
  std::list<Host> hosts;
  while (true) {
    pollfd wanted[] = {{listener.number(), POLLIN, 0}, {signals.number(), POLLIN, 0}};
    if (::poll(wanted, 2, 1000) < 0 && errno != EINTR) break;
    if (wanted[1].revents != 0) break;
    for (auto it = hosts.begin(); it != hosts.end();) {
      if (!*it->has_ended) {
        ++it;
        continue;
      }
      it->thread.join();
      it = hosts.erase(it);
    }
    if (wanted[0].revents == 0) continue;
    File socket(::accept4(listener.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!socket || hosts.size() >= kMaxSessions) continue;
    auto session = std::make_shared<Session>(std::move(socket), device);
    auto has_ended = std::make_shared<std::atomic<bool>>(false);
    hosts.push_back({session, std::thread([session, has_ended] {
                       session->run();
                       *has_ended = true;
                     }),
                     has_ended});
  }
  device.is_ending = true;
  for (Host& host : hosts) {
    host.session->stop();
    host.thread.join();
  }
}

int run(int argc, char** argv) {
  CLI::App app(
      "A VPU in a process of its own: runs models for hosts that connect to its socket, "
      "rounded to float16 after each node");
  std::string socket = "/run/hetero-vpu/vpu.sock";
  std::string profile_name = "myriad";
  std::string device_name = "CPU";
  app.add_option("--socket", socket, "Path of the socket")->capture_default_str();
  app.add_option("--profile", profile_name, "myriad, hddl or fpga")->capture_default_str();
  app.add_option("--device", device_name, "Device of this machine that computes")
      ->capture_default_str();
  std::vector<std::string> fault_texts;
  app.add_option("--fault", fault_texts,
                 "For tests of hosts: crash, hang, drop, corrupt, slow or throttle, and at which "
                 "request (crash:3); several times");
  int64_t link_us = 0;
  int64_t link_megabytes = 0;
  int64_t execution_us = 0;
  app.add_option("--link-us", link_us, "Simulated: microseconds on the link, each way")
      ->check(CLI::Range(int64_t{0}, int64_t{10000000}));
  app.add_option("--link-mbytes", link_megabytes, "Simulated: megabytes a second, each way")
      ->check(CLI::Range(int64_t{0}, int64_t{1000000}));
  app.add_option("--execution-us", execution_us, "Simulated: least microseconds of an execution")
      ->check(CLI::Range(int64_t{0}, int64_t{10000000}));
  CLI11_PARSE(app, argc, argv);

  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  const File signals(::signalfd(-1, &ending, SFD_CLOEXEC));
  ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
  // Simulated times are short: 50 us of slack would be seen.
  ::prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);

  const auto profile = find_profile(profile_name);
  if (!profile) {
    std::cerr << "hetero-vpud: " << profile.error().message() << "\n";
    return 2;
  }
  const auto planned = FaultPlan::parse(fault_texts);
  if (!planned) {
    std::cerr << "hetero-vpud: " << planned.error().message() << "\n";
    return 2;
  }
  FaultPlan faults(*planned);
  const std::shared_ptr<Core> kept = core();
  if (const auto exists = kept->get_property(device_name, "FULL_DEVICE_NAME"); !exists) {
    std::cerr << "hetero-vpud: " << exists.error().message() << "\n";
    return 2;
  }
  const auto listener = listen_at(socket);
  if (!listener) {
    std::cerr << "hetero-vpud: " << listener.error().message() << "\n";
    return 2;
  }
  std::cout << "hetero-vpud: " << profile->name << " at " << socket << std::endl;
  {
    UnitQueue units(profile->units);
    const auto load = [&](std::span<const std::byte> file) {
      return HostedModel::create(file, device_name);
    };
    const SimulatedSpeed speed{std::chrono::microseconds(link_us),
                               static_cast<uint64_t>(link_megabytes) * 1000000,
                               std::chrono::microseconds(execution_us)};
    DeviceSide device{*profile, load, units, faults, speed};
    serve(*listener, signals, device);
  }
  ::unlink(socket.c_str());
  return 0;
}

}  // namespace
}  // namespace het::vpu

int main(int argc, char** argv) {
  return het::vpu::run(argc, argv);
}
