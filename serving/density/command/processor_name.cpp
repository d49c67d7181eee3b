#include "serving/density/command/processor_name.h"

#include <fmt/format.h>
#include <sched.h>

#include <fstream>

namespace het::density {

std::string processor_name() {
  std::string name = "an unknown processor";
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) {
      name = line.substr(colon + 2);
      break;
    }
  }
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  const int count = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : 0;
  if (count <= 0) return name;
  return fmt::format("{}, {} processor{}", name, count, count == 1 ? "" : "s");
}

}  // namespace het::density
