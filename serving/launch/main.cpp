/// `hetero-launch`, which `hetero launch` runs: pipelines as instances, each on its NUMA node.

#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "serving/launch/command/launch.h"
#include "serving/launch/command/launch_options.h"
#include "serving/launch/instance/instance.h"
#include "serving/launch/supervise/status_folder.h"
#include "serving/launch/supervise/status_text.h"

namespace het::serving {
namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

int report(const Status& status) {
  std::fprintf(stderr, "hetero launch: %s\n", status.message().c_str());
  return status.code() == StatusCode::InvalidArgument ? kExitUsage : kExitFailed;
}

int show_status(const LaunchOptions& options) {
  const auto launches = read_status(status_folders(), options.name.value_or(""));
  if (!launches) return report(launches.error());
  if (options.json) {
    std::fputs(status_json(*launches).c_str(), stdout);
  } else {
    std::fputs(status_text(*launches).c_str(), stdout);
  }
  if (launches->empty() && !options.json) std::puts("no launch runs");
  const bool all_well =
      !launches->empty() && std::ranges::all_of(*launches, &LaunchStatus::is_well);
  return all_well ? 0 : kExitFailed;
}

int launch_main(int argc, char** argv) {
  const ParsedOptions parsed = parse_options(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  if (parsed.options.status) return show_status(parsed.options);
  const Result<int> exit_status = launch(parsed.options);
  return exit_status ? *exit_status : report(exit_status.error());
}

}  // namespace
}  // namespace het::serving

int main(int argc, char** argv) {
  using het::serving::instance_main;
  if (argc == 4 && std::strcmp(argv[1], "--instance") == 0) {
    ::prctl(PR_SET_NAME, "hetero-launch");  // for ps: it was started as /proc/self/exe
    return instance_main(argv[2], argv[3]);
  }
  return het::serving::launch_main(argc, argv);
}
