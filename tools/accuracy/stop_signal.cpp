#include "tools/accuracy/stop_signal.h"

namespace het {
namespace {

constexpr int kStopSignals[2] = {SIGINT, SIGTERM};
volatile std::sig_atomic_t stop_is_asked = 0;

extern "C" void ask_to_stop(int) {
  stop_is_asked = 1;
}

}  // namespace

StopSignal::StopSignal(bool is_caught) : is_caught_(is_caught) {
  stop_is_asked = 0;
  if (!is_caught_) return;
  struct sigaction action = {};
  action.sa_handler = ask_to_stop;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  for (int i = 0; i < 2; ++i) sigaction(kStopSignals[i], &action, &before_[i]);
}

StopSignal::~StopSignal() {
  if (!is_caught_) return;
  for (int i = 0; i < 2; ++i) sigaction(kStopSignals[i], &before_[i], nullptr);
}

bool StopSignal::is_asked() const {
  return stop_is_asked != 0;
}

}  // namespace het
