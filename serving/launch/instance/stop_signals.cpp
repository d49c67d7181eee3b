#include "serving/launch/instance/stop_signals.h"

#include <glib-unix.h>
#include <signal.h>

#include <utility>

namespace het::serving {
namespace {

constexpr gint64 kSameWishUs = G_USEC_PER_SEC / 2;

bool is_ignored(int number) {
  struct sigaction action = {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

StopSignals::StopSignals(std::function<void()> first, std::function<void()> second)
    : first_(std::move(first)), second_(std::move(second)) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (number == SIGHUP && is_ignored(number)) continue;
    sources_.push_back(g_unix_signal_add(number, take, this));
  }
}

StopSignals::~StopSignals() {
  for (const guint source : sources_) g_source_remove(source);
}

gboolean StopSignals::take(gpointer user) {
  auto& self = *static_cast<StopSignals*>(user);
  const gint64 now = g_get_monotonic_time();
  if (self.first_at_ == 0) {
    self.first_at_ = now;
    self.first_();
  } else if (now - self.first_at_ > kSameWishUs) {
    self.second_();
  }
  return G_SOURCE_CONTINUE;
}

}  // namespace het::serving
