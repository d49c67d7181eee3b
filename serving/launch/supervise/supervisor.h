#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "inference/base/status.h"
#include "serving/launch/back_off.h"
#include "serving/launch/job.h"
#include "serving/launch/launch_settings.h"
#include "serving/launch/plan/launch_plan.h"
#include "serving/launch/supervise/instance_process.h"
#include "serving/launch/supervise/launch_status.h"
#include "serving/launch/supervise/service_notice.h"
#include "serving/launch/supervise/status_folder.h"

namespace het::serving {

/// An instance to be kept running.
struct InstanceOrder {
  InstancePlan plan;
  Job job;
  std::vector<std::string> written_files;  ///< by its pipelines; set aside before it starts anew
};

/// Runs instances until they have ended: passes their lines on, starts those that failed again
/// after a back-off, ends all on SIGINT, SIGTERM and SIGHUP, and says how they are in a file and to
/// the service manager. The process must have a single thread. Thread-bound.
class Supervisor {
 public:
  /// `status_file` may be null: nobody is told.
  Supervisor(const LaunchSettings& settings, std::vector<InstanceOrder> orders,
             std::unique_ptr<StatusFile> status_file);
  ~Supervisor();

  /// 0 when every instance has ended well, by itself or because it was told to; else 1.
  int run();

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { Starting, Playing, Waiting, Ended, Failed };
  struct Instance;

  void start(Instance& instance);
  void take_report(Instance& instance, const Report& report);
  void take_end(Instance& instance);
  void take_signals();
  void stop(int signal);
  void tick(Clock::time_point now);
  int milliseconds_to_wait(Clock::time_point now) const;
  bool is_done() const;
  LaunchStatus status() const;
  void tell_status();
  static const char* state_name(State state);

  LaunchSettings settings_;
  std::unique_ptr<StatusFile> status_file_;
  ServiceNotice notice_;
  std::vector<std::unique_ptr<Instance>> instances_;
  OwnedFd signals_;
  Clock::time_point begin_;
  Clock::time_point next_status_;
  size_t stop_signals_ = 0;
  Clock::time_point kill_at_;
  bool must_be_told_ = true;
};

}  // namespace het::serving
