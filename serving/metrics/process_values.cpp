#include "serving/metrics/process_values.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

#include "inference/base/version.h"

namespace het::metrics {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// Seconds since 1970 at which the machine was started; 0: unknown.
double boot_time_s() {
  std::ifstream stat("/proc/stat");
  std::string word;
  while (stat >> word) {
    double seconds = 0;
    if (word == "btime" && stat >> seconds) return seconds;
  }
  return 0;
}

/// Columns of /proc/self/stat behind the name, which may have anything in it.
struct ProcessStat {
  double user_ticks = 0;
  double system_ticks = 0;
  double threads = 0;
  double start_ticks = 0;
  double virtual_bytes = 0;
  double resident_pages = 0;
};

bool read_stat(ProcessStat& stat) {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  const size_t end_of_name = line.rfind(')');
  if (end_of_name == std::string::npos) return false;
  std::istringstream columns(line.substr(end_of_name + 1));
  std::string left_out;
  const auto skip = [&](int count) {
    for (int i = 0; i < count; ++i) columns >> left_out;
  };
  skip(11);  // state to cmajflt
  columns >> stat.user_ticks >> stat.system_ticks;
  skip(4);  // cutime to nice
  columns >> stat.threads;
  skip(1);  // itrealvalue
  columns >> stat.start_ticks >> stat.virtual_bytes >> stat.resident_pages;
  return !columns.fail();
}

double open_descriptors() {
  std::error_code failed;
  double count = 0;
  for (std::filesystem::directory_iterator each("/proc/self/fd", failed), end;
       !failed && each != end; each.increment(failed)) {
    ++count;
  }
  return count > 0 ? count - 1 : 0;  // one of them is this list
}

void write_target(MetricText& text) {
  std::string service = environment("OTEL_SERVICE_NAME");
  if (service.empty()) service = "gst-hetero";
  const std::string pid = std::to_string(::getpid());
  text.add("target",
           {{"service_name", service},
            {"service_version", version()},
            {"service_instance_id", environment("HETERO_INSTANCE")},
            {"process_pid", pid}},
           1);
}

}  // namespace

void write_process(MetricText& text) {
  write_target(text);
  ProcessStat stat;
  if (read_stat(stat)) {
    const auto ticks_per_s = static_cast<double>(::sysconf(_SC_CLK_TCK));
    text.add("process_cpu_seconds", {}, (stat.user_ticks + stat.system_ticks) / ticks_per_s);
    const double boot_s = boot_time_s();
    if (boot_s > 0)
      text.add("process_start_time_seconds", {}, boot_s + stat.start_ticks / ticks_per_s);
    text.add("process_resident_memory_bytes", {},
             stat.resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE)));
    text.add("process_virtual_memory_bytes", {}, stat.virtual_bytes);
    text.add("process_threads", {}, stat.threads);
  }
  text.add("process_open_fds", {}, open_descriptors());
  rlimit descriptors{};
  if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0)
    text.add("process_max_fds", {}, static_cast<double>(descriptors.rlim_cur));
  const std::string instance = environment("HETERO_INSTANCE");
  const std::string restarts = environment("HETERO_INSTANCE_RESTARTS");
  if (!restarts.empty()) {
    text.add("hetero_instance_restarts", {{"instance", instance}},
             std::strtod(restarts.c_str(), nullptr));
  }
}

}  // namespace het::metrics
