#include <cstdio>

#include "devices/register_devices.h"
#include "tests/oracle/operators_page.h"

/// Prints docs/operators.md. Argument: the source tree (default: the current folder).
int main(int argc, char** argv) {
  const std::shared_ptr<het::Core> core = het::core();
  std::fputs(het::oracle::operators_page(*core, argc > 1 ? argv[1] : ".").c_str(), stdout);
  return 0;
}
