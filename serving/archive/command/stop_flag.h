#pragma once

namespace het::archive {

/// Ctrl-C, SIGTERM and SIGHUP (where it is not ignored, as nohup does), while one of these lives:
/// they set a flag instead of ending the process. One at a time.
class StopFlag {
 public:
  StopFlag();
  ~StopFlag();
  StopFlag(const StopFlag&) = delete;
  StopFlag& operator=(const StopFlag&) = delete;
  static bool is_set();
  static int count();
};

}  // namespace het::archive
