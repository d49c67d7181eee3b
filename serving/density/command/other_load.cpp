#include "serving/density/command/other_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "serving/launch/instance/process_time.h"

namespace het::density {
namespace {

/// user, nice and system of /proc/stat's first line.
double machine_busy_s() {
  std::ifstream file("/proc/stat");
  std::string name;
  double user = 0;
  double nice = 0;
  double system = 0;
  file >> name >> user >> nice >> system;
  return name == "cpu" ? (user + nice + system) / static_cast<double>(::sysconf(_SC_CLK_TCK)) : 0;
}

double children_s() {
  rusage usage = {};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

}  // namespace

OtherLoad::OtherLoad()
    : busy_s_(machine_busy_s()), children_s_(children_s()), begin_s_(serving::wall_time_s()) {}

double OtherLoad::cpus() const {
  const double elapsed_s = serving::wall_time_s() - begin_s_;
  if (elapsed_s <= 0) return 0;
  const double others_s = (machine_busy_s() - busy_s_) - (children_s() - children_s_);
  return std::max(0.0, others_s / elapsed_s);
}

}  // namespace het::density
