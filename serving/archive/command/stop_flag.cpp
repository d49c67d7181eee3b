#include "serving/archive/command/stop_flag.h"

#include <array>
#include <csignal>

namespace het::archive {
namespace {

constexpr std::array kStopSignals = {SIGINT, SIGTERM, SIGHUP};
volatile std::sig_atomic_t stop_count = 0;
std::array<struct sigaction, kStopSignals.size()> actions_before = {};

void take_signal(int) {
  stop_count = stop_count + 1;
}

}  // namespace

StopFlag::StopFlag() {
  stop_count = 0;
  struct sigaction action = {};
  action.sa_handler = take_signal;
  for (size_t i = 0; i < kStopSignals.size(); ++i) {
    ::sigaction(kStopSignals[i], nullptr, &actions_before[i]);
    if (kStopSignals[i] == SIGHUP && actions_before[i].sa_handler == SIG_IGN) continue;
    ::sigaction(kStopSignals[i], &action, nullptr);
  }
}

StopFlag::~StopFlag() {
  for (size_t i = 0; i < kStopSignals.size(); ++i) {
    ::sigaction(kStopSignals[i], &actions_before[i], nullptr);
  }
}

bool StopFlag::is_set() {
  return stop_count != 0;
}

int StopFlag::count() {
  return stop_count;
}

}  // namespace het::archive
