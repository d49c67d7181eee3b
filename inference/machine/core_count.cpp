#include "inference/machine/core_count.h"

#include <sched.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace het {
namespace {

size_t affinity_cores() {
  // Masks of large machines do not fit into cpu_set_t, so the set grows until the kernel accepts.
  for (int cpus = CPU_SETSIZE; cpus <= 1 << 20; cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const size_t size = CPU_ALLOC_SIZE(cpus);
    const bool ok = sched_getaffinity(0, size, set) == 0;
    const int count = ok ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (ok) return static_cast<size_t>(std::max(count, 1));
  }
  return 1;
}

/// "150000 100000" or "max 100000"; 0 for no limit.
double version2_quota(const std::string& path) {
  std::ifstream file(path);
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return 0;
  std::istringstream text(quota);
  double value = 0;
  return text >> value ? value / period : 0;
}

double version1_quota(const std::string& folder) {
  std::ifstream quota_file(folder + "/cpu.cfs_quota_us");
  std::ifstream period_file(folder + "/cpu.cfs_period_us");
  double quota = 0;
  double period = 0;
  if (!(quota_file >> quota) || !(period_file >> period)) return 0;
  return quota <= 0 || period <= 0 ? 0 : quota / period;
}

/// Applies a quota reader to a folder and all folders above it, down to the root.
template <class Quota>
void apply_quotas(const std::string& root, std::string path, const Quota& quota, size_t& cores) {
  while (true) {
    const double limit = quota(root + path);
    if (limit > 0) cores = std::min(cores, std::max<size_t>(1, static_cast<size_t>(limit)));
    const size_t slash = path.rfind('/');
    if (path.empty() || slash == std::string::npos) return;
    path.resize(slash);
  }
}

}  // namespace

size_t usable_cores(const CoreSources& sources) {
  size_t cores = sources.affinity_cores > 0 ? sources.affinity_cores : affinity_cores();
  // Lines are "id:controllers:path"; version 2 has id 0 and no controllers.
  std::ifstream file(sources.process_cgroup);
  std::string line;
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    std::string path = line.substr(second + 1);
    if (path == "/") path.clear();
    if (controllers.empty()) {
      apply_quotas(
          sources.cgroup_root, path,
          [](const std::string& folder) { return version2_quota(folder + "/cpu.max"); }, cores);
    } else if (("," + controllers + ",").find(",cpu,") != std::string::npos) {
      apply_quotas(sources.cgroup_root + "/cpu", path, version1_quota, cores);
    }
  }
  return cores;
}

}  // namespace het
