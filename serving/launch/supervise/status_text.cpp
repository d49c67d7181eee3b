#include "serving/launch/supervise/status_text.h"

#include <fmt/format.h>

#include <fstream>

namespace het::serving {
namespace {

/// What this process has in memory, pages shared with others counted in part; 0 where the system
/// does not say.
double memory_mib(int pid) {
  std::ifstream file(fmt::format("/proc/{}/smaps_rollup", pid));
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with("Pss:")) return std::strtod(line.c_str() + 4, nullptr) / 1024;
  }
  return 0;
}

}  // namespace

std::string status_text(const std::vector<LaunchStatus>& launches) {
  std::string text;
  for (const LaunchStatus& launch : launches) {
    text +=
        fmt::format("{}: process {}, since {:.0f} s\n", launch.name, launch.pid, launch.running_s);
    text += fmt::format("  {:<9} {:<9} {:<5} {:<11} {:>8} {:>5} {:>10} {:>9} {:>8} {:>10}\n",
                        "instance", "state", "node", "processors", "process", "runs", "frames",
                        "frames/s", "cpu s", "memory MiB");
    for (const InstanceStatus& row : launch.instances) {
      text += fmt::format(
          "  {:<9} {:<9} {:<5} {:<11} {:>8} {:>5} {:>10} {:>9.1f} {:>8.1f} {:>10.0f}\n", row.name,
          row.state, row.numa_nodes, row.processors, row.pid, row.runs, row.frames,
          row.frames_per_s, row.cpu_s, row.pid > 0 ? memory_mib(row.pid) : 0);
      if (!row.last_end.empty()) text += fmt::format("    its last end: {}\n", row.last_end);
      for (const InstanceStatus::Stream& stream : row.streams) {
        text += fmt::format("    {}: {}, {} frames, run {}\n", stream.name, stream.state,
                            stream.frames, stream.runs);
      }
    }
  }
  return text;
}

}  // namespace het::serving
