/// `hetero-tune`, which `hetero tune` runs: the settings that make a pipeline fastest.

#include <sys/prctl.h>

#include <cstdio>
#include <cstring>

#include "serving/launch/instance/instance.h"
#include "serving/tune/record_streams.h"
#include "serving/tune/tune.h"
#include "serving/tune/tune_options.h"

namespace het::serving {
namespace {

int tune_main(int argc, char** argv) {
  const ParsedTuneOptions parsed = parse_tune_options(argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  const Status status = tune(parsed.options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "hetero tune: %s\n", status.message().c_str());
  return status.code() == StatusCode::InvalidArgument ? 2 : 1;
}

}  // namespace
}  // namespace het::serving

int main(int argc, char** argv) {
  using namespace het::serving;
  if (argc == 4 && std::strcmp(argv[1], "--instance") == 0) {
    ::prctl(PR_SET_NAME, "hetero-tune");  // for ps: it was started as /proc/self/exe
    return instance_main(argv[2], argv[3], record_streams);
  }
  return tune_main(argc, argv);
}
