#pragma once

#include <glib.h>

#include <functional>
#include <vector>

namespace het::serving {

/// SIGINT, SIGTERM and SIGHUP (where it is not ignored, as nohup does) in the default main context.
/// A terminal and a launcher may both send one for one wish: what comes within half a second of
/// the first belongs to it.
class StopSignals {
 public:
  /// `first` is called at most once, `second` as often as more signals come.
  StopSignals(std::function<void()> first, std::function<void()> second);
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

 private:
  static gboolean take(gpointer user);

  std::function<void()> first_;
  std::function<void()> second_;
  gint64 first_at_ = 0;  ///< in GLib's monotonic time; 0: none came
  std::vector<guint> sources_;
};

}  // namespace het::serving
