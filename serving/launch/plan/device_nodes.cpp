#include "serving/launch/plan/device_nodes.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>

namespace het::serving {
namespace {

namespace fs = std::filesystem;

/// Bonds of VLANs of bridges ... and folders above a device end before.
constexpr int kMostSteps = 16;

std::optional<long> number_of(const fs::path& file) {
  std::ifstream stream(file);
  long number = 0;
  return stream >> number ? std::optional(number) : std::nullopt;
}

std::vector<fs::path> children(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed)) {
    found.push_back(entry->path());
  }
  std::ranges::sort(found);
  return found;
}

std::string resolved(const fs::path& path) {
  std::error_code failed;
  const fs::path real = fs::canonical(path, failed);
  return failed ? "" : real.string();
}

/// The node of a device's folder in /sys, or of the nearest one above it that knows: a camera's is
/// that of its USB controller.
std::optional<size_t> node_above(const fs::path& device) {
  fs::path folder = resolved(device);
  for (int step = 0; step < kMostSteps && folder.has_relative_path(); ++step) {
    if (const auto node = number_of(folder / "numa_node")) {
      return *node >= 0 ? std::optional(static_cast<size_t>(*node)) : std::nullopt;
    }
    folder = folder.parent_path();
  }
  return std::nullopt;
}

DeviceNodes as_list(std::optional<size_t> node) {
  return node ? DeviceNodes{*node} : DeviceNodes{};
}

/// Nodes of graphics devices with a render node, one each. Displays of management controllers have
/// none.
std::vector<std::optional<size_t>> graphics_nodes(const std::string& root) {
  std::vector<std::optional<size_t>> nodes;
  for (const fs::path& entry : children(root + "/sys/class/drm")) {
    const std::string name = entry.filename().string();
    std::ifstream file(entry / "device/class");
    std::string pci_class;
    const bool is_display = file >> pci_class && pci_class.starts_with("0x03");
    if (name.starts_with("renderD") && is_display) nodes.push_back(node_above(entry / "device"));
  }
  return nodes;
}

/// The name of every GPU in a device string.
std::vector<std::string_view> gpus_in(std::string_view device) {
  std::vector<std::string_view> gpus;
  while (!device.empty()) {
    const size_t end = std::min(device.find_first_of(":,()"), device.size());
    const std::string_view word = device.substr(0, end);
    if (word == "GPU" || word.starts_with("GPU.")) gpus.push_back(word);
    device.remove_prefix(std::min(end + 1, device.size()));
  }
  return gpus;
}

std::optional<in_addr> numeric_host(std::string_view address) {
  const size_t scheme = address.find("://");
  if (scheme != std::string_view::npos) address.remove_prefix(scheme + 3);
  address = address.substr(0, address.find_first_of("/?#"));
  const size_t user = address.rfind('@');
  if (user != std::string_view::npos) address.remove_prefix(user + 1);
  const std::string host(address.substr(0, address.find(':')));
  in_addr result{};
  return inet_pton(AF_INET, host.c_str(), &result) == 1 ? std::optional(result) : std::nullopt;
}

/// The interface of the best route to a host: the longest mask, then the lowest metric.
std::string interface_to(in_addr host, const std::string& root) {
  constexpr unsigned kUp = 1;
  constexpr unsigned kRejects = 0x200;
  std::ifstream file(root + "/proc/net/route");
  std::string line;
  std::getline(file, line);  // names of columns
  std::string best;
  std::tuple<uint32_t, long> best_rank;
  while (std::getline(file, line)) {
    std::istringstream columns(line);
    std::string name;
    uint32_t target = 0;
    uint32_t gateway = 0;
    unsigned flags = 0;
    long counts = 0;
    long metric = 0;
    uint32_t mask = 0;
    columns >> name >> std::hex >> target >> gateway >> flags >> std::dec >> counts >> counts >>
        metric >> std::hex >> mask;
    // The kernel writes addresses as numbers of this machine, in_addr has them so, too.
    const bool fits = columns && (flags & kUp) != 0 && (host.s_addr & mask) == target;
    if (!fits) continue;
    const std::tuple rank(ntohl(mask), -metric);
    if (best.empty() || rank > best_rank) {
      best_rank = rank;
      best = (flags & kRejects) != 0 ? "lo" : name;
    }
  }
  return best;
}

