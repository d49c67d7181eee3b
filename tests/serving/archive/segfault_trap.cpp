// LD_PRELOADed: ends the process with status 255 at SIGUSR1, as GStreamer's handler of SIGSEGV
// does while a plugin is loaded.
#include <unistd.h>

#include <csignal>

namespace {

[[maybe_unused]] const auto previous = std::signal(SIGUSR1, [](int) { ::_exit(255); });

}  // namespace
