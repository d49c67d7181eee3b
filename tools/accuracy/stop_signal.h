#pragma once

#include <csignal>

namespace het {

/// While it lives the first SIGINT or SIGTERM only asks to stop, so that what is done can be kept;
/// the second ends the process. One at a time.
class StopSignal {
 public:
  /// `is_caught` false: signals end the process as ever.
  explicit StopSignal(bool is_caught);
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  bool is_asked() const;

 private:
  bool is_caught_;
  struct sigaction before_[2] = {};
};

}  // namespace het
