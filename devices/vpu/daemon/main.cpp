// hetero-vpud: a VPU in a process of its own, at the other end of a link.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "devices/register_devices.h"
#include "devices/vpu/daemon/confinement.h"
#include "devices/vpu/daemon/hosted_model.h"
#include "devices/vpu/daemon/opencl_rounding.h"
#include "devices/vpu/daemon/profile.h"
#include "devices/vpu/daemon/server.h"
#include "inference/base/version.h"
#include "inference/ops/custom_operators.h"

namespace het::vpu {
namespace {

struct Options {
  std::vector<std::string> addresses;
  std::string profile = "myriad";
  std::string config;
  std::string device = "CPU";
  std::string key_file;
  std::vector<std::string> extensions;
  std::vector<std::string> faults;
  std::string user;
  uint64_t memory_limit_mb = 0;
  bool is_unconfined = false;
  bool has_group_access = false;
  bool has_profiles_link = false;
  int64_t link_us = 0;
  int64_t link_megabytes = 0;
  int64_t execution_us = 0;
};

void add_options(CLI::App& app, Options& options) {
  constexpr int64_t kLongest = 10000000;
  app.add_option("--socket,--listen", options.addresses,
                 "Where hosts connect: the path of a socket, or tcp://HOST:PORT with --key-file; "
                 "several times (default: /run/hetero-vpu/vpu.sock)");
  app.add_option("--profile", options.profile, "myriad, hddl or fpga")->capture_default_str();
  app.add_option("--config", options.config, "A profile of one's own: a JSON file")
      ->excludes("--profile");
  app.add_option("--device", options.device, "Device of this machine that computes")
      ->capture_default_str();
  app.add_option("--key-file", options.key_file,
                 "Secret of at least 32 bytes that hosts over TCP have, too (VPU_KEY_FILE)");
  app.add_option("--extension", options.extensions,
                 "A library of custom operators that hosts may use; several times");
  app.add_option("--user", options.user, "To become before the first host connects");
  app.add_flag("--group-access", options.has_group_access,
               "Members of the program's group may connect to its sockets, not its user alone");
  app.add_option("--memory-limit-mb", options.memory_limit_mb,
                 "Megabytes of addresses that the program may have; 0: no limit");
  app.add_flag("--no-confinement", options.is_unconfined,
               "Without the filter of system calls (always so with a --device other than CPU and "
               "REF)");
  app.add_option("--fault", options.faults,
                 "For tests of hosts: crash, hang, drop, corrupt, slow or throttle, and at which "
                 "request (crash:3); several times");
  auto* const link = app.add_flag("--profile-link", options.has_profiles_link,
                                  "Simulated: the link of the profile (myriad: USB 3)");
  app.add_option("--link-us", options.link_us, "Simulated: microseconds on the link, each way")
      ->excludes(link)
      ->check(CLI::Range(int64_t{0}, kLongest));
  app.add_option("--link-mbytes", options.link_megabytes, "Simulated: megabytes a second, each way")
      ->check(CLI::Range(int64_t{0}, int64_t{1000000}));
  app.add_option("--execution-us", options.execution_us,
                 "Simulated: least microseconds of an execution")
      ->check(CLI::Range(int64_t{0}, kLongest));
}

File ending_signals() {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return File(::signalfd(-1, &ending, SFD_CLOEXEC));
}

Result<Profile> profile_of(const Options& options) {
  HET_ASSIGN(Profile profile,
             options.config.empty() ? find_profile(options.profile) : read_profile(options.config));
  for (const std::string& path : options.extensions) HET_TRY(load_custom_operators(path));
  const std::vector<std::string> added = custom_operator_names();
  profile.operators.insert(profile.operators.end(), added.begin(), added.end());
  return profile;
}

/// As written, with no type chosen by the machine that it runs on.
Properties execution_properties(const std::string& device, const OpenClRounding* rounding) {
  Properties properties{
      {"EXECUTION_MODE_HINT", "ACCURACY"}, {"INFERENCE_PRECISION_HINT", "f32"}, {"CACHE_DIR", ""}};
  if (rounding != nullptr) properties["CONFIG_FILE"] = rounding->path();
  std::erase_if(properties, [&](const auto& p) { return !find_property(p.first, device); });
  return properties;
}

Status serve(const Options& options, const File& signals) {
  HET_ASSIGN(const Profile profile, profile_of(options));
  HET_ASSIGN(auto faults, FaultPlan::parse(options.faults));
  std::optional<LinkKey> key;
  if (!options.key_file.empty()) {
    HET_ASSIGN(key, LinkKey::from_file(options.key_file));
  }
  const std::shared_ptr<Core> kept = core();
  HET_TRY(kept->get_property(options.device, "FULL_DEVICE_NAME"));
  Server server(std::move(key), options.has_group_access);
  std::vector<std::string> addresses = options.addresses;
  if (addresses.empty()) addresses.emplace_back("/run/hetero-vpu/vpu.sock");
  for (const std::string& address : addresses) HET_TRY(server.listen(address));
  const bool is_host = options.device == "CPU" || options.device == "REF";
  HET_TRY(confine(
      {options.user, options.memory_limit_mb * kMegabyte, is_host && !options.is_unconfined}));
  for (const std::string& address : addresses) {
    std::cout << "hetero-vpud: " << profile.name << " at " << address << std::endl;
  }
  std::unique_ptr<OpenClRounding> rounding;
  if (find_property("CONFIG_FILE", options.device)) {
    HET_ASSIGN(rounding, OpenClRounding::create());
  }
  const HostedModel::Options hosted{
      options.device, execution_properties(options.device, rounding.get()), profile.memory_bytes};
  const auto load = [&](std::span<const std::byte> file) {
    return HostedModel::create(file, hosted);
  };
  const bool is_its_own = options.has_profiles_link;
  const int64_t link_us = is_its_own ? profile.link_us : options.link_us;
  const int64_t link_megabytes = is_its_own ? profile.link_mbytes : options.link_megabytes;
  const SimulatedSpeed speed{std::chrono::microseconds(link_us),
                             static_cast<uint64_t>(link_megabytes) * 1000000,
                             std::chrono::microseconds(options.execution_us)};
  DeviceSide device(profile, load, std::move(faults), speed);
  server.serve(signals, device);
  return {};
}

int run(int argc, char** argv) {
  CLI::App app(
      "A VPU in a process of its own: runs models for hosts that connect to it, rounded to float16 "
      "after each node");
  app.set_version_flag("--version", "hetero " + std::string(version()));
  Options options;
  add_options(app, options);
  CLI11_PARSE(app, argc, argv);
  const File signals = ending_signals();
  // Simulated times are short: 50 us of slack would be seen.
  ::prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
  const Status served = serve(options, signals);
  if (served.ok()) return 0;
  std::cerr << "hetero-vpud: " << served.message() << "\n";
  return 2;
}

}  // namespace
}  // namespace het::vpu

int main(int argc, char** argv) {
  return het::vpu::run(argc, argv);
}