std::set<size_t> interface_nodes(const fs::path& interface, int steps) {
  std::error_code failed;
  if (fs::exists(interface / "device", failed)) {
    const auto node = node_above(interface / "device");
    return node ? std::set{*node} : std::set<size_t>{};
  }
  std::set<size_t> nodes;
  if (steps == 0) return nodes;
  for (const fs::path& entry : children(interface)) {
    if (!entry.filename().string().starts_with("lower_")) continue;
    nodes.merge(interface_nodes(entry, steps - 1));
  }
  return nodes;
}

std::optional<size_t> node_number(const std::string& name) {
  size_t number = 0;
  const char* end = name.data() + name.size();
  const bool is_node = name.starts_with("node") && std::from_chars(name.data() + 4, end, number) ==
                                                       std::from_chars_result{end, std::errc()};
  return is_node ? std::optional(number) : std::nullopt;
}

}  // namespace

DeviceNodes device_file_nodes(const std::string& path, const std::string& root) {
  if (!path.starts_with("/dev/")) return {};
  // Names below /dev/v4l and /dev/dri/by-path are links.
  const std::string real = resolved(root + path);
  const std::string name = fs::path(real.empty() ? path : real).filename().string();
  const char* folder = name.starts_with("video")                                 ? "video4linux"
                       : name.starts_with("renderD") || name.starts_with("card") ? "drm"
                                                                                 : nullptr;
  if (folder == nullptr) return {};
  return as_list(node_above(root + "/sys/class/" + folder + "/" + name + "/device"));
}

DeviceNodes gpu_nodes(std::string_view device, const std::string& root) {
  const std::vector<std::string_view> gpus = gpus_in(device);
  if (gpus.empty()) return {};
  const std::vector<std::optional<size_t>> nodes = graphics_nodes(root);
  if (nodes.empty() || std::ranges::any_of(nodes, [&](auto node) { return node != nodes[0]; })) {
    return {};
  }
  const bool is_first = std::ranges::all_of(
      gpus, [](std::string_view gpu) { return gpu == "GPU" || gpu == "GPU.0"; });
  return nodes.size() > 1 || is_first ? as_list(nodes[0]) : DeviceNodes{};
}

DeviceNodes address_nodes(std::string_view address, const std::string& root) {
  const std::optional<in_addr> host = numeric_host(address);
  if (!host) return {};
  const std::string interface = interface_to(*host, root);
  // 127.0.0.0/8 has no route of its own in that list.
  const bool is_own = (ntohl(host->s_addr) >> 24) == 127;
  if (is_own || interface.empty() || interface.find('/') != std::string::npos) return {};
  const std::set<size_t> nodes = interface_nodes(root + "/sys/class/net/" + interface, kMostSteps);
  return nodes.size() == 1 ? DeviceNodes{*nodes.begin()} : DeviceNodes{};
}

std::map<size_t, std::vector<size_t>> nodes_by_distance(const std::string& root) {
  const fs::path folder = root + "/sys/devices/system/node";
  std::vector<size_t> nodes;
  for (const fs::path& entry : children(folder)) {
    if (const auto node = node_number(entry.filename().string())) nodes.push_back(*node);
  }
  std::ranges::sort(nodes);
  std::map<size_t, std::vector<size_t>> result;
  for (const size_t node : nodes) {
    std::ifstream file(folder / ("node" + std::to_string(node)) / "distance");
    std::vector<std::pair<long, size_t>> others;
    size_t columns = 0;
    for (long distance = 0; file >> distance; ++columns) {
      if (columns < nodes.size() && nodes[columns] != node) {
        others.emplace_back(distance, nodes[columns]);
      }
    }
    // A file that does not fit the list of nodes says nothing.
    if (columns != nodes.size()) continue;
    std::ranges::sort(others);
    for (const auto& [_, other] : others) result[node].push_back(other);
  }
  return result;
}

}  // namespace het::serving
