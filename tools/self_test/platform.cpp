#include "tools/self_test/platform.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "inference/base/version.h"
#include "inference/machine/core_count.h"
#include "inference/machine/topology.h"

namespace het::self_test {
namespace {

/// Those that our loops and oneDNN's have code for.
constexpr std::array<std::string_view, 19> kInstructionSets = {
    "sse4_1",   "avx",         "avx2",        "fma",         "f16c",     "avx_vnni", "avx512f",
    "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16",
    "asimd",    "asimddp",     "asimdhp",     "i8mm",        "bf16"};

std::string first_line(const std::filesystem::path& path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

/// The value behind "KEY:" or "KEY=" in a file of such lines.
std::string value_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t begin = line.find_first_not_of(" \t", key.size());
    if (begin == std::string::npos || (line[begin] != ':' && line[begin] != '=')) continue;
    const size_t value = line.find_first_not_of(" \t\"", begin + 1);
    if (value == std::string::npos) continue;
    line.erase(line.find_last_not_of(" \t\"\r") + 1);
    return line.substr(value);
  }
  return {};
}

std::string instruction_sets() {
  const std::string flags =
      value_of("/proc/cpuinfo", "flags") + " " + value_of("/proc/cpuinfo", "Features");
  std::istringstream words(flags);
  std::set<std::string, std::less<>> there;
  for (std::string word; words >> word;) there.insert(word);
  std::string text;
  for (const std::string_view name : kInstructionSets) {
    if (there.contains(name)) text += fmt::format("{}{}", text.empty() ? "" : " ", name);
  }
  return text;
}

std::string vendor_name(const std::string& id) {
  if (id == "0x8086") return "Intel";
  if (id == "0x1002") return "AMD";
  if (id == "0x10de") return "NVIDIA";
  return id;
}

/// Adapters that the kernel has a render node for, and NVIDIA's, whose driver may have none.
nlohmann::json adapters() {
  nlohmann::json found = nlohmann::json::array();
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator("/sys/class/drm", failed)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("renderD")) continue;
    const std::filesystem::path device = entry.path() / "device";
    const std::string node = "/dev/dri/" + name;
    const bool there = std::filesystem::exists(node, failed);
    const bool usable = there && ::access(node.c_str(), R_OK | W_OK) == 0;
    found.push_back({{"node", name},
                     {"vendor", vendor_name(first_line(device / "vendor"))},
                     {"id", first_line(device / "device")},
                     {"kernel_driver",
                      std::filesystem::read_symlink(device / "driver", failed).filename().string()},
                     {"access", usable  ? "yes"
                                : there ? "this user may not read and write the node"
                                        : "the node is not in /dev/dri (of this container)"}});
  }
  if (std::filesystem::exists("/proc/driver/nvidia/version", failed)) {
    found.push_back({{"node", "nvidia"},
                     {"vendor", "NVIDIA"},
                     {"id", ""},
                     {"kernel_driver", first_line("/proc/driver/nvidia/version")},
                     {"access", "yes"}});
  }
  return found;
}

/// Of a line "MemTotal:  1234 kB".
uint64_t memory_bytes(const char* key) {
  std::istringstream text(value_of("/proc/meminfo", key));
  uint64_t kibibytes = 0;
  text >> kibibytes;
  return kibibytes * 1024;
}

}  // namespace

nlohmann::json describe_platform() {
  nlohmann::json json;
  utsname names{};
  ::uname(&names);
  json["hetero"] = std::string(version());
  json["system"] = value_of("/etc/os-release", "PRETTY_NAME");
  json["kernel"] = fmt::format("{} {}", names.sysname, names.release);
  json["architecture"] = names.machine;
  const std::string model = value_of("/proc/cpuinfo", "model name");
  json["processor"] = model.empty() ? std::string(names.machine) : model;
  json["instruction_sets"] = instruction_sets();
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  json["processors_online"] = online;
  json["usable_threads"] = usable_cores();
  if (const Result<Topology> topology = read_topology()) {
    size_t threads = 0;
    size_t economical = 0;
    std::set<size_t> nodes;
    for (const PhysicalCore& core : topology->cores) {
      threads += core.processors.size();
      economical += core.kind == CoreKind::Efficiency ? 1 : 0;
      nodes.insert(core.numa_node);
    }
    json["cores"] = topology->cores.size();
    json["efficiency_cores"] = economical;
    json["numa_nodes"] = nodes.size();
    json["hardware_threads"] = threads;
    json["quota"] = topology->max_threads < threads
                        ? fmt::format("{} of {} threads", topology->max_threads, threads)
                        : std::string("none");
  } else {
    json["problem"] = topology.error().message();
  }
  json["memory_bytes"] = memory_bytes("MemTotal");
  json["memory_available_bytes"] = memory_bytes("MemAvailable");
  const std::string limit = first_line("/sys/fs/cgroup/memory.max");
  json["memory_quota"] = limit.empty() || limit == "max" ? "none" : limit + " bytes";
  json["adapters"] = adapters();
  return json;
}

}  // namespace het::self_test
