#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "inference/base/status.h"
#include "serving/archive/records/archive_plan.h"
#include "serving/archive/records/shard_failures.h"
#include "serving/archive/records/shard_note.h"
#include "serving/archive/worker/frame_times.h"
#include "serving/archive/worker/model_keeper.h"
#include "serving/archive/worker/range_gate.h"
#include "serving/archive/worker/shard_output.h"
#include "serving/launch/instance/pipeline_run.h"

namespace het::archive {

/// A shard on its way through the pipeline, in the default main context: played, stopped, its
/// output kept and noted. Thread-bound.
class ShardRun {
 public:
  struct Listener {
    /// The pipeline is in NULL; its output is being kept. Another may start.
    std::function<void(ShardRun&)> stopped;
    /// Done, by the note, or what went wrong. The owner lets go of the run. Comes after `stopped`,
    /// not after drop().
    std::function<void(ShardRun&, Result<ShardNote>)> over;
  };

  /// `plan` and `keeper` outlive it.
  ShardRun(const ArchiveFolder& folder, const ArchivePlan& plan, const PlannedShard& shard,
           size_t decoder_threads, ModelKeeper& keeper, Listener listener);
  ~ShardRun();
  ShardRun(const ShardRun&) = delete;
  ShardRun& operator=(const ShardRun&) = delete;

  /// Fails with InvalidArgument where the pipeline cannot be made.
  Status start();
  /// Ends it with this failure, whatever it does. `over` follows unless the pipeline does not stop.
  void fail(FailureKind kind, Status failure);
  /// Nobody wants it any more: `stopped` follows, and its files are gone with the run.
  void drop();

  const PlannedShard& shard() const { return shard_; }
  /// That it reads no more, though it has neither ended nor failed.
  bool has_stopped_reading() const;
  uint64_t frames() const { return run_ ? run_->frames() : 0; }
  FailureKind failure_kind() const { return failure_kind_; }
  bool is_stopping() const { return is_stopping_; }

 private:
  void stop();
  void on_stopped();
  void finish();
  Status outcome() const;

  const ArchiveFolder& folder_;
  const ArchivePlan& plan_;
  const PlannedShard& shard_;
  size_t decoder_threads_;
  ModelKeeper& keeper_;
  Listener listener_;
  ShardParts parts_;
  FrameTimes times_;
  std::shared_ptr<RangeGate> gate_;  ///< null: a whole video
  std::shared_ptr<serving::PipelineRun> run_;
  FrameTimes::Clock::time_point began_;
  Status failure_;
  FailureKind failure_kind_ = FailureKind::Error;
  bool is_stopping_ = false;
  bool is_dropped_ = false;
  std::thread finishing_;
  Result<ShardNote> note_ = ShardNote{};  ///< by the thread, then by the main context
  struct Callback;
  std::shared_ptr<Callback> callback_;  ///< what the thread calls; empty when this is gone
};

}  // namespace het::archive
