/// `hetero-density`, which `hetero density` runs: how many streams of a pipeline a machine carries.

#include <sys/prctl.h>

#include <cstdio>
#include <cstring>

#include "serving/density/command/density.h"
#include "serving/density/trial/trial.h"

namespace {

constexpr int kExitFailed = 1;
constexpr int kExitUsage = 2;

}  // namespace

int main(int argc, char** argv) {
  using namespace het::density;
  if (argc == 2 && std::strcmp(argv[1], "--trial") == 0) {
    ::prctl(PR_SET_NAME, "hetero-density");  // for ps: it was started as /proc/self/exe
    trial_main();
  }
  const ParsedDensity parsed = parse_density_options(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  const het::Result<int> exit_status = measure_density(parsed.options);
  if (exit_status) return *exit_status;
  const het::Status& failure = exit_status.error();
  std::fprintf(stderr, "hetero density: %s\n", failure.message().c_str());
  return failure.code() == het::StatusCode::InvalidArgument ? kExitUsage : kExitFailed;
}
